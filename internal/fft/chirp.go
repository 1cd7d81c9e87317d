package fft

import "slices"

// chirp transforms lines of n samples by a convolution of a better length, after
// Bluestein: with c[k] = exp(-πi·k²/n), X[k] = c[k]·Σⱼ c[j]·x[j]·conj(c[k-j]).
type chirp[F Float] struct {
	n      int
	c      []F // c[k]
	filter []F // the transform of conj(c), divided by its length
	tile   *tile[F]
}

func newChirp[F Float](n int, u *unit) *chirp[F] {
	c := &chirp[F]{n: n, tile: newTile[F](goodLength(2*n-1), u)}
	c.c, c.filter = chirpTables[F](n, c.tile.n)
	return c
}

// chirpTables returns c[k] and the filter for convolutions of m samples.
func chirpTables[F Float](n, m int) (c, filter []F) {
	exact := newPlan[float64](m, false, unitOf[float64]())
	x := make([]float64, 2*m)
	for k, k2 := 0, 0; k < n; k++ {
		re, im := root(k2, 2*n)
		c = append(c, F(re), F(im))
		for _, at := range []int{k, (m - k) % m} {
			x[2*at], x[2*at+1] = re/float64(m), -im/float64(m)
		}
		k2 = (k2 + 2*k + 1) % (2 * n) // without squares that are too large
	}
	exact.Transform(x, x, 1, 0, 1, false, make([]float64, exact.Scratch()))
	for _, v := range x {
		filter = append(filter, F(v))
	}
	return c, filter
}

// goodLength returns the length from n on that takes the least work.
func goodLength(n int) int {
	best, least := 0, 0.0
	for m := n; m <= n+n/4+2; m++ {
		r := factor(m, unitOf[float64]())
		if slices.Max(r) > 8 && slices.Max(r) != 16 {
			continue
		}
		if w := work(r) * float64(m); best == 0 || w < least {
			best, least = m, w
		}
	}
	return best
}

// work is the time of passes over one sample, measured in that of radix 2.
func work(radices []int) (all float64) {
	for _, r := range radices {
		if w, known := (map[int]float64{2: 1, 3: 1.3, 4: 1.3, 5: 2, 7: 3, 8: 1.8, 11: 4, 13: 5, 16: 2.4})[r]; known {
			all += w
			continue
		}
		all += 1 + float64(r)/4.5
	}
	return all
}

// run transforms the lines in a. It returns them in a or b, and
// the other.
func (c *chirp[F]) run(a, b, room []F) (x, y []F) {
	w := c.tile.width
	c.tile.mulRows(a, c.c, c.n, 0, 0)
	clear(a[2*c.n*w : 2*c.tile.n*w])
	a, b = c.tile.run(a, b, room, 0)
	c.tile.mulRows(a, c.filter, c.tile.n, 0, w) // for the way back parts change places,
	a, b = c.tile.run(a, b, room, 0)
	c.tile.mulRows(a, c.c, c.n, w, 0) // and again
	return a, b
}

// mulRows multiplies n samples by a factor each. Real parts of a sample are at from,
// 0 or the width, and go to to.
func (t *tile[F]) mulRows(a, factors []F, n, from, to int) {
	w := t.width
	if t.unit != nil {
		mulRowsVector(t.unit, a, factors, n, from, to)
		return
	}
	for i := range n {
		c, d := factors[2*i], factors[2*i+1]
		x := sample(a, i, w)
		for l := range w {
			r, i := x[l+from], x[l+w-from]
			x[l+to], x[l+w-to] = r*c-i*d, r*d+i*c
		}
	}
}
