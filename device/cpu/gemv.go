package cpu

import "github.com/golops/golops/device"

// gemvArgs are the parameters of Gemv. Lengths are in elements.
type gemvArgs[F float] struct {
	m, n        int
	a, x, y     []F
	alpha, beta pair[F]
	conj        bool
	slabs       []F // partial results, behind each other
	slabRows    int
}

// The shapes of the work of one thread.
const (
	gemvColumns = 2048 // columns at once of a transposed product, whose sums the nearest cache holds
	maxSlabs    = 8
)

// Gemv takes rows as they come: dot products of rows, or sums of scaled rows if
// A is transposed, in the element type. A transposed A is cut into slabs of rows,
// which lie together in memory, and partial sums are added in order; a very wide
// one is cut into columns. Which and how many depends on its size alone.
func (k *kernels[T, F]) Gemv(op device.Trans, m, n int, alpha T, a, x device.Mem[T], beta T, y device.Mem[T]) error {
	rows, cols := m, n // of op(A)
	if op == device.Transpose || op == device.ConjTrans {
		rows, cols = n, m
	}
	device.MustHold("Gemv", "A", a.N, m, n)
	device.MustHold("Gemv", "x", x.N, cols, 1)
	device.MustHold("Gemv", "y", y.N, rows, 1)
	if k.blasGemv(op, m, n, alpha, a, x, beta, y) {
		return nil
	}
	v := &k.mv
	*v = gemvArgs[F]{
		m: m, n: n, a: k.flat(a), x: k.flat(x)[:cols*k.components], y: k.flat(y)[:rows*k.components], alpha: k.split(alpha), beta: k.split(beta),
		conj: k.components == 2 && (op == device.ConjTrans || op == device.ConjNoTrans), slabs: v.slabs,
	}
	switch {
	case len(v.y) == 0:
	case len(v.x) == 0 || v.alpha == (pair[F]{}):
		k.scaleY()
	case op == device.NoTrans || op == device.ConjNoTrans:
		k.pool.run(m, max(4, bandGrain/n&^3), k.loops.gemvRows)
	case n >= 8*gemvColumns:
		k.scaleY()
		k.pool.run((n+gemvColumns-1)/gemvColumns, 1+bandGrain/(m*gemvColumns), k.loops.gemvColumns)
	default:
		k.gemvSlabs()
	}
	*v = gemvArgs[F]{slabs: v.slabs}
	return nil
}

// scaleY sets y = beta·y.
func (k *kernels[T, F]) scaleY() { k.scaled(k.mv.y, k.mv.beta) }

// scaled sets y = beta·y, without reading y if beta is 0.
func (k *kernels[T, F]) scaled(y []F, beta pair[F]) {
	switch {
	case beta == pair[F]{}:
		clear(y)
	case beta == pair[F]{re: 1}:
	case beta.im == 0:
		scale(y, beta.re, y)
	default:
		scalePairs(y, beta, y)
	}
}

// gemvRowsPart sets elements lo to hi of y = alpha·A·x + beta·y, four rows at
// once. The last few rows are done together with some before them, whose
// products are the same again.
func (k *kernels[T, F]) gemvRowsPart(lo, hi int) {
	v := &k.mv
	if k.components == 1 && v.n <= narrow {
		dotNarrow(v.y[lo:hi], v.alpha.re, v.a[lo*v.n:hi*v.n], v.x, v.beta.re)
		return
	}
	for i := lo; i < hi; i += 4 {
		first := max(0, min(i, hi-4))
		if first+4 > v.m { // there are fewer than four
			for ; i < hi; i++ {
				k.gemvRow(i)
			}
			return
		}
		rows := k.componentsOf(v.a, first*v.n, (first+4)*v.n)
		if k.components == 1 {
			s := dotRows(rows, v.x)
			for j := i; j < min(i+4, hi); j++ {
				v.setReal(j, s[j-first])
			}
		} else {
			s := dotPairRows(rows, v.x, v.conj)
			for j := i; j < min(i+4, hi); j++ {
				v.setPair(j, s[j-first])
			}
		}
	}
}

func (k *kernels[T, F]) gemvRow(i int) {
	v := &k.mv
	row := k.componentsOf(v.a, i*v.n, (i+1)*v.n)
	if k.components == 1 {
		v.setReal(i, dot1(row, v.x))
	} else {
		v.setPair(i, dotPairs1(row, v.x, v.conj))
	}
}

func (v *gemvArgs[F]) setReal(i int, s F) {
	s *= v.alpha.re
	if v.beta.re != 0 {
		s += v.beta.re * v.y[i]
	}
	v.y[i] = s
}

func (v *gemvArgs[F]) setPair(i int, s pair[F]) {
	y := &pairs(v.y)[i]
	s = times(v.alpha, s)
	if v.beta != (pair[F]{}) {
		t := times(v.beta, *y)
		s = pair[F]{s.re + t.re, s.im + t.im}
	}
	*y = s
}

// times returns a·b.
func times[F float](a, b pair[F]) pair[F] {
	return pair[F]{a.re*b.re - a.im*b.im, a.re*b.im + a.im*b.re}
}

// gemvColumnsPart adds to some columns of y += alpha·Aᵀ·x.
func (k *kernels[T, F]) gemvColumnsPart(lo, hi int) {
	for i := lo; i < hi; i++ {
		from, to := i*gemvColumns, min((i+1)*gemvColumns, k.mv.n)
		k.addRows(k.componentsOf(k.mv.y, from, to), from, 0, k.mv.m)
	}
}

