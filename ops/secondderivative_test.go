package ops_test

import (
	"math"
	"testing"

	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(secondTest[float32], secondTest[float64], secondTest[complex64], secondTest[complex128])

func secondTest[T scalar.Scalar]() operatorTest[T] {
	bad := func(o ops.DerivativeOptions) func(ctx ctxt, x space, me int) (op[T], error) {
		return func(ctx ctxt, x space, _ int) (op[T], error) { return ops.SecondDerivative[T](ctx, x, 0, o) }
	}
	var all []form[T]
	for _, k := range []ops.DerivativeKind{ops.DerivativeCentered, ops.DerivativeForward, ops.DerivativeBackward} {
		all = append(all, onAxes("second derivative "+k.String(), func(ctx ctxt, x space, axis int) (op[T], error) {
			return ops.SecondDerivative[T](ctx, x, axis, ops.DerivativeOptions{Kind: k, Sampling: 0.5})
		})...)
	}
	return operatorTest[T]{
		forms: all,
		along: func(ctx ctxt, x space, axis int) (op[T], error) {
			return ops.SecondDerivative[T](ctx, x, axis, ops.DerivativeDefaults())
		},
		bad: []badCase[T]{
			{"NaN sampling", bad(ops.DerivativeOptions{Sampling: math.NaN()}), []string{"second derivative", "sampling is NaN"}},
			{"five points of a second derivative", bad(ops.DerivativeOptions{Sampling: 1, Kind: ops.DerivativeCentered5}), []string{"the kind is DerivativeCentered5"}},
		},
		golden: goldenTest[T]{names: []string{"SecondDerivative", "MPISecondDerivative"}, make: func(_ *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			axis := 0 // those of PyLops-MPI
			if c.Op == "SecondDerivative" {
				axis = c.Int("axis")
			}
			return ops.SecondDerivative[T](ctx, x, axis, derivative(c))
		}},
		messages: []messageCase[T]{{"second derivative", second[T], sentToNeighbours, 0}},
		overlap:  []form[T]{{name: "second derivative", make: second[T]}},
	}
}

func second[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	return ops.SecondDerivative[T](ctx, x, 0, ops.DerivativeDefaults())
}

func BenchmarkSecondDerivative(b *testing.B) { onTypes(b, plain, second[float32], second[float64]) }

func ExampleSecondDerivative() {
	show([]int{5}, []float64{0, 1, 4, 9, 16}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.SecondDerivative[float64](ctx, x, 0, ops.DerivativeOptions{Sampling: 1, Edge: true})
	})
	// Output: [2 2 2 2 2]
}
