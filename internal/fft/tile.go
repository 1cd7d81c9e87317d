package fft

import (
	"math/bits"
	"slices"
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

// goWidth is how many lines plain Go has in a tile.
const goWidth = 4

func newTile[F Float](n int, u *unit) *tile[F] {
	t := &tile[F]{n: n, width: goWidth, unit: u}
	if u != nil {
		t.width = u.lanes
	}
	radices := factor(n, u != nil)
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

// factor returns the radices of the passes over n samples. Vectors have one of 8.
func factor(n int, vectors bool) (radices []int) {
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
	for ; (twos%3 != 0 || !vectors) && twos > 1; twos -= 2 {
		radices = append(radices, 4)
	}
	if twos == 1 {
		return append(radices, 2)
	}
	return append(radices, slices.Repeat([]int{8}, twos/3)...)
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

// run transforms the lines in a. It returns them in a or b, and the other.
func (t *tile[F]) run(a, b, room []F) (x, y []F) {
	if t.chirp != nil {
		return t.chirp.run(a, b, room)
	}
	for i := range t.passes {
		if p := &t.passes[i]; t.unit != nil {
			runVector(t.unit, p, b, a, room)
		} else {
			p.run(b, a, room, t.width)
		}
		a, b = b, a
	}
	return a, b
}
