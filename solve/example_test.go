package solve_test

import (
	"context"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/solve"
)

// Three ranks fit a straight line to five points. Rank 0 shows the progress.
func ExampleRun() {
	launch.Config{Ranks: 3}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{}, 5)
		if err != nil {
			return err
		}
		line, err := ops.LinearRegression[float64](ctx, s, []float64{0, 1, 2, 3, 4})
		if err != nil {
			return err
		}
		b, err := dist.FromFunc(ctx, s, func(i []int) float64 { return []float64{1, 3, 4, 7, 10}[i[0]] })
		if err != nil {
			return err
		}
		x, err := dist.New[float64](line.Domain())
		if err != nil {
			return err
		}
		c := solve.Defaults()
		c.GradTol = 1e-10
		if r.Rank() == 0 {
			c.OnIter = func(it solve.Iteration) error {
				fmt.Printf("iteration %d: residual %.3f\n", it.K, it.Resid)
				return nil // or solve.ErrStop
			}
		}
		res, err := solve.Run(ctx, &solve.CGLS[float64, float64]{}, solve.Problem[float64, float64]{A: line, B: b}, x, c)
		if err != nil {
			return err
		}
		all, err := dist.AllGather(ctx, x)
		if r.Rank() == 0 {
			fmt.Printf("%v: %.2f\n", res.Status, all)
		}
		return err
	})
	// Output:
	// iteration 0: residual 13.229
	// iteration 1: residual 1.279
	// iteration 2: residual 1.265
	// converged: [0.60 2.20]
}

// Every other point of a line is missing. A second derivative that is to be
// small fills the gaps.
func ExampleRegularize() {
	launch.Config{Ranks: 2}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{}, 7)
		if err != nil {
			return err
		}
		some, err := ops.Restriction[float64](ctx, s, 0, []int{0, 2, 4, 6})
		if err != nil {
			return err
		}
		b, err := dist.FromFunc(ctx, some.Range(), func(i []int) float64 { return float64(4 * i[0]) })
		if err != nil {
			return err
		}
		bend, err := ops.SecondDerivative[float64](ctx, s, 0, ops.DerivativeDefaults())
		if err != nil {
			return err
		}
		p, err := solve.Regularize(solve.Problem[float64, float64]{A: some, B: b}, solve.Term[float64, float64]{R: bend, Weight: 0.1})
		if err != nil {
			return err
		}
		x, err := dist.New[float64](s)
		if err != nil {
			return err
		}
		if _, err := solve.Run(ctx, &solve.LSQR[float64, float64]{}, p, x, solve.Defaults()); err != nil {
			return err
		}
		all, err := dist.AllGather(ctx, x)
		if r.Rank() == 0 {
			fmt.Printf("%.2f\n", all)
		}
		return err
	})
	// Output: [0.00 2.00 4.00 6.00 8.00 10.00 12.00]
}
