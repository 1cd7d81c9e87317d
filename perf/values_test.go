package perf

import (
	"fmt"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/scalar"
)

// What values expects must be what arithmetic in the type itself gives.
func TestValuesReduce(t *testing.T) {
	for _, n := range []int{1, 2, 3, 13, 14, 16, 40, 101, 130, 300, 1025} {
		for _, op := range driver.Ops {
			t.Run(fmt.Sprintf("ranks=%d/op=%v", n, op), func(t *testing.T) {
				testReduce(t, n, op, func(a, b uint8) bool { return a < b })
				testReduce(t, n, op, func(a, b int32) bool { return a < b })
				testReduce(t, n, op, func(a, b int64) bool { return a < b })
				testReduce(t, n, op, func(a, b float32) bool { return a < b })
				testReduce(t, n, op, func(a, b float64) bool { return a < b })
				testReduce[complex64](t, n, op, nil)
				testReduce[complex128](t, n, op, nil)
			})
		}
	}
}

func testReduce[T scalar.Element](t *testing.T, n int, op comm.Op, less func(a, b T) bool) {
	if driver.CheckOp(op, scalar.Of[T]()) != nil {
		return
	}
	v := newValues[T](op, n)
	const length = 50
	got := make([]T, length)
	for r := range n {
		part := make([]T, length)
		v.fillReduced(part, r, 3)
		for i, x := range part {
			switch {
			case r == 0:
				got[i] = x
			case op == comm.Prod:
				got[i] *= x
			case op == comm.Sum || op == comm.Average:
				got[i] += x
			case less(x, got[i]) == (op == comm.Min):
				got[i] = x
			}
		}
	}
	if op == comm.Average {
		for i := range got {
			// n does not fit into a uint8 beyond 255, but then all sums are 0 or 1.
			if n <= 255 || scalar.Of[T]() != scalar.Uint8 {
				got[i] /= number[T](float64(n), 0)
			} else {
				got[i] = 0
			}
		}
	}
	if wrong := v.wrongReduced(got, 0, 3); wrong != 0 {
		t.Errorf("%v: %d of %d elements differ", scalar.Of[T](), wrong, length)
	}
	if v.wrongReduced(got[10:], 10, 3) != 0 {
		t.Errorf("%v: a part of the result is not what is expected of the part", scalar.Of[T]())
	}
	got[7]++
	if wrong := v.wrongReduced(got, 0, 3); wrong != 1 {
		t.Errorf("%v: one element is wrong, %d were found", scalar.Of[T](), wrong)
	}
}

// Mistakes that algorithms make must not go unseen.
func TestValuesTellApart(t *testing.T) {
	const n, count = 4, 64
	v := newValues[float32](comm.Sum, n)
	a, b := make([]float32, count), make([]float32, count)
	v.fillCopied(a, 1, 0, 9)
	v.fillCopied(b, 1, 0, 9)
	if v.wrongCopied(a, 1, 0, 9) != 0 {
		t.Error("right data was found wrong")
	}
	for name, wrong := range map[string]int64{
		"another rank":  v.wrongCopied(a, 2, 0, 9),
		"another block": v.wrongCopied(a, 1, count, 9),
		"an old seed":   v.wrongCopied(a, 1, 0, 10),
	} {
		if wrong < count/2 {
			t.Errorf("data of %s: only %d of %d elements were found wrong", name, wrong, count)
		}
	}
	set(b, v.poison)
	if got := v.wrongCopied(b, 1, 0, 9); got != count {
		t.Errorf("nothing was written: only %d of %d elements were found wrong", got, count)
	}
}

// Timed loops reduce the same data over and over.
func TestCalm(t *testing.T) {
	for _, op := range driver.Ops {
		x := newValues[int32](op, 5).idempotent
		sum, prod := 5*x, x*x*x*x*x
		got := map[comm.Op]int32{comm.Sum: sum, comm.Prod: prod, comm.Min: x, comm.Max: x, comm.Average: sum / 5}[op]
		if got != x {
			t.Errorf("%v: %d becomes %d", op, x, got)
		}
	}
}
