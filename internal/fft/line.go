package fft

import (
	"slices"
	"unsafe"
)

// line transforms one line with its own samples side by side in the registers. A line of
// n = rows·cols samples is a matrix, row after row. Its columns are transformed, several
// in a tile, and multiplied by exp(-2πi·jk/n) in column j and row k. Then its rows are
// transformed. After that coefficient k + rows·l is in row k, column l.
type line[F Float] struct {
	n, rows, cols int
	work          float64       // the time that it takes, for comparisons
	first, second *tile[F]      // of rows samples, of cols samples
	column        columnFunc    // first and twiddle at once, or nil
	twiddle       []F           // of each tile of columns, like its samples
	rader         *rader[F]     // for a prime number of samples, and nothing else
	chirp         *lineChirp[F] // for a large prime factor, and nothing else
}

// newLine returns nil if no two factors of n fill a good part of the registers.
func newLine[F Float](n int, u *unit) (t *line[F]) {
	if u == nil || n < 16 {
		return nil
	}
	rows, least := 0, 0.0
	best := u
	large := slices.Max(factor(n, u))
	for _, u := range unitsUpTo[F](u) {
		for d := 2; d <= n/2 && large <= maxRadix; d++ {
			if n%d != 0 {
				continue
			}
			if w := splitWork[F](d, n/d, u); rows == 0 || w < least {
				best, rows, least = u, d, w
			}
		}
	}
	if large > chirpRadix {
		for _, t := range []*line[F]{newRader[F](n, u), newLineChirp[F](n, u)} {
			if t != nil && (rows == 0 || t.work < least) {
				return t
			}
		}
	}
	if rows == 0 {
		return nil
	}
	t = splitLine[F](n, rows, best)
	t.work = least
	return t
}

// splitLine returns the line of n samples in so many rows.
func splitLine[F Float](n, rows int, u *unit) *line[F] {
	t := &line[F]{n: n, rows: rows, cols: n / rows, first: newTile[F](rows, u), second: newTile[F](n/rows, u)}
	if rows <= maxVectorRadix {
		t.column = u.column[rows]
	}
	w := u.lanes
	up := roundUp(rows, w)
	t.twiddle = make([]F, 2*up*roundUp(t.cols, w))
	for g := range (t.cols + w - 1) / w {
		tile := t.twiddle[2*g*w*up:]
		for l := range min(w, t.cols) {
			for k := range rows {
				re, im := root((groupStart(g, w, t.cols)+l)*k, n)
				tile[2*k*w+l], tile[(2*k+1)*w+l] = F(re), F(im)
			}
		}
	}
	return t
}

// splitWork is the time that a line of rows·cols samples takes, for comparisons.
func splitWork[F Float](rows, cols int, u *unit) float64 {
	const cache = 32 << 10
	half := func(n, lines int) float64 {
		w := (1 + work(factor(n, u))) * float64(n*roundUp(lines, u.lanes)) / float64(u.lanes)
		if lines < u.lanes {
			w *= 4 // copies one by one
		}
		if 4*n*u.lanes*size[F]() > cache {
			w *= 1.5
		}
		return w
	}
	first := half(rows, cols)
	if rows <= maxVectorRadix && u.column[rows] != nil {
		first /= 2.5
	}
	return first + half(cols, rows)
}

// groupStart returns the first of n lines, or samples, in a group of w. The last group overlaps
// the one before, so that all are full.
func groupStart(g, w, n int) int { return min(g*w, max(n-w, 0)) }

// roundUp returns the multiple of w that is n or next.
func roundUp(n, w int) int { return (n + w - 1) / w * w }

// scratch returns the memory that run needs.
func (t *line[F]) scratch() int {
	switch {
	case t.rader != nil:
		return t.rader.scratch()
	case t.chirp != nil:
		return t.chirp.scratch()
	}
	w := t.first.width
	return t.group()*roundUp(t.rows, w)/w + max(t.first.scratch(), t.second.scratch())
}

// group is the length of the matrix for one group of rows.
func (t *line[F]) group() int {
	w := t.first.width
	return 2 * max(t.cols, w) * w
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
	u, w, group := t.first.unit, t.first.width, t.group()
	up := roundUp(t.rows, w)
	matrix, scratch := scratch[:group*up/w], scratch[group*up/w:]
	for g := range (t.cols + w - 1) / w {
		j := groupStart(g, w, t.cols)
		to, factors := matrix[2*j*w:], t.twiddle[2*g*w*up:][:2*w*up]
		if t.column != nil && t.cols >= w {
			_, _ = src[2*((t.rows-1)*t.cols+j+w)-1], to[(t.rows/w-1)*group+2*w*w-1]
			t.column(ptr(to), ptr(src[2*j:]), ptr(factors), 2*t.cols*size[F](), group*size[F](), unsafe.Pointer(&u.apart[way(inverse)]))
			continue
		}
		l := lines[F]{unit: u, count: min(w, t.cols), width: w, inner: t.cols, first: j}
		a, b, room := t.first.buffers(scratch)
		a, b, done := t.first.load(&l, src, inverse, a, b)
		a, _ = t.first.run(a, b, room, done)
		if t.rows < w {
			turnVector(u, to, a, factors, w, group)
			continue
		}
		turnVector(u, to, a, factors, t.rows, group)
		if last := t.rows - w; t.rows%w != 0 {
			turnVector(u, to[t.rows/w*group:], a[2*last*w:], factors[2*last*w:], w, group)
		}
	}
	for g := range up / w {
		l := lines[F]{unit: u, count: min(w, t.rows), width: w, inner: t.rows, first: groupStart(g, w, t.rows)}
		_, b, room := t.second.buffers(scratch)
		t.second.store(&l, dst, inverse, matrix[g*group:][:group], b, room, 0)
	}
}

// lineChirp is chirp for one line.
type lineChirp[F Float] struct {
	unit      *unit
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
	t := &lineChirp[F]{unit: u, n: n, line: inner}
	t.c, t.filter = chirpTables[F](n, m)
	return &line[F]{n: n, chirp: t, work: 2*inner.work + float64(4*m)/float64(u.lanes)}
}

func (t *lineChirp[F]) scratch() int { return 2*roundUp(2*t.line.n, 64) + t.line.scratch() }

func (t *lineChirp[F]) run(dst, src, scratch []F, inverse bool) {
	m := roundUp(2*t.line.n, 64)
	a, b, scratch := scratch[:2*t.line.n], scratch[m:][:2*t.line.n], scratch[2*m:]
	// The inverse takes the conjugates of all factors.
	productVector(t.unit, a, src[:2*t.n], t.c, inverse)
	clear(a[2*t.n:])
	t.line.run(b, a, scratch, inverse)
	productVector(t.unit, b, b, t.filter, inverse)
	t.line.run(a, b, scratch, !inverse)
	productVector(t.unit, dst, a[:2*t.n], t.c, inverse)
}
