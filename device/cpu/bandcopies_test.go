package cpu_test

import (
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/device/cpu"
	"github.com/golops/golops/scalar"
)

// TestMoves takes every third element of rows, backwards, and puts them back.
func TestMoves(t *testing.T) {
	t.Run("float32", testMoves[float32])
	t.Run("complex128", testMoves[complex128])
}

func testMoves[T scalar.Scalar](t *testing.T) {
	const outer, n, all = 40, 50, 151
	k := kernelsOf[T](t, open(t, cpu.Config{Threads: 2}))
	take := &device.Banded[T]{Outer: outer, Inner: 1, DstRows: n, SrcRows: all}
	put := &device.Banded[T]{Outer: outer, Inner: 1, DstRows: all, SrcRows: n}
	for i := range n {
		take.Taps = append(take.Taps, device.Tap[T]{At: 3 * (n - i), Step: 1, Coef: 1})
		take.Groups[0] = append(take.Groups[0], device.Band{Lo: i, Hi: i + 1, First: i, Last: i + 1})
		put.Taps = append(put.Taps, device.Tap[T]{At: n - 1 - i, Step: 1, Coef: 1})
		put.Groups[0] = append(put.Groups[0], device.Band{Lo: 3*i + min(i, 1), Hi: 3*i + 3}, device.Band{Lo: 3*i + 3, Hi: 3*i + 4, First: i, Last: i + 1})
	}
	x, y, z := random[T](t, k, outer*all), random[T](t, k, outer*n), random[T](t, k, outer*all)
	k.Bands(y, x, device.Mem[T]{}, take, 0, false)
	k.Bands(z, y, device.Mem[T]{}, put, 0, false)
	for o := range outer {
		for i := range all {
			var want T
			if i%3 == 0 && i > 0 {
				want = x.Host[o*all+i]
				if got := y.Host[o*n+n-i/3]; got != want {
					t.Fatalf("row %d: element %d was taken as %v, is %v", o, i, got, want)
				}
			}
			if got := z.Host[o*all+i]; got != want {
				t.Fatalf("row %d: element %d is %v, want %v", o, i, got, want)
			}
		}
	}
}
