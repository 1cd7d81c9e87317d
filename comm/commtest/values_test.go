package commtest

import (
	"fmt"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/splitmix"
	"github.com/golops/golops/scalar"
)

// TestValues reduces the ranks' values in the arithmetic of the element type, forwards and
// backwards, and compares with the expected value.
func TestValues(t *testing.T) {
	for size := 1; size <= 17; size++ {
		testValues[uint8](t, size)
		testValues[int32](t, size)
		testValues[int64](t, size)
		testValues[float32](t, size)
		testValues[float64](t, size)
		testValues[complex64](t, size)
		testValues[complex128](t, size)
	}
}

func testValues[T scalar.Element](t *testing.T, size int) {
	const n = 2*period + 10
	dt := scalar.Of[T]()
	for _, op := range driver.Ops {
		if driver.CheckOp(op, dt) != nil {
			continue
		}
		t.Run(fmt.Sprintf("%v/%v/ranks=%d", dt, op, size), func(t *testing.T) {
			s := source{tag: splitmix.Hash(uint64(size)), op: op, size: size, off: 3}
			parts := make([]*elems[T], size)
			for r := range parts {
				s.rank = r
				parts[r] = newVec(dt, n, nil).(*elems[T])
				parts[r].fill(0, n, s)
			}
			want := newVec(dt, n, nil).(*elems[T])
			s.rank = everyone
			want.fill(0, n, s)
			for i := range n {
				a, b := parts[0].in()[i], parts[size-1].in()[i]
				for r := 1; r < size; r++ {
					a = apply(op, a, parts[r].in()[i])
					b = apply(op, b, parts[size-1-r].in()[i])
				}
				if op == comm.Average {
					a, b = a/one[T](num{re: int64(size)}), b/one[T](num{re: int64(size)})
				}
				if w := want.in()[i]; a != w || b != w {
					t.Fatalf("index %d: got %v and %v, want %v", i, a, b, w)
				}
			}
			if size > 1 && op != comm.Prod && parts[0].diff(0, n, parts[1]) == nil {
				t.Errorf("ranks 0 and 1 contribute the same")
			}
		})
	}
}

func apply[T scalar.Element](op comm.Op, a, b T) T {
	less := func() bool {
		switch a := any(a).(type) {
		case uint8:
			return a < any(b).(uint8)
		case int32:
			return a < any(b).(int32)
		case int64:
			return a < any(b).(int64)
		case float32:
			return a < any(b).(float32)
		case float64:
			return a < any(b).(float64)
		}
		panic("no order")
	}
	switch op {
	case comm.Prod:
		return a * b
	case comm.Min:
		if less() {
			return a
		}
		return b
	case comm.Max:
		if less() {
			return b
		}
		return a
	}
	return a + b
}

// TestNegativeAverage checks the rounding of integer averages.
func TestNegativeAverage(t *testing.T) {
	cut := 0
	s := source{tag: 5, op: comm.Average, size: 3}
	for i := range 100 {
		sum := num{}
		for r := range 3 {
			sum = combine(comm.Sum, sum, s.value(traitsOf[scalar.Int32], r, i))
		}
		if sum.re < 0 && sum.re%3 != 0 {
			cut++
		}
	}
	if cut < 10 {
		t.Errorf("%d of 100 sums are negative and not divisible, want more", cut)
	}
}

func TestVecFindsFaults(t *testing.T) {
	for _, dt := range scalar.DTypes {
		s := source{tag: 3, op: notReduced, size: 1}
		v, w := newVec(dt, 40, nil), newVec(dt, 40, nil)
		v.fill(0, 40, s)
		w.fill(0, 20, s)
		s.off = 20
		w.fill(20, 40, s)
		if err := v.diff(0, 40, w); err != nil {
			t.Errorf("%v: filled in two parts: %v", dt, err)
		}
		s.off = 21
		w.fill(20, 40, s)
		if v.diff(0, 40, w) == nil {
			t.Errorf("%v: one off in the second part is not found", dt)
		}
		if err := v.guards(); err != nil {
			t.Error(err)
		}
		w.resize(41)
		w.fill(40, 41, s)
		w.resize(40)
		if err := w.guards(); err != nil {
			t.Error(err)
		}
	}
	for _, at := range []int{0, guard - 1, guard + 40, 2*guard + 39} {
		v := newVec(scalar.Float32, 40, nil).(*elems[float32])
		v.mem[at]++
		if v.guards() == nil {
			t.Errorf("change of guard element %d is not found", at)
		}
	}
}

func TestLayout(t *testing.T) {
	if got := fmt.Sprint(members([]int{1, 0, 1, -1, 1}, []int{5, 0, -5, 0, 5}, 1)); got != "[2 0 4]" {
		t.Errorf("members: got %s, want [2 0 4]", got)
	}
	if got := fmt.Sprint(symmetric([]int{1, 2, 3, 4, 5, 6, 7, 8, 9}, 3)); got != "[1 2 3 2 5 6 3 6 9]" {
		t.Errorf("symmetric: got %s", got)
	}
	for _, n := range []int{1, 2, 7} {
		for _, counts := range varyingCounts(8, n) {
			if len(counts) != n {
				t.Errorf("%d counts, want %d", len(counts), n)
			}
		}
	}
}
