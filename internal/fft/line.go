package fft

import "slices"

// line transforms one line with its own samples side by side in the registers. A line of
// n = rows·cols samples is a matrix, row after row. Its columns are transformed, several
// in a tile, and multiplied by exp(-2πi·jk/n) in column j and row k. Then its rows are
// transformed. After that coefficient k + rows·l is in row k, column l.
type line[F Float] struct {
	n, rows, cols int
	first, second *tile[F]      // of rows samples, of cols samples
	twiddle       []F           // of each tile of columns, like its samples
	rader         *rader[F]     // for a prime number of samples, and nothing else
	chirp         *lineChirp[F] // for a large prime factor, and nothing else
}

// newLine returns nil if no two factors of n fill a good part of the registers.
func newLine[F Float](n int, u *unit) *line[F] {
	if u == nil || n < 16 {
		return nil
	}
	if p := factor(n, true); slices.Max(p) > maxRadix {
		if t := newRader[F](n, u); t != nil {
			return &line[F]{n: n, rader: t}
		}
		return newLineChirp[F](n, u)
	}
	rows := balanced(n)
	if u.lanes*size[F]() == 64 && rows <= u.lanes/2 {
		u = unitAt[F](1)
	}
	if rows < 2 {
		return nil
	}
	t := &line[F]{n: n, rows: rows, cols: n / rows, first: newTile[F](rows, u), second: newTile[F](n/rows, u)}
	w := u.lanes
	t.twiddle = make([]F, 2*roundUp(rows, w)*roundUp(t.cols, w))
	for j := range t.cols {
		tile := t.twiddle[j/w*w*2*roundUp(rows, w):]
		for k := range rows {
			re, im := root(j*k, n)
			tile[2*k*w+j%w], tile[(2*k+1)*w+j%w] = F(re), F(im)
		}
	}
	return t
}

// roundUp returns the multiple of w that is n or next.
func roundUp(n, w int) int { return (n + w - 1) / w * w }

// balanced returns the largest divisor of n that is not above its root.
func balanced(n int) int {
	best := 1
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			best = d
		}
	}
	return best
}

// scratch returns the memory that run needs.
func (t *line[F]) scratch() int {
	switch {
	case t.rader != nil:
		return t.rader.scratch()
	case t.chirp != nil:
		return t.chirp.scratch()
	}
	w := t.first.width
	return 2*roundUp(t.rows, w)*roundUp(t.cols, w) + max(t.first.scratch(), t.second.scratch())
}

// run transforms n complex numbers of src to dst, which may be src.
func (t *line[F]) run(dst, src, scratch []F, inverse bool) {
	switch {
	case t.rader != nil:
		t.rader.run(dst, src, scratch, inverse)
		return
	case t.chirp != nil:
		t.chirp.run(dst, src, scratch, inverse)
		return
	}
	w := t.first.width
	re, im := 0, w
	if inverse {
		re, im = im, re
	}
	group := 2 * roundUp(t.cols, w) * w // of the matrix, w rows as a tile
	size := group * roundUp(t.rows, w) / w
	matrix, scratch := scratch[:size], scratch[size:]
	for j := 0; j < t.cols; j += w {
		l := lines[F]{unit: t.first.unit, count: min(w, t.cols-j), width: w, inner: t.cols, first: j}
		a, b, room := t.first.buffers(scratch)
		l.load(a, src, t.rows, t.rows, re, im)
		a, _ = t.first.run(a, b, room)
		turnVector(t.first.unit, matrix[2*j*w:], a, t.twiddle[2*j*roundUp(t.rows, w):], roundUp(t.rows, w), group)
	}
	for k := 0; k < t.rows; k += w {
		l := lines[F]{unit: t.second.unit, count: min(w, t.rows-k), width: w, inner: t.rows, first: k}
		_, b, room := t.second.buffers(scratch)
		a, _ := t.second.run(matrix[k/w*group:][:group], b, room)
		l.store(dst, a, t.cols, t.cols, re, im)
	}
}

// lineChirp is chirp for one line.
type lineChirp[F Float] struct {
	n         int
	c, filter []F
	line      *line[F]
}

func newLineChirp[F Float](n int, u *unit) *line[F] {
	m := goodLength(2*n - 1)
	inner := newLine[F](m, u)
	if inner == nil {
		return nil
	}
	t := &lineChirp[F]{n: n, line: inner}
	t.c, t.filter = chirpTables[F](n, m)
	return &line[F]{n: n, chirp: t}
}

func (t *lineChirp[F]) scratch() int { return 4*t.line.n + t.line.scratch() }

func (t *lineChirp[F]) run(dst, src, scratch []F, inverse bool) {
	m := 2 * t.line.n
	a, b, scratch := scratch[:m], scratch[m:2*m], scratch[2*m:]
	sign := F(1)
	if inverse {
		sign = -1
	}
	for i := 0; i < 2*t.n; i += 2 { // conjugates for the inverse
		r, v, c, d := src[i], sign*src[i+1], t.c[i], t.c[i+1]
		a[i], a[i+1] = r*c-v*d, r*d+v*c
	}
	clear(a[2*t.n:])
	t.line.run(b, a, scratch, false)
	for i := 0; i < m; i += 2 {
		r, v, c, d := b[i], b[i+1], t.filter[i], t.filter[i+1]
		b[i], b[i+1] = r*c-v*d, r*d+v*c
	}
	t.line.run(a, b, scratch, true)
	for i := 0; i < 2*t.n; i += 2 {
		r, v, c, d := a[i], a[i+1], t.c[i], t.c[i+1]
		dst[i], dst[i+1] = r*c-v*d, sign*(r*d+v*c)
	}
}
