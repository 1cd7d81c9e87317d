package ops_test

import (
	"testing"

	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(convolveTest[float32], convolveTest[float64], convolveTest[complex64], convolveTest[complex128])

func convolveTest[T scalar.Scalar]() operatorTest[T] {
	three := func(ctx ctxt, x space) (op[T], error) { return ops.Convolve1D(ctx, x, 0, []T{1, 2, 3}, 1) }
	return operatorTest[T]{
		forms: onAxes("convolve", func(ctx ctxt, x space, axis int) (op[T], error) {
			return ops.Convolve1D(ctx, x, axis, numbers[T](4), 1)
		}),
		along: func(ctx ctxt, x space, axis int) (op[T], error) { return ops.Convolve1D(ctx, x, axis, []T{1}, 0) },
		bad: []badCase[T]{
			{"filter", func(ctx ctxt, x space, _ int) (op[T], error) { return ops.Convolve1D(ctx, x, 0, []T{1, 2}, 2) }, []string{"convolve", "offset is 2", "0 to 1"}},
			{"no filter", func(ctx ctxt, x space, _ int) (op[T], error) { return ops.Convolve1D(ctx, x, 0, []T{}, 0) }, []string{"no samples"}},
		},
		extreme: []extremeCase[T]{
			{"convolve offset", func(ctx ctxt, x space, v int) (op[T], error) {
				return ops.Convolve1D(ctx, x, 0, []T{1, 2, 3}, v)
			}, sizeSame},
		},
		golden: goldenTest[T]{names: []string{"Convolve1D"}, make: func(t *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			_, h := golden.Array[T](t, c, "h")
			return ops.Convolve1D(ctx, x, c.Int("axis"), h, c.Int("offset"))
		}},
		messages: []messageCase[T]{{"convolve", three, sentToNeighbours, 0}},
		overlap:  []form[T]{{name: "convolve", make: three}},
	}
}

func BenchmarkConvolve1D(b *testing.B) {
	onTypes(b, plain, benchConvolve[float32](0), benchConvolve[float64](0))
}

func BenchmarkConvolve1DLastAxis(b *testing.B) {
	onTypes(b, plain, benchConvolve[float32](-1), benchConvolve[float64](-1))
}

func benchConvolve[T scalar.Scalar](axis int) newOp[T] {
	return func(ctx ctxt, x space) (op[T], error) { return ops.Convolve1D(ctx, x, axis, numbers[T](41), 20) }
}

func ExampleConvolve1D() {
	show([]int{5}, []float64{0, 1, 0, 0, 0}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.Convolve1D(ctx, x, 0, []float64{1, 2, 3}, 1)
	})
	// Output: [1 2 3 0 0]
}
