package ops_test

import (
	"math"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var (
	_ = register(regressionTest[float32], regressionTest[float64], regressionTest[complex64], regressionTest[complex128])
	_ = register(linearRegressionTest[float32], linearRegressionTest[float64], linearRegressionTest[complex64], linearRegressionTest[complex128])
)

// samples are those of both regressions.
var samples = []float64{0, 0.5, 1, 2, -1}

func regressionTest[T scalar.Scalar]() operatorTest[T] {
	return operatorTest[T]{
		forms: []form[T]{{name: "regression", make: func(ctx ctxt, x space) (op[T], error) {
			return on(x, dist.Split(0), []int{5}, func(y space) (op[T], error) { return ops.Regression[T](ctx, y, samples, 2) })
		}}},
		nowhere: func(ctx ctxt) (op[T], error) { return ops.Regression[T](ctx, nil, nil, 1) },
		bad: []badCase[T]{
			{"part of a regression", func(ctx ctxt, x space, _ int) (op[T], error) {
				return on(x, dist.Split(0), []int{7}, func(y space) (op[T], error) {
					return ops.Regression[T](ctx, y, make([]float64, y.LocalShape().Size()), 2)
				})
			}, []string{"of shape [7], must be 7", "give those of all ranks"}},
			{"regression", func(ctx ctxt, x space, _ int) (op[T], error) {
				return ops.Regression[T](ctx, x, make([]float64, 7), 2)
			}, []string{"regression", "7 samples", "[7 5]"}},
		},
		extreme: []extremeCase[T]{
			{"regression order", func(ctx ctxt, x space, v int) (op[T], error) {
				return ops.Regression[T](ctx, x, make([]float64, 24), v)
			}, sizeSame},
			{"regression of nothing", func(ctx ctxt, x space, v int) (op[T], error) {
				return on(x, dist.Layout{}, []int{0}, func(y space) (op[T], error) { return ops.Regression[T](ctx, y, nil, v) })
			}, func(_, _ float64) float64 { return 0 }},
		},
		golden: goldenTest[T]{names: []string{"Regression"}, dims: dimsOfData, make: func(t *testing.T, ctx ctxt, y space, c golden.Case) (op[T], error) {
			_, taxis := golden.Array[float64](t, c, "taxis")
			return ops.Regression[T](ctx, y, taxis, c.Int("order"))
		}},
	}
}

// dimsOfData are for operators whose data are split and whose model is replicated.
func dimsOfData(c golden.Case) []int { return c.Dimsd }

func linearRegressionTest[T scalar.Scalar]() operatorTest[T] {
	return operatorTest[T]{
		forms: []form[T]{{name: "linear regression", make: func(ctx ctxt, x space) (op[T], error) {
			return on(x, dist.Split(0), []int{5}, func(y space) (op[T], error) { return ops.LinearRegression[T](ctx, y, samples) })
		}}},
		nowhere: func(ctx ctxt) (op[T], error) { return ops.LinearRegression[T](ctx, nil, nil) },
		bad: []badCase[T]{
			{"NaN sample of a regression", func(ctx ctxt, x space, _ int) (op[T], error) {
				return on(x, dist.Split(0), []int{2}, func(y space) (op[T], error) {
					return ops.LinearRegression[T](ctx, y, []float64{0, math.NaN()})
				})
			}, []string{"regression", "sample 1 is at NaN"}},
		},
		golden: goldenTest[T]{names: []string{"LinearRegression"}, dims: dimsOfData, make: func(t *testing.T, ctx ctxt, y space, c golden.Case) (op[T], error) {
			_, taxis := golden.Array[float64](t, c, "taxis")
			return ops.LinearRegression[T](ctx, y, taxis)
		}},
	}
}

func BenchmarkRegression(b *testing.B) {
	onTypes(b, with(3*benchRows*benchCols), benchRegression[float32](2), benchRegression[float64](2))
}

func BenchmarkLinearRegression(b *testing.B) {
	onTypes(b, with(2*benchRows*benchCols), benchRegression[float32](1), benchRegression[float64](1))
}

func benchRegression[T scalar.Scalar](order int) newOp[T] {
	return func(ctx ctxt, x space) (op[T], error) {
		return on(x, dist.Split(0), []int{benchRows * benchCols}, func(y space) (op[T], error) {
			return ops.Regression[T](ctx, y, numbers[float64](y.Size()), order)
		})
	}
}

func ExampleRegression() {
	show([]int{4}, []float64{1, 0, 2}, func(ctx ctxt, y space) (op[float64], error) {
		return ops.Regression[float64](ctx, y, []float64{0, 1, 2, 3}, 2) // 1 + 2t²
	})
	// Output: [1 3 9 19]
}

func ExampleLinearRegression() {
	show([]int{4}, []float64{1, 2}, func(ctx ctxt, y space) (op[float64], error) {
		return ops.LinearRegression[float64](ctx, y, []float64{0, 1, 2, 3}) // 1 + 2t
	})
	// Output: [1 3 5 7]
}
