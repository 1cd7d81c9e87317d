package ops_test

import (
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var (
	_ = register(diagonalTest[float32], diagonalTest[float64], diagonalTest[complex64], diagonalTest[complex128])
	_ = register(diagonalAlongTest[float32], diagonalAlongTest[float64], diagonalAlongTest[complex64], diagonalAlongTest[complex128])
)

func diagonalTest[T scalar.Scalar]() operatorTest[T] {
	return operatorTest[T]{
		forms:   []form[T]{{name: "diagonal", make: diagonal[T](3)}},
		nowhere: func(ctxt) (op[T], error) { return ops.Diagonal(dist.Array[T]{}) },
		golden: goldenTest[T]{names: []string{"Diagonal"}, make: func(t *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			sh, d := golden.Array[T](t, c, "d")
			if len(sh) != len(c.Dims) {
				return ops.DiagonalAlong(ctx, x, c.Int("axis"), d)
			}
			a, err := scatter(ctx, x, d)
			if err != nil {
				return nil, err
			}
			return ops.Diagonal(a)
		}},
	}
}

// diagonal has numbers that depend on the first and, times last, on the last index.
func diagonal[T scalar.Scalar](last int) newOp[T] {
	return func(ctx ctxt, x space) (op[T], error) {
		d, err := dist.FromFunc(ctx, x, func(i []int) T { return number[T](i[0] + last*i[len(i)-1]) })
		if err != nil {
			return nil, err
		}
		return ops.Diagonal(d)
	}
}

func diagonalAlongTest[T scalar.Scalar]() operatorTest[T] {
	return operatorTest[T]{
		forms: []form[T]{{"diagonal along", func(ctx ctxt, x space) (op[T], error) {
			return ops.DiagonalAlong(ctx, x, 0, numbers[T](x.Shape().Dim(0)))
		}, func(x func(...int) T, _, i []int) T { return number[T](i[0]) * x(i...) }}},
		along: func(ctx ctxt, x space, axis int) (op[T], error) { return ops.DiagonalAlong(ctx, x, axis, make([]T, 5)) },
		bad: []badCase[T]{
			{"part of a diagonal", func(ctx ctxt, x space, _ int) (op[T], error) {
				return ops.DiagonalAlong(ctx, x, 0, make([]T, x.LocalShape().Dim(0)))
			}, []string{"for axis 0 of [7 5], must be 7", "give those of all ranks"}},
			{"diagonal", func(ctx ctxt, x space, me int) (op[T], error) {
				return ops.DiagonalAlong(ctx, x, 1, make([]T, onRank1(me, 5, 4)))
			}, []string{"rank 1", "4 numbers", "axis 1"}},
		},
	}
}

func BenchmarkDiagonal(b *testing.B) {
	onTypes(b, with(benchRows*benchCols), diagonal[float32](1), diagonal[float64](1))
}

func BenchmarkDiagonalAlong(b *testing.B) {
	onTypes(b, with(benchRows), benchDiagonalAlong[float32], benchDiagonalAlong[float64])
}

func benchDiagonalAlong[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	return ops.DiagonalAlong(ctx, x, 0, numbers[T](benchRows))
}

func ExampleDiagonal() {
	show([]int{3}, []float64{1, 2, 3}, func(ctx ctxt, x space) (op[float64], error) {
		d, err := dist.FromFunc(ctx, x, func(i []int) float64 { return float64(10 * i[0]) })
		if err != nil {
			return nil, err
		}
		return ops.Diagonal(d)
	})
	// Output: [0 20 60]
}

func ExampleDiagonalAlong() {
	show([]int{2, 2}, []float64{1, 2, 3, 4}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.DiagonalAlong(ctx, x, 0, []float64{1, 10})
	})
	// Output: [1 2 30 40]
}
