package solve_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// Operators and data whose squares leave the range are solved like any other, by
// every method: finding A51.
func TestRange(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		on(t, ranks, func(ctx context.Context, r dist.Proc) error {
			return all(
				func() error { return ranges[float32](ctx, r, 1e18, 1e-3) }, func() error { return ranges[complex64](ctx, r, 1e18, 1e-3) },
				func() error { return ranges[float64](ctx, r, 1e160, 1e-5) }, func() error { return ranges[complex128](ctx, r, 1e160, 1e-5) })
		})
	}
}

func ranges[T scalar.Scalar](ctx context.Context, r dist.Proc, large, tol float64) error {
	return each(ctx, r, 5, func(m maker[T], p problem[T], x dist.Array[T]) error {
		one := func(v float64) T { return scalar.From[T](complex(v, 0)) }
		a, err := dist.New[T](p.B.Space())
		if err != nil {
			return err
		}
		dist.Copy(a, p.B)
		given := p.A
		for _, k := range []struct{ a, b float64 }{{1, large}, {1, 1 / large}, {large, 1}, {1 / large, 1}, {large, large}, {1 / large, 1 / large}} {
			if p.A, err = linop.Scale(one(k.a), given); err != nil {
				return err
			}
			dist.Scale(p.B, one(k.b), a)
			dist.Zero(x)
			seen := 0
			res, err := p.run(ctx, m.method(), x, solve.Config{MaxIter: 100, Diverge: 1e6, RelTol: tol / 100, OnIter: func(it solve.Iteration) error {
				seen++
				n, err := dist.Norm(ctx, x, 2)
				if err == nil && it.K > 0 && !(n > 0 && n*k.a/k.b < 1e3) {
					err = fmt.Errorf("iteration %d shows an x of %g", it.K, n)
				}
				return err
			}})
			switch {
			case err != nil:
				return fmt.Errorf("A of %g, b of %g: %w", k.a, k.b, err)
			case res.Status != solve.Converged || seen != res.Iters+1:
				return fmt.Errorf("A of %g, b of %g: %v after %d: %s", k.a, k.b, res.Status, res.Iters, res.Why)
			case !(res.Resid <= tol*k.b*10) || math.Abs(res.Resid-res.History[res.Iters].Resid) > tol*k.b:
				return fmt.Errorf("A of %g, b of %g: residual %g, %g by the recurrence", k.a, k.b, res.Resid, res.History[res.Iters].Resid)
			}
			// In two steps, for x may be as small or large as 1e±36.
			for range 2 {
				dist.Scale(x, one(math.Sqrt(k.a)/math.Sqrt(k.b)), x)
			}
			if err := near(ctx, x, p.truth, tol); err != nil {
				return fmt.Errorf("A of %g, b of %g: %w", k.a, k.b, err)
			}
		}
		return nil
	})
}

// An x that the element type cannot hold ends with a status that says so, and one that damping makes
// vanish is zero.
func TestBeyondRange(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		on(t, ranks, func(ctx context.Context, r dist.Proc) error {
			return each(ctx, r, 5, func(m maker[float64], p problem[float64], x dist.Array[float64]) error {
				given := p
				var err error
				if p.A, err = linop.Scale(1e-160, given.A); err != nil {
					return err
				}
				dist.Scale(p.B, 1e160, p.B)
				res, err := p.run(ctx, m.method(), x, solve.Defaults())
				if err != nil || res.Status != solve.Breakdown || !strings.Contains(res.Why, "beyond the numbers of float64") {
					return fmt.Errorf("x of 1e320: %v, %s: %v", res.Status, res.Why, err)
				}
				if !m.ls {
					return nil
				}
				dist.Scale(given.B, 1e-160, given.B)
				for _, damp := range []float64{1e30, 1e200} {
					given.damp = damp
					dist.Zero(x)
					res, err := given.run(ctx, m.method(), x, solve.Defaults())
					if err != nil {
						return err
					}
					n, err := dist.Norm(ctx, x, 2)
					if err != nil || n > 100/damp || res.Status != solve.AtRounding {
						return fmt.Errorf("damp %g: x has norm %g, %v, %s: %v", damp, n, res.Status, res.Why, err)
					}
				}
				return nil
			})
		})
	}
}
