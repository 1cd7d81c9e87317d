package ops_test

import (
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(fredholmTest[float32], fredholmTest[float64], fredholmTest[complex64], fredholmTest[complex128])

func fredholmTest[T scalar.Scalar]() operatorTest[T] {
	over := func(dims ...int) func(ctx ctxt, x space, _ int) (op[T], error) {
		return func(ctx ctxt, x space, _ int) (op[T], error) {
			s, err := x.Like(dist.Split(0), dims...)
			if err != nil {
				return nil, err
			}
			g, err := dist.New[T](s)
			if err != nil {
				return nil, err
			}
			return ops.Fredholm1[T](ctx, g, x, ops.ProductOptions{})
		}
	}
	return operatorTest[T]{
		forms: []form[T]{{"Fredholm integral", func(ctx ctxt, x space) (op[T], error) {
			if x.Shape().NDim() == 1 {
				return on(x, dist.Split(0), []int{x.Shape().Dim(0), 2}, func(y space) (op[T], error) { return slices3[T](ctx, y) })
			}
			return slices3[T](ctx, x)
		}, nil}},
		nowhere: func(ctx ctxt) (op[T], error) {
			return ops.Fredholm1[T](ctx, dist.Array[T]{}, nil, ops.ProductOptions{})
		},
		bad: []badCase[T]{
			{"kernel of two axes", over(7, 5), []string{"Fredholm", "[7 5]", "slices, rows and columns"}},
			{"slices", over(6, 3, 5), []string{"Fredholm", "[6 3 5]", "[7 5]", "axis 0"}},
			{"columns", over(7, 3, 4), []string{"Fredholm", "[7 3 4]", "[7 5]", "4 columns", "5 rows of x"}},
		},
		golden: goldenTest[T]{names: []string{"MPIFredholm1"}, make: func(t *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			sh, values := golden.Array[T](t, c, "G")
			s, err := x.Like(dist.Split(0), sh...)
			if err != nil {
				return nil, err
			}
			g, err := dist.FromFunc(ctx, s, func(i []int) T { return values[(i[0]*sh[1]+i[1])*sh[2]+i[2]] })
			if err != nil {
				return nil, err
			}
			return ops.Fredholm1[T](ctx, g, x, ops.ProductOptions{})
		}},
	}
}

// slices3 multiplies each slice of x by 3 rows.
func slices3[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	l := dist.Split(0)
	if x.Replicated() { // so that the range is replicated too
		l = dist.Replicated
	}
	s, err := x.Like(l, x.Shape().Dim(0), 3, x.Shape().Dim(1))
	if err != nil {
		return nil, err
	}
	g, err := dist.FromFunc(ctx, s, func(i []int) T { return element[T](i[0]+i[1], i[2]) })
	if err := dist.Agree(ctx, x.Comm(), "kernel", err); err != nil { // memory may be short on one rank
		return nil, err
	}
	return ops.Fredholm1[T](ctx, g, x, ops.ProductOptions{})
}

func ExampleFredholm1() {
	show([]int{2, 2}, []float64{1, 2, 3, 4}, func(ctx ctxt, x space) (op[float64], error) {
		s, err := x.Like(dist.Split(0), 2, 1, 2) // a matrix of 1 × 2 for each of two slices
		if err != nil {
			return nil, err
		}
		g, err := dist.FromFunc(ctx, s, func(i []int) float64 { return float64(10*i[0] + i[2]) })
		if err != nil {
			return nil, err
		}
		return ops.Fredholm1[float64](ctx, g, x, ops.ProductOptions{})
	})
	// Output: [2 74]
}
