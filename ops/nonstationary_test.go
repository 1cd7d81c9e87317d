package ops_test

import (
	"slices"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(nonStationaryTest[float32], nonStationaryTest[float64], nonStationaryTest[complex64], nonStationaryTest[complex128])

func nonStationaryTest[T scalar.Scalar]() operatorTest[T] {
	two := func(at func(v int) []int) func(ctx ctxt, x space, v int) (op[T], error) {
		return func(ctx ctxt, x space, v int) (op[T], error) {
			return ops.NonStationaryConvolve1D(ctx, x, 0, [][]T{{1, 2, 1}, {1, 3, 1}}, at(v))
		}
	}
	return operatorTest[T]{
		forms: onAxes("non-stationary convolve", func(ctx ctxt, x space, axis int) (op[T], error) {
			return ops.NonStationaryConvolve1D(ctx, x, axis, [][]T{numbers[T](3), numbers[T](4)[1:], numbers[T](5)[2:]}, []int{0, 2, 4})
		}),
		along: func(ctx ctxt, x space, axis int) (op[T], error) {
			return ops.NonStationaryConvolve1D(ctx, x, axis, [][]T{{1}}, []int{0})
		},
		bad: []badCase[T]{
			{"filters", func(ctx ctxt, x space, _ int) (op[T], error) {
				return ops.NonStationaryConvolve1D(ctx, x, 0, [][]T{{1, 2}}, []int{0})
			}, []string{"2 samples", "odd"}},
			{"places of filters", func(ctx ctxt, x space, _ int) (op[T], error) {
				return ops.NonStationaryConvolve1D(ctx, x, 0, [][]T{{1}, {1}, {1}}, []int{0, 1, 5})
			}, []string{"equal steps"}},
		},
		extreme: []extremeCase[T]{
			{"filters from", two(func(v int) []int { return []int{v, 10} }), sizeSame},
			{"filters to", two(func(v int) []int { return []int{-10, v} }), sizeSame},
			{"filters far", two(func(v int) []int { return []int{-v, v} }), sizeSame},
			{"filters of very many", func(ctx ctxt, x space, v int) (op[T], error) {
				return on(x, dist.Layout{}, []int{1 << 50}, func(y space) (op[T], error) {
					return two(func(v int) []int { return []int{0, v} })(ctx, y, v)
				})
			}, nil},
		},
		golden: goldenTest[T]{names: []string{"NonStationaryConvolve1D", "MPINonStationaryConvolve1D"}, make: func(t *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			sh, hs := golden.Array[T](t, c, "hs")
			return ops.NonStationaryConvolve1D(ctx, x, c.Int("axis"), slices.Collect(slices.Chunk(hs, sh[1])), c.Ints("ih"))
		}},
	}
}

func BenchmarkNonStationaryConvolve1D(b *testing.B) {
	onTypes(b, plain, benchNonStationary[float32], benchNonStationary[float64])
}

func benchNonStationary[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	filters := [][]T{numbers[T](21), numbers[T](22)[1:], numbers[T](23)[2:], numbers[T](24)[3:]}
	return ops.NonStationaryConvolve1D(ctx, x, 0, filters, []int{100, 700, 1300, 1900})
}

func ExampleNonStationaryConvolve1D() {
	show([]int{5}, []float64{1, 0, 0, 0, 1}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.NonStationaryConvolve1D(ctx, x, 0, [][]float64{{0, 1, 2}, {3, 4, 0}}, []int{0, 4})
	})
	// Output: [1 2 0 3 4]
}
