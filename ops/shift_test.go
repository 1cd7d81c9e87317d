package ops_test

import (
	"math"
	"testing"

	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(shiftTest[float32], shiftTest[float64], shiftTest[complex64], shiftTest[complex128])

func shiftTest[T scalar.Scalar]() operatorTest[T] {
	with := func(o ops.ShiftOptions) func(ctx ctxt, x space, _ int) (op[T], error) {
		return func(ctx ctxt, x space, _ int) (op[T], error) { return ops.Shift[T](ctx, x, 0, o) }
	}
	by := func(ctx ctxt, x space, axis int) (op[T], error) {
		return ops.Shift[T](ctx, x, axis, ops.ShiftDefaults(1.5))
	}
	lines := func(ctx ctxt, x space, axis int) (op[T], error) {
		return ops.Shift[T](ctx, x, axis, ops.ShiftOptions{Shift: 0.25, Sampling: 1, Size: x.Shape().Dim(axis) + 3,
			Each: func(i []int) float64 { return 0.5 * float64(i[len(i)-1]) }})
	}
	return operatorTest[T]{
		forms: append(onAxes("shift", by), form[T]{name: "shift of each line", make: func(ctx ctxt, x space) (op[T], error) { return lines(ctx, x, 0) }}),
		along: by,
		bad: []badCase[T]{
			{"shift", with(ops.ShiftDefaults(math.NaN())), []string{"shift is NaN"}},
			{"sampling of a shift", with(ops.ShiftOptions{Shift: 1}), []string{"sampling is 0"}},
			{"negative size of a shift", with(ops.ShiftOptions{Shift: 1, Sampling: 1, Size: -3}), []string{"size is -3"}},
			{"size of a shift", with(ops.ShiftOptions{Shift: 1, Sampling: 1, Size: 6}), []string{"shift", "size 6", "7 samples"}},
		},
		golden: goldenTest[T]{names: []string{"Shift"}, make: func(_ *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			o := ops.ShiftOptions{Sampling: 0.5, Size: c.Int("nfft")}
			s, axis := c.Floats("shifts"), c.Int("axis")
			if len(s) == 1 {
				o.Shift = s[0]
			} else {
				lines := x.Shape().With(axis, 1)
				o.Each = func(i []int) float64 { return s[position(lines, i)] }
			}
			return ops.Shift[T](ctx, x, axis, o)
		}},
	}
}

func BenchmarkShift(b *testing.B) { onTypes(b, plain, benchShift[float32], benchShift[float64]) }

func benchShift[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	return ops.Shift[T](ctx, x, 1, ops.ShiftDefaults(0.5))
}

func ExampleShift() {
	// A wave that repeats after four samples, one sample later.
	show([]int{1, 4}, []float64{1, 0, -1, 0}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.Shift[float64](ctx, x, 1, ops.ShiftDefaults(1))
	})
	// Output: [0 1 0 -1]
}