// gemvSlabs is the transposed product of a matrix with few columns.
func (k *kernels[T, F]) gemvSlabs() {
	v := &k.mv
	slabs := min(maxSlabs, 1+v.m*v.n/(2*bandGrain))
	if slabs == 1 {
		k.scaleY()
		k.addSlab(v.y, 0, v.m)
		return
	}
	v.slabRows = (v.m + slabs - 1) / slabs
	if need := slabs * len(v.y); cap(v.slabs) < need {
		v.slabs = make([]F, need)
	}
	v.slabs = v.slabs[:slabs*len(v.y)]
	k.pool.run(slabs, 1, k.loops.gemvSlabs)
	k.scaleY()
	for i := range slabs {
		combine(v.y, 1, v.slabs[i*len(v.y):], 1, v.y)
	}
}

func (k *kernels[T, F]) gemvSlabsPart(lo, hi int) {
	v := &k.mv
	for i := lo; i < hi; i++ {
		slab := v.slabs[i*len(v.y):][:len(v.y)]
		clear(slab)
		k.addSlab(slab, min(i*v.slabRows, v.m), min((i+1)*v.slabRows, v.m))
	}
}

// addSlab adds alpha·x[i]·A[i,:] to y for i from lo to hi.
func (k *kernels[T, F]) addSlab(y []F, lo, hi int) {
	for from := 0; from < k.mv.n; from += gemvColumns {
		k.addRows(k.componentsOf(y, from, min(from+gemvColumns, k.mv.n)), from, lo, hi)
	}
}

// narrow is up to how many columns a matrix has sums that registers can hold.
const narrow = 4

// addNarrow adds alpha·x[i]·A[i,:] to y for all i, in 64 bits.
func addNarrow[F float](y []F, alpha F, x, a []F) {
	var s [narrow]float64
	switch len(y) {
	case 1:
		s[0] = dot(x, a)
	case 2:
		var s0, s1 float64
		for i, v := range x {
			two := a[2*i : 2*i+2 : 2*i+2]
			s0 += float64(v) * float64(two[0])
			s1 += float64(v) * float64(two[1])
		}
		s[0], s[1] = s0, s1
	case 3:
		var s0, s1, s2 float64
		for i, v := range x {
			row := a[3*i : 3*i+3 : 3*i+3]
			s0 += float64(v) * float64(row[0])
			s1 += float64(v) * float64(row[1])
			s2 += float64(v) * float64(row[2])
		}
		s[0], s[1], s[2] = s0, s1, s2
	default:
		var s0, s1, s2, s3 float64
		for i, v := range x {
			row := a[4*i : 4*i+4 : 4*i+4]
			s0 += float64(v) * float64(row[0])
			s1 += float64(v) * float64(row[1])
			s2 += float64(v) * float64(row[2])
			s3 += float64(v) * float64(row[3])
		}
		s = [narrow]float64{s0, s1, s2, s3}
	}
	for j := range y {
		y[j] += alpha * F(s[j])
	}
}

// addRows adds alpha·x[i]·A[i,from:] to y for i from lo to hi, or alpha·x[i]·conj
// of it: the conjugate of a sum is the sum of conjugates.
func (k *kernels[T, F]) addRows(y []F, from, lo, hi int) {
	v := &k.mv
	if k.components == 1 && v.n <= narrow {
		addNarrow(y, v.alpha.re, v.x[lo:hi], v.a[lo*v.n:hi*v.n])
		return
	}
	if v.conj {
		conjPairs(y, y)
	}
	for i := lo; i < hi; {
		if k.components == 1 {
			i += v.addReal(y, from, i, min(8, hi-i))
		} else {
			i += v.addPairs(y, from, i, min(4, hi-i))
		}
	}
	if v.conj {
		conjPairs(y, y)
	}
}

// addReal adds up to eight rows from row i on, and returns how many.
func (v *gemvArgs[F]) addReal(y []F, from, i, rows int) int {
	var c [8]F
	for j := range c[:rows] {
		c[j] = v.alpha.re * v.x[i+j]
	}
	a, done := v.a[i*v.n+from:], 0
	if rows == 8 {
		done = addRowsVector(y, a, &c, v.n)
	}
	y = y[done:]
	for j := 0; j < rows && len(y) > 0; j += 4 {
		var few [4]tap[F]
		n := min(4, rows-j)
		for r := range n {
			few[r] = tap[F]{a[(j+r)*v.n+done:][:len(y)], pair[F]{re: c[j+r]}}
		}
		applyTaps(y, few[:n], true)
	}
	return rows
}

// addPairs is addReal for up to four rows of complex elements.
func (v *gemvArgs[F]) addPairs(y []F, from, i, rows int) int {
	var c [8]F
	for j := range rows {
		f := times(v.alpha, pairs(v.x)[i+j])
		if v.conj {
			f.im = -f.im
		}
		c[2*j], c[2*j+1] = f.re, f.im
	}
	a, done := v.a[2*(i*v.n+from):], 0
	if rows == 4 {
		done = addPairRowsVector(y, a, &c, 2*v.n)
	}
	y = y[done:]
	if len(y) > 0 {
		var few [4]tap[F]
		for r := range rows {
			few[r] = tap[F]{a[2*r*v.n+done:][:len(y)], pair[F]{c[2*r], c[2*r+1]}}
		}
		applyTapPairs(y, few[:rows], true)
	}
	return rows
}
