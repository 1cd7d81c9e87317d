package ops_test

import (
	"context"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
)

// show prints what an operator over an array of these dims makes of it, split
// over two goroutine ranks.
func show(dims []int, x []float64, op func(ctx context.Context, x *dist.Space) (linop.Operator[float64], error)) {
	err := launch.Config{Ranks: 2}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		space, err := dist.NewSpace(ctx, r, dist.Layout{}, dims...)
		if err != nil {
			return err
		}
		a, err := op(ctx, space)
		if err != nil {
			return err
		}
		v, err := scatter(ctx, a.Domain(), x)
		if err != nil {
			return err
		}
		y, err := linop.Apply(ctx, a, v)
		if err != nil {
			return err
		}
		all, err := gather(ctx, y)
		if err == nil && r.Rank() == 0 {
			fmt.Println(all)
		}
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
}

type (
	ctxt  = context.Context
	space = *dist.Space
	op    = linop.Operator[float64]
)

func ExampleIdentity() {
	show([]int{3}, []float64{1, 2, 3}, func(_ ctxt, x space) (op, error) { return ops.Identity[float64](x) })
	// Output: [1 2 3]
}

func ExampleResize() {
	show([]int{3}, []float64{1, 2, 3}, func(ctx ctxt, x space) (op, error) { return ops.Resize[float64](ctx, x, 0, 5) })
	// Output: [1 2 3 0 0]
}

func ExampleZero() {
	show([]int{3}, []float64{1, 2, 3}, func(_ ctxt, x space) (op, error) { return ops.Zero[float64, float64](x, x) })
	// Output: [0 0 0]
}

func ExampleDiagonal() {
	show([]int{3}, []float64{1, 2, 3}, func(ctx ctxt, x space) (op, error) {
		d, err := dist.FromFunc(ctx, x, func(i []int) float64 { return float64(10 * i[0]) })
		if err != nil {
			return nil, err
		}
		return ops.Diagonal(d)
	})
	// Output: [0 20 60]
}

func ExampleDiagonalAlong() {
	show([]int{2, 2}, []float64{1, 2, 3, 4}, func(ctx ctxt, x space) (op, error) {
		return ops.DiagonalAlong(ctx, x, 0, []float64{1, 10})
	})
	// Output: [1 2 30 40]
}

func ExampleMatrixMult() {
	show([]int{3}, []float64{1, 2, 3}, func(ctx ctxt, x space) (op, error) {
		a := []float64{1, 1, 1, 0, 0, 1} // the rows of both ranks
		me := x.Comm().Rank()
		return ops.MatrixMult(ctx, x, 2, a[3*me:3*me+3])
	})
	// Output: [6 3]
}

func ExampleRestriction() {
	show([]int{5}, []float64{0, 1, 2, 3, 4}, func(ctx ctxt, x space) (op, error) {
		return ops.Restriction[float64](ctx, x, 0, []int{1, 4})
	})
	// Output: [1 4]
}

func ExampleTranspose() {
	show([]int{2, 3}, []float64{1, 2, 3, 4, 5, 6}, func(ctx ctxt, x space) (op, error) {
		return ops.Transpose[float64](ctx, x, 1, 0)
	})
	// Output: [1 4 2 5 3 6]
}

func ExampleFlip() {
	show([]int{5}, []float64{1, 2, 3, 4, 5}, func(ctx ctxt, x space) (op, error) { return ops.Flip[float64](ctx, x, 0) })
	// Output: [5 4 3 2 1]
}

func ExampleRoll() {
	show([]int{5}, []float64{1, 2, 3, 4, 5}, func(ctx ctxt, x space) (op, error) { return ops.Roll[float64](ctx, x, 0, 2) })
	// Output: [4 5 1 2 3]
}

func ExamplePad() {
	show([]int{3}, []float64{1, 2, 3}, func(ctx ctxt, x space) (op, error) {
		return ops.Pad[float64](ctx, x, []int{1}, []int{2})
	})
	// Output: [0 1 2 3 0 0]
}

func ExampleSum() {
	show([]int{2, 3}, []float64{1, 2, 3, 4, 5, 6}, func(ctx ctxt, x space) (op, error) { return ops.Sum[float64](ctx, x, 0) })
	// Output: [5 7 9]
}

func ExampleSpread() {
	show([]int{1, 2}, []float64{1, 10}, func(ctx ctxt, x space) (op, error) {
		// Sample t0 goes to sample t0+x of trace x.
		return ops.Spread[float64](ctx, x, 2, 3, func(_, t0, x int) (int, float64, bool) { return t0 + x, 0, true })
	})
	// Output: [1 10 0 0 1 10]
}

func ExampleSymmetrize() {
	show([]int{3}, []float64{1, 2, 3}, func(ctx ctxt, x space) (op, error) { return ops.Symmetrize[float64](ctx, x, 0) })
	// Output: [3 2 1 2 3]
}

