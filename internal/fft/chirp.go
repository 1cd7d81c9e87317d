package fft

// chirp transforms lines of n samples by a convolution of a better length, after
// Bluestein: with c[k] = exp(-πi·k²/n), X[k] = c[k]·Σⱼ c[j]·x[j]·conj(c[k-j]).
type chirp[F Float] struct {
	n, width int
	c        []F // c[k]
	filter   []F // the transform of conj(c), divided by its length
	tile     *tile[F]
}

func newChirp[F Float](n, w int) *chirp[F] {
	c := &chirp[F]{n: n, width: w, tile: newTile[F](goodLength(2*n-1), w)}
	exact := newTile[float64](c.tile.n, 1)
	a, b, room := exact.buffers(make([]float64, exact.scratch()))
	for k, k2 := 0, 0; k < n; k++ {
		re, im := root(k2, 2*n)
		c.c = append(c.c, F(re), F(im))
		for _, at := range []int{k, (c.tile.n - k) % c.tile.n} {
			a[2*at], a[2*at+1] = re/float64(c.tile.n), -im/float64(c.tile.n)
		}
		k2 = (k2 + 2*k + 1) % (2 * n) // without squares that are too large
	}
	a, _ = exact.run(a, b, room)
	for _, v := range a[:2*c.tile.n] {
		c.filter = append(c.filter, F(v))
	}
	return c
}

// goodLength returns the length from n on that takes the least work.
func goodLength(n int) int {
	best, least := 0, 0.0
	for m := n; m <= n+n/4+2; m++ {
		r := factor(m)
		if r[len(r)-1] > 5 {
			continue
		}
		work := 0.0
		for _, r := range r {
			work += []float64{2: 1, 3: 1.8, 4: 1.5, 5: 2.6}[r]
		}
		if work *= float64(m); best == 0 || work < least {
			best, least = m, work
		}
	}
	return best
}

// run transforms the lines in a. It returns them in a or b, and
// the other.
func (c *chirp[F]) run(a, b, room []F) (x, y []F) {
	w := c.width
	mulRows(a, a, c.c, c.n, w, 0, 0)
	clear(a[2*c.n*w : 2*c.tile.n*w])
	a, b = c.tile.run(a, b, room)
	mulRows(a, a, c.filter, c.tile.n, w, 0, w) // for the way back parts change places,
	a, b = c.tile.run(a, b, room)
	mulRows(a, a, c.c, c.n, w, w, 0) // and again
	return a, b
}

// mulRows multiplies n samples by a factor each. Real parts of a sample are at from in
// src and at to in dst, 0 or w. dst may be src.
func mulRows[F Float](dst, src, factors []F, n, w, from, to int) {
	for i := range n {
		c, d := factors[2*i], factors[2*i+1]
		x, y := sample(src, i, w), sample(dst, i, w)
		for l := range w {
			r, i := x[l+from], x[l+w-from]
			y[l+to], y[l+w-to] = r*c-i*d, r*d+i*c
		}
	}
}
