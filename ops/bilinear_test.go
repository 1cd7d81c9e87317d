package ops_test

import (
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(bilinearTest[float32], bilinearTest[float64], bilinearTest[complex64], bilinearTest[complex128])

func bilinearTest[T scalar.Scalar]() operatorTest[T] {
	at := func(i, j []float64) func(ctx ctxt, x space, _ int) (op[T], error) {
		return func(ctx ctxt, x space, _ int) (op[T], error) { return ops.Bilinear[T](ctx, x, [2][]float64{i, j}) }
	}
	good := at([]float64{0.25, 3, 2, 0, 1.5}, []float64{1.75, 2, 0, 0.5, 1.5})
	return operatorTest[T]{
		forms: []form[T]{{name: "bilinear", make: func(ctx ctxt, x space) (op[T], error) {
			if x.Shape().NDim() == 1 {
				return on(x, dist.Layout{}, []int{5, 4}, func(y space) (op[T], error) { return good(ctx, y, 0) })
			}
			return good(ctx, x, 0)
		}}},
		nowhere: func(ctx ctxt) (op[T], error) { return good(ctx, nil, 0) },
		bad: []badCase[T]{
			{"one axis", func(ctx ctxt, x space, _ int) (op[T], error) {
				return on(x, dist.Layout{}, []int{9}, func(y space) (op[T], error) { return good(ctx, y, 0) })
			}, []string{"one axis"}},
			{"pairs", at([]float64{1}, []float64{1, 2}), []string{"1 places", "2 along axis 1", "pairs"}},
			{"place of a pair", at([]float64{1}, []float64{4.5}), []string{"axis 1", "place 0 is 4.5", "0 to 4"}},
		},
		golden: goldenTest[T]{names: []string{"Bilinear"}, make: func(t *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			_, i := golden.Array[float64](t, c, "iava0")
			_, j := golden.Array[float64](t, c, "iava1")
			return ops.Bilinear[T](ctx, x, [2][]float64{i, j})
		}},
		messages: []messageCase[T]{{"bilinear", func(ctx ctxt, x space) (op[T], error) { return good(ctx, x, 0) }, sentNone, 1}},
	}
}

func BenchmarkBilinear(b *testing.B) {
	onTypes(b, plain, benchBilinear[float32], benchBilinear[float64])
}

func benchBilinear[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	var at [2][]float64
	for i := range benchRows - 1 {
		at[0], at[1] = append(at[0], float64(i)+0.5), append(at[1], float64(i%(benchCols-1))+0.5)
	}
	return ops.Bilinear[T](ctx, x, at)
}

func ExampleBilinear() {
	show([]int{2, 2}, []float64{0, 1, 10, 11}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.Bilinear[float64](ctx, x, [2][]float64{{0.5, 0}, {0.5, 0.25}})
	})
	// Output: [5.5 0.25]
}
