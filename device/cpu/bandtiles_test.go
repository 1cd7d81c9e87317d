package cpu_test

import (
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/device/cpu"
	"github.com/golops/golops/scalar"
)

// TestBandWindows filters an axis that is longer than the copies of tiles are, with taps
// some of which read ghosts, and mixes the order of the bands.
func TestBandWindows(t *testing.T) {
	t.Run("float32", testBandWindows[float32])
	t.Run("complex128", testBandWindows[complex128])
}

func testBandWindows[T scalar.Scalar](t *testing.T) {
	const inner, rows, ghosts, taps = 260, 1300, 40, 11
	m := &device.Banded[T]{Outer: 1, Inner: inner, DstRows: rows, SrcRows: rows, Ghosts: []device.Ghost{{At: inner, Rows: ghosts}}}
	band := func(lo, hi int) {
		b := device.Band{Lo: lo, Hi: hi, First: len(m.Taps)}
		for i := range taps {
			m.Taps = append(m.Taps, device.Tap[T]{At: min(lo+7*i, rows-(hi-lo)), Step: 1, Coef: scalar.From[T](complex(1/float64(i+lo+1), 0))})
		}
		b.Last = len(m.Taps)
		m.Groups[0] = append(m.Groups[0], b)
	}
	band(100, 1200)
	band(0, 70)
	for i := 70; i < 100; i++ {
		band(i, i+1)
		m.Taps[len(m.Taps)-1].At, m.Taps[len(m.Taps)-1].Ghost = i-70, 1
	}
	band(1200, 1300)
	compareTiles(t, m, (1+ghosts)*inner)
}

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
	t.Logf("seed %d", seed)
	compareTiles(t, m, outer*ghosts*inner)
}

// compareTiles compares every element of m·x, and of y + m·x, with a plain sum.
func compareTiles[T scalar.Scalar](t *testing.T, m *device.Banded[T], ghosts int) {
	t.Helper()
	k := kernelsOf[T](t, open(t, cpu.Config{Threads: 2}))
	x, g, y := random[T](t, k, m.Outer*m.SrcRows*m.Inner), random[T](t, k, ghosts), random[T](t, k, m.Outer*m.DstRows*m.Inner)
	was := append([]T(nil), y.Host...)
	for _, add := range []bool{true, false} {
		k.Bands(y, x, g, m, 0, add)
		for _, b := range m.Groups[0] {
			for i := b.Lo; i < b.Hi; i++ {
				for o := range m.Outer {
					for c := range m.Inner {
						var want T
						if add {
							want = was[(o*m.DstRows+i)*m.Inner+c]
						}
						for _, tap := range m.Taps[b.First:b.Last] {
							from, n := x.Host, m.SrcRows
							if tap.Ghost == 1 {
								from, n = g.Host[m.Ghosts[0].At:], m.Ghosts[0].Rows
							}
							want += tap.Coef * from[(o*n+tap.At+i-b.Lo)*m.Inner+c]
						}
						if got := y.Host[(o*m.DstRows+i)*m.Inner+c]; size(got-want) > 1e-3*size(want)+1e-4 {
							t.Fatalf("add %v, element %d of row %d of %d is %v, want %v", add, c, i, o, got, want)
						}
					}
				}
			}
		}
	}
}

func size[T scalar.Scalar](v T) float64 { return cmplx.Abs(scalar.Complex(v)) }
