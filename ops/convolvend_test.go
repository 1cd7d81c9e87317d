package ops_test

import (
	"testing"

	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(convolveNDTest[float32], convolveNDTest[float64], convolveNDTest[complex64], convolveNDTest[complex128])

func convolveNDTest[T scalar.Scalar]() operatorTest[T] {
	filtered := func(n int, o ops.ConvolveOptions) func(ctx ctxt, x space, _ int) (op[T], error) {
		return func(ctx ctxt, x space, _ int) (op[T], error) { return ops.ConvolveND(ctx, x, numbers[T](n), o) }
	}
	lastTwo := func(ctx ctxt, x space) (op[T], error) {
		if x.Shape().NDim() == 1 {
			return filtered(4, ops.ConvolveOptions{Extents: []int{4}, Offset: []int{2}})(ctx, x, 0)
		}
		return ops.Convolve2D(ctx, x, [2]int{-2, -1}, numbers[T](6), [2]int{3, 2}, [2]int{1, 0})
	}
	return operatorTest[T]{
		forms:   []form[T]{{name: "convolve in two axes", make: lastTwo}},
		nowhere: func(ctx ctxt) (op[T], error) { return filtered(1, ops.ConvolveOptions{Extents: []int{1}})(ctx, nil, 0) },
		bad: []badCase[T]{
			{"filter of three axes", filtered(8, ops.ConvolveOptions{Extents: []int{2, 2, 2}}), []string{"3 axes", "the array 2"}},
			{"no extents", filtered(2, ops.ConvolveOptions{}), []string{"0 axes"}},
			{"negative extent", filtered(2, ops.ConvolveOptions{Extents: []int{-1, -2}}), []string{"extent 0", "-1"}},
			{"extents", filtered(5, ops.ConvolveOptions{Extents: []int{2, 2}}), []string{"5 numbers", "[2 2]"}},
			{"axis twice", filtered(4, ops.ConvolveOptions{Extents: []int{2, 2}, Axes: []int{1, -1}}), []string{"twice"}},
			{"filter without its axes", filtered(4, ops.ConvolveOptions{Extents: []int{2, 2}, Axes: []int{1}}), []string{"axes [1]", "2 axes"}},
			{"axis of a filter", filtered(4, ops.ConvolveOptions{Extents: []int{2, 2}, Axes: []int{1, 2}}), []string{"axis 2"}},
			{"offset of a filter", filtered(4, ops.ConvolveOptions{Extents: []int{2, 2}, Offset: []int{0, 2}}), []string{"offset 1 is 2", "0 to 1"}},
		},
		golden: goldenTest[T]{names: []string{"Convolve2D", "ConvolveND"}, make: func(t *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			_, h := golden.Array[T](t, c, "h")
			axes, extents, offset := c.Ints("axes"), c.Ints("extents"), c.Ints("offset")
			if c.Op == "Convolve2D" {
				return ops.Convolve2D(ctx, x, [2]int(axes), h, [2]int(extents), [2]int(offset))
			}
			return ops.ConvolveND(ctx, x, h, ops.ConvolveOptions{Axes: axes, Extents: extents, Offset: offset})
		}},
		messages: []messageCase[T]{{"convolve in two axes", lastTwo, sentToNeighbours, 0}},
	}
}

func BenchmarkConvolve2D(b *testing.B) {
	onTypes(b, plain, benchConvolve2D[float32], benchConvolve2D[float64])
}

func benchConvolve2D[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	return ops.Convolve2D(ctx, x, [2]int{0, 1}, numbers[T](49), [2]int{7, 7}, [2]int{3, 3})
}

func ExampleConvolve2D() {
	show([]int{3, 3}, []float64{0, 0, 0, 0, 1, 0, 0, 0, 0}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.Convolve2D(ctx, x, [2]int{0, 1}, []float64{1, 2, 3, 4}, [2]int{2, 2}, [2]int{0, 1})
	})
	// Output: [0 0 0 1 2 0 3 4 0]
}

func ExampleConvolveND() {
	show([]int{2, 3}, []float64{1, 0, 0, 0, 1, 0}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.ConvolveND(ctx, x, []float64{1, 2}, ops.ConvolveOptions{Extents: []int{2}}) // along the last axis
	})
	// Output: [1 2 0 0 1 2]
}
