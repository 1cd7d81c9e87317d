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

func ExampleNewIdentity() {
	show([]int{3}, []float64{1, 2, 3}, func(_ ctxt, x space) (op, error) { return ops.NewIdentity[float64](x) })
	// Output: [1 2 3]
}

func ExampleNewResize() {
	show([]int{3}, []float64{1, 2, 3}, func(ctx ctxt, x space) (op, error) { return ops.NewResize[float64](ctx, x, 0, 5) })
	// Output: [1 2 3 0 0]
}

func ExampleNewZero() {
	show([]int{3}, []float64{1, 2, 3}, func(_ ctxt, x space) (op, error) { return ops.NewZero[float64, float64](x, x) })
	// Output: [0 0 0]
}

func ExampleNewDiagonal() {
	show([]int{3}, []float64{1, 2, 3}, func(ctx ctxt, x space) (op, error) {
		d, err := dist.FromFunc(ctx, x, func(i []int) float64 { return float64(10 * i[0]) })
		if err != nil {
			return nil, err
		}
		return ops.NewDiagonal(d)
	})
	// Output: [0 20 60]
}

func ExampleNewDiagonalAlong() {
	show([]int{2, 2}, []float64{1, 2, 3, 4}, func(ctx ctxt, x space) (op, error) {
		return ops.NewDiagonalAlong(ctx, x, 0, []float64{1, 10})
	})
	// Output: [1 2 30 40]
}

func ExampleNewMatrixMult() {
	show([]int{3}, []float64{1, 2, 3}, func(ctx ctxt, x space) (op, error) {
		a := []float64{1, 1, 1, 0, 0, 1} // the rows of both ranks
		me := x.Comm().Rank()
		return ops.NewMatrixMult(ctx, x, 2, a[3*me:3*me+3])
	})
	// Output: [6 3]
}

func ExampleNewRestriction() {
	show([]int{5}, []float64{0, 1, 2, 3, 4}, func(ctx ctxt, x space) (op, error) {
		return ops.NewRestriction[float64](ctx, x, 0, []int{1, 4})
	})
	// Output: [1 4]
}

func ExampleNewTranspose() {
	show([]int{2, 3}, []float64{1, 2, 3, 4, 5, 6}, func(ctx ctxt, x space) (op, error) {
		return ops.NewTranspose[float64](ctx, x, 1, 0)
	})
	// Output: [1 4 2 5 3 6]
}

func ExampleNewFlip() {
	show([]int{5}, []float64{1, 2, 3, 4, 5}, func(ctx ctxt, x space) (op, error) { return ops.NewFlip[float64](ctx, x, 0) })
	// Output: [5 4 3 2 1]
}

func ExampleNewRoll() {
	show([]int{5}, []float64{1, 2, 3, 4, 5}, func(ctx ctxt, x space) (op, error) { return ops.NewRoll[float64](ctx, x, 0, 2) })
	// Output: [4 5 1 2 3]
}

func ExampleNewPad() {
	show([]int{3}, []float64{1, 2, 3}, func(ctx ctxt, x space) (op, error) {
		return ops.NewPad[float64](ctx, x, []int{1}, []int{2})
	})
	// Output: [0 1 2 3 0 0]
}

func ExampleNewSum() {
	show([]int{2, 3}, []float64{1, 2, 3, 4, 5, 6}, func(ctx ctxt, x space) (op, error) { return ops.NewSum[float64](ctx, x, 0) })
	// Output: [5 7 9]
}

func ExampleNewSpread() {
	show([]int{1, 2}, []float64{1, 10}, func(ctx ctxt, x space) (op, error) {
		// Sample t0 goes to sample t0+x of trace x.
		return ops.NewSpread[float64](ctx, x, 2, 3, func(_, t0, x int) (int, float64, bool) { return t0 + x, 0, true })
	})
	// Output: [1 10 0 0 1 10]
}

func ExampleNewSymmetrize() {
	show([]int{3}, []float64{1, 2, 3}, func(ctx ctxt, x space) (op, error) { return ops.NewSymmetrize[float64](ctx, x, 0) })
	// Output: [3 2 1 2 3]
}

func ExampleNewCausalIntegration() {
	show([]int{4}, []float64{1, 1, 1, 1}, func(ctx ctxt, x space) (op, error) {
		return ops.NewCausalIntegration[float64](ctx, x, 0, ops.Integration{Sampling: 0.5})
	})
	// Output: [0.5 1 1.5 2]
}

