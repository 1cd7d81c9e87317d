package ops_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
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
		forms: []form[T]{{name: "convolve in two axes", make: lastTwo}, {name: "convolve by FFT", make: func(ctx ctxt, x space) (op[T], error) {
			return filtered(3, ops.ConvolveOptions{Axes: []int{0}, Extents: []int{3}, Offset: []int{1}, Method: ops.ConvolveFFT})(ctx, x, 0)
		}}},
		nowhere: func(ctx ctxt) (op[T], error) { return filtered(1, ops.ConvolveOptions{Extents: []int{1}})(ctx, nil, 0) },
		bad: []badCase[T]{
			{"filter of three axes", filtered(8, ops.ConvolveOptions{Extents: []int{2, 2, 2}}), []string{"3 axes", "the array 2"}},
			{"method of a filter", filtered(2, ops.ConvolveOptions{Extents: []int{2}, Method: 7}), []string{"method is 7", "ConvolveFFT"}},
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

// Both methods give the same, for filters that are shorter and longer than the axes.
func TestConvolveFFT(t *testing.T) {
	eachHomeBy(t, dist.Messages, func(ctx ctxt, x space) error {
		return errors.Join(convolveBothWays[float64](ctx, x), convolveBothWays[complex128](ctx, x))
	})
}

func convolveBothWays[T scalar.Scalar](ctx ctxt, x space) error {
	axes := make([]int, x.Shape().NDim())
	for a := range axes {
		axes[a] = len(axes) - 1 - a
	}
	for _, extents := range [][]int{{2, 3, 2}, {9, 1, 2}, {1, 8, 9}} {
		extents := extents[:len(axes)]
		offset := []int{1, 0, 1}[:len(axes)]
		if extents[0] == 1 {
			offset = []int{0, 7, 8}[:len(axes)]
		}
		var results [2][]T
		for method := range results {
			a, err := ops.ConvolveND(ctx, x, numbers[T](shape.Of(extents...).Size()), ops.ConvolveOptions{Axes: axes, Extents: extents, Offset: offset, Method: ops.ConvolveMethod(method)})
			if err != nil {
				return err
			}
			for seed, b := range []op[T]{a, linop.H(a)} {
				u, err := dist.Random[T](ctx, x, uint64(seed))
				if err != nil {
					return err
				}
				v, err := linop.Apply(ctx, b, u)
				if err != nil {
					return err
				}
				all, err := gather(ctx, v)
				if err != nil {
					return err
				}
				results[method] = append(results[method], all...)
			}
		}
		if err := near(results[1], results[0], 1e-13); err != nil {
			return fmt.Errorf("a filter of %v: %w", extents, err)
		}
	}
	return nil
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
