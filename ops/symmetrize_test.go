package ops_test

import (
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(symmetrizeTest[float32], symmetrizeTest[float64], symmetrizeTest[complex64], symmetrizeTest[complex128])

func symmetrizeTest[T scalar.Scalar]() operatorTest[T] {
	return operatorTest[T]{
		forms: onAxes("symmetrize", ops.Symmetrize[T]),
		along: ops.Symmetrize[T],
		extreme: []extremeCase[T]{
			{"symmetrize axis", ops.Symmetrize[T], nil},
			{"symmetrize", func(ctx ctxt, x space, v int) (op[T], error) {
				return on(x, dist.Layout{}, []int{max(v, 0)}, func(y space) (op[T], error) { return ops.Symmetrize[T](ctx, y, 0) })
			}, func(v, _ float64) float64 { return max(2*v-1, 0) }},
		},
		golden: goldenTest[T]{names: []string{"Symmetrize"}, make: func(_ *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			return ops.Symmetrize[T](ctx, x, c.Int("axis"))
		}},
	}
}

func BenchmarkSymmetrize(b *testing.B) {
	onTypes(b, plain, benchSymmetrize[float32], benchSymmetrize[float64])
}

func benchSymmetrize[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	return ops.Symmetrize[T](ctx, x, 0)
}

func ExampleSymmetrize() {
	show([]int{3}, []float64{1, 2, 3}, func(ctx ctxt, x space) (op[float64], error) { return ops.Symmetrize[float64](ctx, x, 0) })
	// Output: [3 2 1 2 3]
}
