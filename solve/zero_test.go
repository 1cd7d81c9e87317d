package solve_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/solve"
)

// Zero means zero: the zero Config makes no step and leaves x alone, no tolerance
// is one that only an exact solution meets, and without a limit nothing diverges.
func TestZeroMeansZero(t *testing.T) {
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		return each(ctx, r, 11, func(m maker[float64], p problem[float64], x dist.Array[float64]) error {
			dist.Copy(x, p.truth)
			dist.Scale(x, 2, x)
			if res, err := ends(ctx, m, p, x, solve.Config{}, solve.MaxIter); err != nil || res.Iters != 0 {
				return fmt.Errorf("the zero Config made %d steps: %v", res.Iters, err)
			}
			dist.Scale(x, 0.5, x)
			if err := near(ctx, x, p.truth, 0); err != nil {
				return fmt.Errorf("the zero Config: %w", err)
			}
			dist.Zero(x)
			if _, err := ends(ctx, m, p, x, solve.Config{MaxIter: 500}, solve.AtRounding); err != nil {
				return fmt.Errorf("no tolerance: %w", err)
			}
			dist.Copy(x, p.truth) // A·x is b to the last bit
			if _, err := ends(ctx, m, p, x, solve.Config{MaxIter: 5}, solve.Converged); err != nil {
				return fmt.Errorf("the exact solution: %w", err)
			}
			dist.Zero(x)
			res, err := ends(ctx, m, p, x, solve.Config{MaxIter: 7, PastRounding: true}, solve.MaxIter)
			if err == nil && res.Iters != 7 {
				err = fmt.Errorf("%d steps, want 7", res.Iters)
			}
			return err
		})
	})
}
