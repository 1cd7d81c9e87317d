package fft

// rader transforms one line of a prime number of samples by a cyclic convolution of
// n-1 samples, after Rader. The powers of a primitive root g number all samples but the
// first: with a[p] = x[gᵖ] and b[q] = exp(-2πi·g⁻q/n), X[g⁻q] = x[0] + (a∗b)[q].
type rader[F Float] struct {
	unit     *unit
	n        int
	from, to []int32 // 2·gᵖ-2 and 2·g⁻q-2, where numbers lie in memory after the first
	filter   []F     // the transform of b, divided by its length
	line     *line[F]
}

// newRader returns nil if a chirp takes less work.
func newRader[F Float](n int, u *unit) *line[F] {
	const most = 1 << 30
	if n > most || !smooth(n-1) || !prime(n) {
		return nil
	}
	t := &rader[F]{unit: u, n: n, line: newLine[F](n-1, u)}
	if t.line == nil {
		return nil
	}
	g := primitiveRoot(n)
	b := make([]float64, 2*(n-1))
	for p, at := 0, 1; p < n-1; p, at = p+1, at*g%n {
		t.from = append(t.from, int32(2*at-2))
	}
	for q := range n - 1 {
		at := t.from[(n-1-q)%(n-1)]
		t.to = append(t.to, at)
		re, im := root(int(at)/2+1, n)
		b[2*q], b[2*q+1] = re/float64(n-1), im/float64(n-1)
	}
	exact := newPlan[float64](n-1, false, unitOf[float64]())
	exact.Transform(b, b, 1, 0, 1, false, make([]float64, exact.Scratch()))
	for _, v := range b {
		t.filter = append(t.filter, F(v))
	}
	return &line[F]{n: n, rader: t, work: 2*t.line.work + 3*float64(n)}
}

// smooth reports whether n has no prime factor above 13.
func smooth(n int) bool {
	for _, p := range []int{2, 3, 5, 7, 11, 13} {
		for n%p == 0 {
			n /= p
		}
	}
	return n == 1
}

func prime(n int) bool {
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return n > 1
}

// primitiveRoot returns a number whose powers are all numbers but 0 modulo a prime n.
func primitiveRoot(n int) int {
	power := func(g, e int) int {
		r := 1
		for ; e > 0; e, g = e/2, g*g%n {
			if e%2 == 1 {
				r = r * g % n
			}
		}
		return r
	}
next:
	for g := 2; ; g++ {
		for _, p := range []int{2, 3, 5, 7, 11, 13} {
			if (n-1)%p == 0 && power(g, (n-1)/p) == 1 {
				continue next
			}
		}
		return g
	}
}

func (t *rader[F]) scratch() int { return 2*roundUp(2*t.n, 64) + t.line.scratch() }

func (t *rader[F]) run(dst, src, scratch []F, inverse bool) {
	m := 2 * (t.n - 1)
	room := roundUp(m, 64)
	a, b, scratch := scratch[:m], scratch[room:][:m], scratch[2*room:]
	sign := F(1)
	if inverse { // conjugates, before and after
		sign = -1
	}
	re, im := src[0], sign*src[1]
	copyCached(b, src[2:2*t.n]) // in the order of memory
	for p, at := range t.from {
		a[2*p], a[2*p+1] = b[at], sign*b[at+1]
	}
	t.line.run(b, a, scratch, false)
	sumRe, sumIm := re+b[0], im+b[1]
	productVector(t.unit, b, b, t.filter, false)
	b[0], b[1] = b[0]+re, b[1]+im // adds x[0] to each coefficient
	t.line.run(a, b, scratch, true)
	for q, at := range t.to {
		b[at], b[at+1] = a[2*q], sign*a[2*q+1]
	}
	dst[0], dst[1] = sumRe, sign*sumIm
	copyCached(dst[2:], b)
}

// copyCached copies in pieces: a copy of a mebibyte and more goes past the cache.
func copyCached[F Float](dst, src []F) {
	const piece = 1 << 12
	for at := 0; at < len(src); at += piece {
		copy(dst[at:], src[at:min(at+piece, len(src))])
	}
}
