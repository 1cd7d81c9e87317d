package cpu_test

import (
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/device/cpu"
	"github.com/golops/golops/scalar"
)

// TestBandTiles applies bands of many taps to long rows, some of which are ghosts, and
// compares every element with a plain sum.
func TestBandTiles(t *testing.T) {
	t.Run("float32", testBandTiles[float32])
	t.Run("float64", testBandTiles[float64])
	t.Run("complex128", testBandTiles[complex128])
}

func testBandTiles[T scalar.Scalar](t *testing.T) {
	const outer, inner, rows, ghosts = 2, 1037, 9, 60
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	k := kernelsOf[T](t, open(t, cpu.Config{Threads: 2}))
	m := &device.Banded[T]{Outer: outer, Inner: inner, DstRows: rows, SrcRows: rows, Ghosts: []device.Ghost{{At: 0, Rows: ghosts}}}
	for i, taps := range []int{0, 1, 12, 55} { // bands of two rows, the last of three
		b := device.Band{Lo: 2 * i, Hi: 2*i + 2 + i/3, First: len(m.Taps)}
		for range taps {
			tap := device.Tap[T]{At: r.IntN(rows - 2), Step: 1, Coef: scalar.From[T](complex(r.NormFloat64(), 0))}
			if tap.Ghost = r.IntN(2); tap.Ghost == 1 {
				tap.At = r.IntN(ghosts - 2)
			}
			m.Taps = append(m.Taps, tap)
		}
		b.Last = len(m.Taps)
		m.Groups[0] = append(m.Groups[0], b)
	}
	x, g, y := random[T](t, k, outer*rows*inner), random[T](t, k, outer*ghosts*inner), random[T](t, k, outer*rows*inner)
	was := append([]T(nil), y.Host...)
	for _, add := range []bool{true, false} {
		k.Bands(y, x, g, m, 0, add)
		for _, b := range m.Groups[0] {
			for i := b.Lo; i < b.Hi; i++ {
				for o := range outer {
					for c := range inner {
						var want T
						if add {
							want = was[(o*rows+i)*inner+c]
						}
						for _, tap := range m.Taps[b.First:b.Last] {
							from, n := x.Host, rows
							if tap.Ghost == 1 {
								from, n = g.Host, ghosts
							}
							want += tap.Coef * from[(o*n+tap.At+i-b.Lo)*inner+c]
						}
						if got := y.Host[(o*rows+i)*inner+c]; size(got-want) > 1e-3*size(want)+1e-4 {
							t.Fatalf("seed %d: add %v, element %d of row %d of %d is %v, want %v", seed, add, c, i, o, got, want)
						}
					}
				}
			}
		}
	}
}

func size[T scalar.Scalar](v T) float64 { return cmplx.Abs(scalar.Complex(v)) }
