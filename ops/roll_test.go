package ops_test

import (
	"math"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(rollTest[float32], rollTest[float64], rollTest[complex64], rollTest[complex128])

func rollTest[T scalar.Scalar]() operatorTest[T] {
	return operatorTest[T]{
		forms: onAxes("roll", func(ctx ctxt, x space, axis int) (op[T], error) { return ops.Roll[T](ctx, x, axis, -2) }),
		along: func(ctx ctxt, x space, axis int) (op[T], error) { return ops.Roll[T](ctx, x, axis, 1) },
		bad: []badCase[T]{
			{"no space", func(ctx ctxt, _ space, _ int) (op[T], error) { return ops.Roll[T](ctx, nil, 0, 1) }, []string{"no space"}},
		},
		extreme: []extremeCase[T]{
			{"roll", func(ctx ctxt, x space, v int) (op[T], error) { return ops.Roll[T](ctx, x, 0, v) }, sizeSame},
			{"roll of very many", func(ctx ctxt, x space, v int) (op[T], error) {
				return on(x, dist.Layout{}, []int{math.MaxInt}, func(y space) (op[T], error) { return ops.Roll[T](ctx, y, 0, v) })
			}, func(_, _ float64) float64 { return math.MaxInt }},
		},
		golden: goldenTest[T]{names: []string{"Roll"}, make: func(_ *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			return ops.Roll[T](ctx, x, c.Int("axis"), c.Int("shift"))
		}},
	}
}

func BenchmarkRoll(b *testing.B) { onTypes(b, plain, benchRoll[float32], benchRoll[float64]) }

func benchRoll[T scalar.Scalar](ctx ctxt, x space) (op[T], error) { return ops.Roll[T](ctx, x, 0, 7) }

func ExampleRoll() {
	show([]int{5}, []float64{1, 2, 3, 4, 5}, func(ctx ctxt, x space) (op[float64], error) { return ops.Roll[float64](ctx, x, 0, 2) })
	// Output: [4 5 1 2 3]
}
