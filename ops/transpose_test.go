package ops_test

import (
	"testing"

	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(transposeTest[float32], transposeTest[float64], transposeTest[complex64], transposeTest[complex128])

func transposeTest[T scalar.Scalar]() operatorTest[T] {
	return operatorTest[T]{
		forms: []form[T]{{name: "transpose", make: func(ctx ctxt, x space) (op[T], error) {
			order := []int{}
			for a := range x.Shape().NDim() {
				order = append(order, (a+1)%x.Shape().NDim())
			}
			return ops.Transpose[T](ctx, x, order...)
		}}},
		along: func(ctx ctxt, x space, axis int) (op[T], error) { return ops.Transpose[T](ctx, x, axis, 0) },
		bad: []badCase[T]{
			{"transpose", func(ctx ctxt, x space, _ int) (op[T], error) { return ops.Transpose[T](ctx, x, 1, 1) }, []string{"[1 1]", "twice"}},
		},
		extreme: []extremeCase[T]{
			{"transpose", func(ctx ctxt, x space, v int) (op[T], error) { return ops.Transpose[T](ctx, x, v) }, sizeSame},
		},
		golden: goldenTest[T]{names: []string{"Transpose"}, make: func(_ *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			return ops.Transpose[T](ctx, x, c.Ints("axes")...)
		}},
		messages: []messageCase[T]{{"transpose", transpose[T], sentNone, 0}},
	}
}

func transpose[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	return ops.Transpose[T](ctx, x, 1, 0)
}

func BenchmarkTranspose(b *testing.B) { onTypes(b, plain, transpose[float32], transpose[float64]) }

func ExampleTranspose() {
	show([]int{2, 3}, []float64{1, 2, 3, 4, 5, 6}, transpose[float64])
	// Output: [1 4 2 5 3 6]
}
