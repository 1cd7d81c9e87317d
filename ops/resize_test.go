package ops_test

import (
	"testing"

	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(resizeTest[float32], resizeTest[float64], resizeTest[complex64], resizeTest[complex128])

func resizeTest[T scalar.Scalar]() operatorTest[T] {
	return operatorTest[T]{
		forms: []form[T]{{"resize", func(ctx ctxt, x space) (op[T], error) { return ops.Resize[T](ctx, x, 0, 5) },
			func(x func(...int) T, dims, i []int) T {
				if i[0] >= dims[0] {
					return 0
				}
				return x(i...)
			}}},
		along: func(ctx ctxt, x space, axis int) (op[T], error) { return ops.Resize[T](ctx, x, axis, 2) },
		bad: []badCase[T]{
			{"negative extent", func(ctx ctxt, x space, _ int) (op[T], error) { return ops.Resize[T](ctx, x, 0, -1) }, []string{"resize", "-1"}},
		},
		extreme: []extremeCase[T]{
			{"resize", func(ctx ctxt, x space, v int) (op[T], error) { return ops.Resize[T](ctx, x, 0, v) }, sizeGiven},
			{"resize axis", func(ctx ctxt, x space, v int) (op[T], error) { return ops.Resize[T](ctx, x, v, 3) }, nil},
		},
	}
}

func BenchmarkResize(b *testing.B) { onTypes(b, fewer, benchResize[float32], benchResize[float64]) }

func benchResize[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	return ops.Resize[T](ctx, x, 0, benchRows/2)
}

func ExampleResize() {
	show([]int{3}, []float64{1, 2, 3}, func(ctx ctxt, x space) (op[float64], error) { return ops.Resize[float64](ctx, x, 0, 5) })
	// Output: [1 2 3 0 0]
}
