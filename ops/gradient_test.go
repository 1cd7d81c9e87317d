package ops_test

import (
	"slices"
	"testing"

	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(gradientTest[float32], gradientTest[float64], gradientTest[complex64], gradientTest[complex128])

func gradientTest[T scalar.Scalar]() operatorTest[T] {
	return operatorTest[T]{
		forms:   []form[T]{{name: "gradient", make: gradient[T](ops.GradientOptions{Edge: true})}},
		nowhere: func(ctx ctxt) (op[T], error) { return ops.Gradient[T](ctx, nil, ops.GradientOptions{}) },
		bad: []badCase[T]{
			{"negative sampling", func(ctx ctxt, x space, _ int) (op[T], error) {
				return ops.Gradient[T](ctx, x, ops.GradientOptions{Samplings: []float64{1, -2}})
			}, []string{"gradient", "axis 1", "sampling is -2"}},
			{"no sampling of a gradient", func(ctx ctxt, x space, _ int) (op[T], error) {
				return ops.Gradient[T](ctx, x, ops.GradientOptions{Samplings: []float64{1, 0}})
			}, []string{"gradient", "axis 1", "sampling is 0: give the distance"}},
		},
		extreme: []extremeCase[T]{
			{"gradient kind", func(ctx ctxt, x space, v int) (op[T], error) {
				return ops.Gradient[T](ctx, x, ops.GradientOptions{Kind: ops.DerivativeKind(v)})
			}, nil},
		},
		golden: goldenTest[T]{names: []string{"Gradient", "MPIGradient"}, make: func(_ *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			s := c.Floats("sampling")
			if len(s) == 1 {
				s = slices.Repeat(s, len(c.Dims))
			}
			return ops.Gradient[T](ctx, x, ops.GradientOptions{Samplings: s, Kind: kind(c), Edge: edge(c)})
		}},
		messages: []messageCase[T]{{"gradient", gradient[T](ops.GradientOptions{}), sentToNeighbours, 0}},
		overlap:  []form[T]{{name: "gradient", make: gradient[T](ops.GradientOptions{})}},
	}
}

func gradient[T scalar.Scalar](o ops.GradientOptions) newOp[T] {
	return func(ctx ctxt, x space) (op[T], error) { return ops.Gradient[T](ctx, x, o) }
}

func BenchmarkGradient(b *testing.B) {
	onTypes(b, plain, gradient[float32](ops.GradientOptions{}), gradient[float64](ops.GradientOptions{}))
}

func ExampleGradient() {
	show([]int{2, 2}, []float64{0, 1, 10, 11}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.Gradient[float64](ctx, x, ops.GradientOptions{Kind: ops.DerivativeForward})
	})
	// Output: [10 10 0 0 1 0 1 0]
}
