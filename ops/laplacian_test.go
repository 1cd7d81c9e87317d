package ops_test

import (
	"math"
	"testing"

	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(laplacianTest[float32], laplacianTest[float64], laplacianTest[complex64], laplacianTest[complex128])

func laplacianTest[T scalar.Scalar]() operatorTest[T] {
	bad := func(o ops.LaplacianOptions) func(ctx ctxt, x space, me int) (op[T], error) {
		return func(ctx ctxt, x space, _ int) (op[T], error) { return ops.Laplacian[T](ctx, x, o) }
	}
	return operatorTest[T]{
		forms: []form[T]{{name: "laplacian", make: func(ctx ctxt, x space) (op[T], error) {
			return ops.Laplacian[T](ctx, x, ops.LaplacianOptions{Axes: []int{0, -1}, Weights: []float64{2, 3}, Samplings: []float64{0.5, 2}, Edge: true})
		}}},
		along: func(ctx ctxt, x space, axis int) (op[T], error) {
			return ops.Laplacian[T](ctx, x, ops.LaplacianOptions{Axes: []int{0, axis}})
		},
		bad: []badCase[T]{
			{"edge of a backward laplacian", bad(ops.LaplacianOptions{Kind: ops.DerivativeBackward, Edge: true}), []string{"Edge is set", "the kind is backward"}},
			{"laplacian weights", bad(ops.LaplacianOptions{Weights: []float64{1}}), []string{"laplacian", "1 weights", "2 axes"}},
			{"NaN weight", bad(ops.LaplacianOptions{Weights: []float64{1, math.NaN()}}), []string{"laplacian", "weight 1 is NaN"}},
			{"NaN sampling of a laplacian", bad(ops.LaplacianOptions{Samplings: []float64{math.NaN(), 1}}), []string{"laplacian", "sampling is NaN"}},
		},
		extreme: []extremeCase[T]{
			{"laplacian axis", func(ctx ctxt, x space, v int) (op[T], error) {
				return ops.Laplacian[T](ctx, x, ops.LaplacianOptions{Axes: []int{v}})
			}, nil},
		},
		golden: goldenTest[T]{names: []string{"Laplacian", "MPILaplacian"}, make: func(_ *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			return ops.Laplacian[T](ctx, x, ops.LaplacianOptions{Axes: c.Ints("axes"), Weights: c.Floats("weights"), Samplings: c.Floats("sampling"), Kind: kind(c), Edge: edge(c)})
		}},
		messages: []messageCase[T]{{"laplacian", laplacian[T], sentToNeighbours, 0}},
		overlap:  []form[T]{{name: "laplacian", make: laplacian[T]}},
	}
}

func laplacian[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	return ops.Laplacian[T](ctx, x, ops.LaplacianOptions{})
}

func BenchmarkLaplacian(b *testing.B) { onTypes(b, plain, laplacian[float32], laplacian[float64]) }

func ExampleLaplacian() {
	show([]int{3, 3}, []float64{0, 0, 0, 0, 1, 0, 0, 0, 0}, laplacian[float64])
	// Output: [0 0 0 0 -4 0 0 0 0]
}
