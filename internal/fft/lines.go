package fft

// lines are those of one tile. A block has rows × inner elements, and samples of a line
// are inner elements apart.
type lines[F Float] struct {
	count, width int // of this tile, and of any
	inner, first int
}

// lines returns the first tile of lines lo to hi.
func (p *Plan[F]) lines(lo, hi, inner int) lines[F] {
	return lines[F]{count: min(hi-lo, p.width), width: p.width, inner: inner, first: lo}
}

// start returns the first element of a line in blocks of so many rows.
func (t *lines[F]) start(line, rows int) int {
	line += t.first
	return line/t.inner*t.inner*rows + line%t.inner
}

// load copies n complex samples of each line from blocks of rows into a tile. Real
// parts go to re of each sample, imaginary ones to im. Lines that the tile has room for
// are zero.
func (t *lines[F]) load(a, src []F, n, rows, re, im int) {
	e, by := 2*t.width, 2*t.inner
	for l := range t.width {
		if l >= t.count {
			for i := range n {
				a[i*e+l], a[i*e+l+t.width] = 0, 0
			}
			continue
		}
		from := src[2*t.start(l, rows):]
		for i, at, to := 0, 0, l; i < n; i, at, to = i+1, at+by, to+e {
			a[to+re], a[to+im] = from[at], from[at+1]
		}
	}
}

// store copies n samples of each line from a tile to blocks of rows.
func (t *lines[F]) store(dst, a []F, n, rows, re, im int) {
	e, by := 2*t.width, 2*t.inner
	for l := range t.count {
		to := dst[2*t.start(l, rows):]
		for i, at, from := 0, 0, l; i < n; i, at, from = i+1, at+by, from+e {
			to[at], to[at+1] = a[from+re], a[from+im]
		}
	}
}

// loadReal copies every step-th sample of lines of n real samples, from the given one
// on, into the real or the imaginary parts of a tile: those of odd samples.
func (t *lines[F]) loadReal(a, src []F, n, step, first int) {
	e := 2 * t.width
	a = a[first*t.width:]
	for l := range t.width {
		if l >= t.count {
			for i := range n / step {
				a[i*e+l] = 0
			}
			continue
		}
		from := src[t.start(l, n):]
		for i, to := first, l; i < n; i, to = i+step, to+e {
			a[to] = from[i*t.inner]
		}
	}
}

// storeReal is the way back of loadReal, from the part of a that it is given.
func (t *lines[F]) storeReal(dst, a []F, n, step, first int) {
	e := 2 * t.width
	for l := range t.count {
		to := dst[t.start(l, n):]
		for i, from := first, l; i < n; i, from = i+step, from+e {
			to[i*t.inner] = a[from]
		}
	}
}
