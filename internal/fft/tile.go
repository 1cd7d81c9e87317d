package fft

import (
	"math/bits"
	"slices"
	"unsafe"
)

// tile transforms the lines of a tile, by passes or by a chirp.
type tile[F Float] struct {
	n, width int
	unit     *unit // nil for plain Go
	passes   []pass[F]
	chirp    *chirp[F] // nil unless n has a large prime factor
	room     int       // of the sums of one butterfly, for large radices
}

// maxRadix is the largest prime that has passes of its own. Beyond it the work of a
// pass, which grows with the square of the radix, is more than that of a chirp.
const maxRadix = 180

// chirpRadix is the largest prime for which a line alone takes no chirp in any case. Smaller ones
// round less.
const chirpRadix = 100

// goWidth is how many lines plain Go has in a tile.
const goWidth = 4

func newTile[F Float](n int, u *unit) *tile[F] {
	t := &tile[F]{n: n, width: goWidth, unit: u}
	if u != nil {
		t.width = u.lanes
	}
	radices := factor(n, u)
	if len(radices) > 0 && slices.Max(radices) > maxRadix {
		t.chirp = newChirp[F](n, u)
		return t
	}
	m, s := n, 1
	for _, r := range radices {
		m /= r
		t.passes = append(t.passes, newPass[F](r, m, s))
		s *= r
		if r > 5 {
			t.room = max(t.room, 2*r*t.width)
		}
	}
	return t
}

// factor returns the radices of the passes over n samples. Powers of two are spread over as
// few passes as the unit has radices for.
func factor(n int, u *unit) (radices []int) {
	twos := bits.TrailingZeros(uint(n))
	if n == 0 {
		return nil
	}
	n >>= twos
	for r := 3; r*r <= n; r += 2 {
		for ; n%r == 0; n /= r {
			radices = append(radices, r)
		}
	}
	if n > 1 {
		radices = append(radices, n)
	}
	most := 2 // of them in one pass
	switch {
	case u != nil && u.hasPass(16):
		most = 4
	case u != nil:
		most = 3
	}
	for passes := (twos + most - 1) / most; passes > 0; passes-- {
		radices = append(radices, 1<<(twos/passes))
		twos -= twos / passes
	}
	return radices
}

// size returns the length of one buffer. Real lines have one coefficient more than the
// tile has samples. A line reads squares of the width.
func (t *tile[F]) size() int {
	n := roundUp(t.n+1, t.width)
	if t.chirp != nil {
		n = max(n, t.chirp.tile.n)
	}
	return 2 * n * t.width
}

func (t *tile[F]) scratch() int {
	if t.chirp != nil {
		return 2*t.size() + t.chirp.tile.room
	}
	return 2*t.size() + t.room
}

// buffers divides memory into a buffer for the lines of a tile, a second one and what
// else run needs.
func (t *tile[F]) buffers(scratch []F) (a, b, room []F) {
	n := t.size()
	return scratch[:n], scratch[n : 2*n], scratch[2*n:]
}

// load fills a with lines and does the first pass on the way, if it can and is not the last.
// It returns how many passes are done, and their result in x.
func (t *tile[F]) load(l *lines[F], src []F, inverse bool, a, b []F) (x, y []F, done int) {
	if l.rows() && len(t.passes) > 1 {
		if p := &t.passes[0]; p.r <= maxVectorRadix && t.unit.head[p.r] != nil {
			src := src[2*l.start(0, t.n):]
			_, _ = src[2*((t.n-1)*l.inner+t.width)-1], b[2*t.n*t.width-1]
			t.unit.head[p.r](ptr(b), ptr(src), ptr(p.twiddle), p.m, 2*l.inner*size[F](), unsafe.Pointer(&t.unit.apart[way(inverse)]))
			return b, a, 1
		}
	}
	re, im := 0, t.width
	if inverse {
		re, im = im, re
	}
	l.load(a, src, t.n, t.n, re, im)
	return a, b, 0
}

// store does the passes from done on and writes the lines.
func (t *tile[F]) store(l *lines[F], dst []F, inverse bool, a, b, room []F, done int) {
	if last := len(t.passes) - 1; l.rows() && last >= done {
		if p := &t.passes[last]; p.r <= maxVectorRadix && t.unit.tail[p.r] != nil {
			a, _ = t.pass(a, b, room, done, last)
			dst := dst[2*l.start(0, t.n):]
			_, _ = dst[2*((t.n-1)*l.inner+t.width)-1], a[2*t.n*t.width-1]
			t.unit.tail[p.r](ptr(dst), ptr(a), p.s, 2*l.inner*size[F](), unsafe.Pointer(&t.unit.joined[way(inverse)]))
			return
		}
	}
	re, im := 0, t.width
	if inverse {
		re, im = im, re
	}
	a, _ = t.run(a, b, room, done)
	l.store(dst, a, t.n, t.n, re, im)
}

// way is an index: 0 for forward, 1 for inverse.
func way(inverse bool) int {
	if inverse {
		return 1
	}
	return 0
}

// run transforms the lines in a, of which some passes are done. It returns them in a or b, and
// the other.
func (t *tile[F]) run(a, b, room []F, done int) (x, y []F) {
	if t.chirp != nil {
		return t.chirp.run(a, b, room)
	}
	return t.pass(a, b, room, done, len(t.passes))
}

// pass does passes lo to hi-1.
func (t *tile[F]) pass(a, b, room []F, lo, hi int) (x, y []F) {
	for i := lo; i < hi; i++ {
		if p := &t.passes[i]; t.unit != nil {
			runVector(t.unit, p, b, a, room)
		} else {
			p.run(b, a, room, t.width)
		}
		a, b = b, a
	}
	return a, b
}