func ExampleNewSmoothing1D() {
	show([]int{5}, []float64{0, 0, 3, 0, 0}, func(ctx ctxt, x space) (op, error) {
		return ops.NewSmoothing1D[float64](ctx, x, 0, 3)
	})
	// Output: [0 1 1 1 0]
}

func ExampleNewSmoothing2D() {
	show([]int{3, 3}, []float64{0, 0, 0, 0, 9, 0, 0, 0, 0}, func(ctx ctxt, x space) (op, error) {
		return ops.NewSmoothing2D[float64](ctx, x, [2]int{0, 1}, [2]int{1, 3})
	})
	// Output: [0 0 0 3 3 3 0 0 0]
}

func ExampleNewRegression() {
	show([]int{4}, []float64{1, 0, 2}, func(ctx ctxt, y space) (op, error) {
		return ops.NewRegression[float64](ctx, y, []float64{0, 1, 2, 3}, 2) // 1 + 2t²
	})
	// Output: [1 3 9 19]
}

func ExampleNewLinearRegression() {
	show([]int{4}, []float64{1, 2}, func(ctx ctxt, y space) (op, error) {
		return ops.NewLinearRegression[float64](ctx, y, []float64{0, 1, 2, 3}) // 1 + 2t
	})
	// Output: [1 3 5 7]
}

func ExampleNewHalo() {
	show([]int{4}, []float64{1, 2, 3, 4}, func(ctx ctxt, x space) (op, error) {
		return ops.NewHalo[float64](ctx, x, ops.Halo{Front: []int{1}, Back: []int{1}})
	})
	// Output: [1 2 3 2 3 4]
}

func ExampleNewFirstDerivative() {
	show([]int{5}, []float64{0, 1, 4, 9, 16}, func(ctx ctxt, x space) (op, error) {
		return ops.NewFirstDerivative[float64](ctx, x, 0, ops.Derivative{})
	})
	// Output: [0 2 4 6 0]
}

func ExampleNewSecondDerivative() {
	show([]int{5}, []float64{0, 1, 4, 9, 16}, func(ctx ctxt, x space) (op, error) {
		return ops.NewSecondDerivative[float64](ctx, x, 0, ops.Derivative{Edge: true})
	})
	// Output: [2 2 2 2 2]
}

func ExampleNewLaplacian() {
	show([]int{3, 3}, []float64{0, 0, 0, 0, 1, 0, 0, 0, 0}, func(ctx ctxt, x space) (op, error) {
		return ops.NewLaplacian[float64](ctx, x, ops.Laplacian{})
	})
	// Output: [0 0 0 0 -4 0 0 0 0]
}

func ExampleNewGradient() {
	show([]int{2, 2}, []float64{0, 1, 10, 11}, func(ctx ctxt, x space) (op, error) {
		return ops.NewGradient[float64](ctx, x, nil, ops.Derivative{Kind: ops.Forward})
	})
	// Output: [10 10 0 0 1 0 1 0]
}

func ExampleNewConvolve1D() {
	show([]int{5}, []float64{0, 1, 0, 0, 0}, func(ctx ctxt, x space) (op, error) {
		return ops.NewConvolve1D(ctx, x, 0, []float64{1, 2, 3}, 1)
	})
	// Output: [1 2 3 0 0]
}

func ExampleNewNonStationaryConvolve1D() {
	show([]int{5}, []float64{1, 0, 0, 0, 1}, func(ctx ctxt, x space) (op, error) {
		return ops.NewNonStationaryConvolve1D(ctx, x, 0, [][]float64{{0, 1, 2}, {3, 4, 0}}, []int{0, 4})
	})
	// Output: [1 2 0 3 4]
}

func ExampleNewReal() {
	err := launch.Config{Ranks: 1}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		x, err := dist.NewSpace(ctx, r, dist.Layout{}, 2)
		if err != nil {
			return err
		}
		re, err := ops.NewReal[complex64, float32](x)
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

func ExampleNewImag() {
	err := launch.Config{Ranks: 1}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		x, err := dist.NewSpace(ctx, r, dist.Layout{}, 2)
		if err != nil {
			return err
		}
		im, err := ops.NewImag[complex64, float32](x)
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
