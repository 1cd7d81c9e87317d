package ops_test

import (
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(dctTest[float32], dctTest[float64], dctTest[complex64], dctTest[complex128])

func dctTest[T scalar.Scalar]() operatorTest[T] {
	of := func(kind int, axes ...int) func(ctx ctxt, x space, _ int) (op[T], error) {
		return func(ctx ctxt, x space, _ int) (op[T], error) { return ops.DCT[T](ctx, x, axes, kind) }
	}
	return operatorTest[T]{
		forms: []form[T]{{name: "cosine transform", make: func(ctx ctxt, x space) (op[T], error) {
			if x.Shape().NDim() == 1 {
				return of(1, 0)(ctx, x, 0)
			}
			return of(2, 0, -1)(ctx, x, 0)
		}}},
		along: func(ctx ctxt, x space, axis int) (op[T], error) { return of(4, axis)(ctx, x, 0) },
		bad: []badCase[T]{
			{"type of a cosine transform", of(5, 0), []string{"cosine transform", "type is 5", "1, 2, 3, 4"}},
			{"one sample", func(ctx ctxt, x space, _ int) (op[T], error) {
				return on(x, dist.Layout{}, []int{3, 1}, func(y space) (op[T], error) { return of(1, 1)(ctx, y, 0) })
			}, []string{"type 1 needs at least 2", "axis 1 has 1"}},
			{"no axes of a cosine transform", of(2), []string{"no axes"}},
		},
		golden: goldenTest[T]{names: []string{"DCT"}, make: func(_ *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			return ops.DCT[T](ctx, x, c.Ints("axes"), c.Int("type"))
		}},
	}
}

func BenchmarkDCT(b *testing.B) { onTypes(b, plain, benchDCT[float32], benchDCT[float64]) }

func benchDCT[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	return ops.DCT[T](ctx, x, []int{0}, 2)
}

func ExampleDCT() {
	show([]int{3}, []float64{2, 0, 2}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.DCT[float64](ctx, x, []int{0}, 1)
	})
	// Output: [2 0 2]
}