func ExampleCausalIntegration() {
	show([]int{4}, []float64{1, 1, 1, 1}, func(ctx ctxt, x space) (op, error) {
		return ops.CausalIntegration[float64](ctx, x, 0, ops.IntegrationOptions{Sampling: 0.5})
	})
	// Output: [0.5 1 1.5 2]
}

func ExampleSmoothing1D() {
	show([]int{5}, []float64{0, 0, 3, 0, 0}, func(ctx ctxt, x space) (op, error) {
		return ops.Smoothing1D[float64](ctx, x, 0, 3)
	})
	// Output: [0 1 1 1 0]
}

func ExampleSmoothing2D() {
	show([]int{3, 3}, []float64{0, 0, 0, 0, 9, 0, 0, 0, 0}, func(ctx ctxt, x space) (op, error) {
		return ops.Smoothing2D[float64](ctx, x, [2]int{0, 1}, [2]int{1, 3})
	})
	// Output: [0 0 0 3 3 3 0 0 0]
}

func ExampleRegression() {
	show([]int{4}, []float64{1, 0, 2}, func(ctx ctxt, y space) (op, error) {
		return ops.Regression[float64](ctx, y, []float64{0, 1, 2, 3}, 2) // 1 + 2t²
	})
	// Output: [1 3 9 19]
}

func ExampleLinearRegression() {
	show([]int{4}, []float64{1, 2}, func(ctx ctxt, y space) (op, error) {
		return ops.LinearRegression[float64](ctx, y, []float64{0, 1, 2, 3}) // 1 + 2t
	})
	// Output: [1 3 5 7]
}

func ExampleHalo() {
	show([]int{4}, []float64{1, 2, 3, 4}, func(ctx ctxt, x space) (op, error) {
		return ops.Halo[float64](ctx, x, ops.HaloOptions{Front: []int{1}, Back: []int{1}})
	})
	// Output: [1 2 3 2 3 4]
}

func ExampleFirstDerivative() {
	show([]int{5}, []float64{0, 1, 4, 9, 16}, func(ctx ctxt, x space) (op, error) {
		return ops.FirstDerivative[float64](ctx, x, 0, ops.DerivativeDefaults())
	})
	// Output: [0 2 4 6 0]
}

func ExampleSecondDerivative() {
	show([]int{5}, []float64{0, 1, 4, 9, 16}, func(ctx ctxt, x space) (op, error) {
		return ops.SecondDerivative[float64](ctx, x, 0, ops.DerivativeOptions{Sampling: 1, Edge: true})
	})
	// Output: [2 2 2 2 2]
}

func ExampleLaplacian() {
	show([]int{3, 3}, []float64{0, 0, 0, 0, 1, 0, 0, 0, 0}, func(ctx ctxt, x space) (op, error) {
		return ops.Laplacian[float64](ctx, x, ops.LaplacianOptions{})
	})
	// Output: [0 0 0 0 -4 0 0 0 0]
}

func ExampleGradient() {
	show([]int{2, 2}, []float64{0, 1, 10, 11}, func(ctx ctxt, x space) (op, error) {
		return ops.Gradient[float64](ctx, x, ops.GradientOptions{Kind: ops.DerivativeForward})
	})
	// Output: [10 10 0 0 1 0 1 0]
}

func ExampleConvolve1D() {
	show([]int{5}, []float64{0, 1, 0, 0, 0}, func(ctx ctxt, x space) (op, error) {
		return ops.Convolve1D(ctx, x, 0, []float64{1, 2, 3}, 1)
	})
	// Output: [1 2 3 0 0]
}

func ExampleNonStationaryConvolve1D() {
	show([]int{5}, []float64{1, 0, 0, 0, 1}, func(ctx ctxt, x space) (op, error) {
		return ops.NonStationaryConvolve1D(ctx, x, 0, [][]float64{{0, 1, 2}, {3, 4, 0}}, []int{0, 4})
	})
	// Output: [1 2 0 3 4]
}

func ExampleReal() {
	err := launch.Config{Ranks: 1}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		x, err := dist.NewSpace(ctx, r, dist.Layout{}, 2)
		if err != nil {
			return err
		}
		re, err := ops.Real[complex64, float32](x)
		if err != nil {
			return err
		}
		v, err := dist.Scatter(ctx, x, []complex64{1 + 2i, 3 + 4i})
		if err != nil {
			return err
		}
		y, err := linop.Apply(ctx, re, v)
		fmt.Println(y.Local().Mem().Host)
		return err
	})
	fmt.Println(err)
	// Output:
	// [1 3]
	// <nil>
}

func ExampleImag() {
	err := launch.Config{Ranks: 1}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		x, err := dist.NewSpace(ctx, r, dist.Layout{}, 2)
		if err != nil {
			return err
		}
		im, err := ops.Imag[complex64, float32](x)
		if err != nil {
			return err
		}
		v, err := dist.Scatter(ctx, x, []complex64{1 + 2i, 3 + 4i})
		if err != nil {
			return err
		}
		y, err := linop.Apply(ctx, im, v)
		fmt.Println(y.Local().Mem().Host)
		return err
	})
	fmt.Println(err)
	// Output:
	// [2 4]
	// <nil>
}
