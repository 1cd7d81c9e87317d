package fft

// lines are those of one tile. A block has rows × inner elements, and samples of a line
// are inner elements apart.
type lines[F Float] struct {
	unit         *unit
	count, width int // of this tile, and of any
	inner, first int
}

// lines returns the first tile of lines lo to hi.
func (p *Plan[F]) lines(lo, hi, inner int) lines[F] {
	return lines[F]{unit: p.tile.unit, count: min(hi-lo, p.width), width: p.width, inner: inner, first: lo}
}

// start returns the first element of a line in blocks of so many rows.
func (t *lines[F]) start(line, rows int) int {
	line += t.first
	switch { // divisions take long beside a short line
	case line < t.inner:
		return line
	case t.inner == 1:
		return line * rows
	}
	return line/t.inner*t.inner*rows + line%t.inner
}

// full reports whether vectors can copy the tile: its lines lie one behind the other, or
// side by side.
func (t *lines[F]) full() bool {
	return t.rows() || t.unit != nil && t.count == t.width && t.inner == 1
}

// rows reports whether vectors can read and write the lines in rows: they lie side by side.
func (t *lines[F]) rows() bool {
	return t.unit != nil && t.count == t.width && t.inner > 1 && (t.first+t.count <= t.inner || t.first%t.inner+t.count <= t.inner)
}

// load copies n complex samples of each line from blocks of rows into a tile. Real
// parts go to re of each sample, imaginary ones to im. Lines that the tile has room for
// are zero.
func (t *lines[F]) load(a, src []F, n, rows, re, im int) {
	done, e, by := 0, 2*t.width, 2*t.inner
	if t.full() {
		src := src[2*t.start(0, rows):]
		if t.inner > 1 {
			_ = src[(n-1)*by+e-1]
			t.unit.loadRows(ptr(a[re:]), ptr(a[im:]), ptr(src), by*size[F](), n)
			return
		}
		done = n &^ (t.width/2 - 1)
		if _ = src[2*(t.width-1)*rows+2*n-1]; done > 0 {
			t.unit.loadLines(ptr(a[re:]), ptr(a[im:]), e*size[F](), ptr(src), 2*rows*size[F](), 2*done/t.width)
		}
	}
	for l := range t.width {
		if l >= t.count {
			for i := range n {
				a[i*e+l], a[i*e+l+t.width] = 0, 0
			}
			continue
		}
		from := src[2*t.start(l, rows):]
		for i, at, to := done, done*by, done*e+l; i < n; i, at, to = i+1, at+by, to+e {
			a[to+re], a[to+im] = from[at], from[at+1]
		}
	}
}

// store copies n samples of each line from a tile to blocks of rows.
func (t *lines[F]) store(dst, a []F, n, rows, re, im int) {
	done, e, by := 0, 2*t.width, 2*t.inner
	if t.full() {
		dst := dst[2*t.start(0, rows):]
		if t.inner > 1 {
			_ = dst[(n-1)*by+e-1]
			t.unit.storeRows(ptr(a[re:]), ptr(a[im:]), ptr(dst), by*size[F](), n)
			return
		}
		done = n &^ (t.width/2 - 1)
		if _ = dst[2*(t.width-1)*rows+2*n-1]; done > 0 {
			t.unit.storeLines(ptr(a[re:]), ptr(a[im:]), e*size[F](), ptr(dst), 2*rows*size[F](), 2*done/t.width)
		}
	}
	for l := range t.count {
		to := dst[2*t.start(l, rows):]
		for i, at, from := done, done*by, done*e+l; i < n; i, at, from = i+1, at+by, from+e {
			to[at], to[at+1] = a[from+re], a[from+im]
		}
	}
}

// loadReal copies n real samples of each line into the real parts of as many samples
// or, if paired, in turn into the real and the imaginary parts of half as many.
func (t *lines[F]) loadReal(a, src []F, n int, paired bool) {
	if paired && t.inner == 1 {
		t.load(a, src, n/2, n/2, 0, t.width)
		return
	}
	e, done := 2*t.width, 0
	if paired {
		e = t.width
	}
	if t.full() {
		src := src[t.start(0, n):]
		if t.inner > 1 {
			for i := range n {
				copy(a[i*e:][:t.width], src[i*t.inner:])
			}
			return
		}
		done = n &^ (t.width - 1)
		if _ = src[t.width*n-1]; done > 0 {
			t.unit.loadLines(ptr(a), ptr(a[e:]), 2*e*size[F](), ptr(src), n*size[F](), done/t.width)
		}
	}
	for l := range t.width {
		if l >= t.count {
			for i := range n {
				a[i*e+l] = 0
			}
			continue
		}
		from := src[t.start(l, n):]
		for i := done; i < n; i++ {
			a[i*e+l] = from[i*t.inner]
		}
	}
}

// storeReal is the way back of loadReal. Real and imaginary parts have changed places.
func (t *lines[F]) storeReal(dst, a []F, n int, paired bool) {
	if paired && t.inner == 1 {
		t.store(dst, a, n/2, n/2, t.width, 0)
		return
	}
	at := func(i int) int { return 2*i*t.width + t.width }
	if paired {
		at = func(i int) int { return (i ^ 1) * t.width }
	}
	done := 0
	if t.full() {
		dst := dst[t.start(0, n):]
		if t.inner > 1 {
			for i := range n {
				copy(dst[i*t.inner:][:t.width], a[at(i):])
			}
			return
		}
		done = n &^ (t.width - 1)
		if _ = dst[t.width*n-1]; done > 0 {
			t.unit.storeLines(ptr(a[t.width:]), ptr(a[3*t.width:]), 4*t.width*size[F](), ptr(dst), n*size[F](), done/t.width)
		}
	}
	for l := range t.count {
		to := dst[t.start(l, n):]
		for i := done; i < n; i++ {
			to[i*t.inner] = a[at(i)+l]
		}
	}
}
