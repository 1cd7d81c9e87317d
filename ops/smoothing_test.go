package ops_test

import (
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var (
	_ = register(smoothing1Test[float32], smoothing1Test[float64], smoothing1Test[complex64], smoothing1Test[complex128])
	_ = register(smoothing2Test[float32], smoothing2Test[float64], smoothing2Test[complex64], smoothing2Test[complex128])
)

func smoothing1Test[T scalar.Scalar]() operatorTest[T] {
	over3 := func(ctx ctxt, x space, axis int) (op[T], error) { return ops.Smoothing1D[T](ctx, x, axis, 3) }
	return operatorTest[T]{
		forms: onAxes("smoothing", over3),
		along: over3,
		bad: []badCase[T]{
			{"smoothing", func(ctx ctxt, x space, _ int) (op[T], error) { return ops.Smoothing1D[T](ctx, x, 0, 0) }, []string{"smoothing", "length 0"}},
		},
		extreme: []extremeCase[T]{
			{"smoothing", func(ctx ctxt, x space, v int) (op[T], error) { return ops.Smoothing1D[T](ctx, x, 0, v) }, sizeSame},
			{"smoothing axis", over3, nil},
			{"smoothing of very many", func(ctx ctxt, x space, v int) (op[T], error) {
				if v == 1<<10 {
					v = 5 // it is possible, but takes long
				}
				return on(x, dist.Layout{}, []int{1 << 50}, func(y space) (op[T], error) { return ops.Smoothing1D[T](ctx, y, 0, v) })
			}, nil},
		},
		golden: goldenTest[T]{names: []string{"Smoothing1D"}, make: func(_ *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			return ops.Smoothing1D[T](ctx, x, c.Int("axis"), c.Int("nsmooth"))
		}},
		overlap: []form[T]{{name: "smoothing", make: smoothing1[T](3)}},
	}
}

func smoothing2Test[T scalar.Scalar]() operatorTest[T] {
	return operatorTest[T]{
		forms: []form[T]{{name: "smoothing 2d", make: func(ctx ctxt, x space) (op[T], error) {
			return ops.Smoothing2D[T](ctx, x, [2]int{0, -1}, [2]int{3, 5})
		}}},
		along: func(ctx ctxt, x space, axis int) (op[T], error) {
			return ops.Smoothing2D[T](ctx, x, [2]int{0, axis}, [2]int{3, 3})
		},
		golden: goldenTest[T]{names: []string{"Smoothing2D"}, make: func(_ *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			return ops.Smoothing2D[T](ctx, x, [2]int(c.Ints("axes")), [2]int(c.Ints("nsmooth")))
		}},
	}
}

func smoothing1[T scalar.Scalar](n int) newOp[T] {
	return func(ctx ctxt, x space) (op[T], error) { return ops.Smoothing1D[T](ctx, x, 0, n) }
}

func BenchmarkSmoothing1D(b *testing.B) {
	onTypes(b, plain, smoothing1[float32](5), smoothing1[float64](5))
}

func BenchmarkSmoothing2D(b *testing.B) {
	onTypes(b, plain, benchSmoothing2[float32], benchSmoothing2[float64])
}

func benchSmoothing2[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	return ops.Smoothing2D[T](ctx, x, [2]int{0, 1}, [2]int{5, 5})
}

func ExampleSmoothing1D() {
	show([]int{5}, []float64{0, 0, 3, 0, 0}, smoothing1[float64](3))
	// Output: [0 1 1 1 0]
}

func ExampleSmoothing2D() {
	show([]int{3, 3}, []float64{0, 0, 0, 0, 9, 0, 0, 0, 0}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.Smoothing2D[float64](ctx, x, [2]int{0, 1}, [2]int{1, 3})
	})
	// Output: [0 0 0 3 3 3 0 0 0]
}
