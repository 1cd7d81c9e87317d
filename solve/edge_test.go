package solve_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// ends runs a method and checks how it ends.
func ends[T scalar.Scalar](ctx context.Context, m maker[T], p problem[T], x dist.Array[T], c solve.Config, want solve.Status) (solve.Result, error) {
	res, err := p.run(ctx, m.method(), x, c)
	switch {
	case err != nil:
		return res, err
	case res.Status != want:
		return res, fmt.Errorf("got %v (%s) after %d iterations, want %v", res.Status, res.Why, res.Iters, want)
	case len(res.History) != res.Iters+1:
		return res, fmt.Errorf("%d norms of %d iterations", len(res.History), res.Iters)
	}
	n, err := dist.Norm(ctx, x, 2)
	if err == nil && (math.IsNaN(n) || math.IsInf(n, 0)) {
		err = fmt.Errorf("x has norm %g", n)
	}
	return res, err
}

func TestZeroDataAndExactStart(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		on(t, ranks, func(ctx context.Context, r dist.Proc) error {
			return each(ctx, r, 5, func(m maker[complex64], p problem[complex64], x dist.Array[complex64]) error {
				c := solve.Config{MaxIter: 100, Diverge: 1e6}
				dist.Copy(x, p.truth)
				res, err := ends(ctx, m, p, x, c, solve.Converged)
				if err != nil || res.Iters != 0 {
					return fmt.Errorf("exact start: %d iterations: %v", res.Iters, err)
				}
				if err := near(ctx, x, p.truth, 0); err != nil {
					return err
				}
				dist.Zero(p.B)
				dist.Zero(x)
				if res, err = ends(ctx, m, p, x, c, solve.Converged); err != nil || res.Iters != 0 {
					return fmt.Errorf("b and x are zero: %d iterations: %v", res.Iters, err)
				}
				dist.Copy(x, p.truth) // and with b = 0 from elsewhere, to zero
				c.RelTol = 1e-5
				if _, err = ends(ctx, m, p, x, c, solve.Converged); err != nil {
					return fmt.Errorf("b is zero: %w", err)
				}
				n, err := dist.Norm(ctx, x, math.Inf(1))
				if err == nil && n > 1e-4 {
					err = fmt.Errorf("b is zero: x has %g", n)
				}
				return err
			})
		})
	}
}

// A method that is stepped beyond the solution stays there.
func TestStepsBeyondTheSolution(t *testing.T) {
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		return each(ctx, r, 5, func(m maker[float64], p problem[float64], x dist.Array[float64]) error {
			dist.Copy(x, p.truth)
			method := m.method()
			w, n, err := p.start(ctx, method, x)
			for k := 0; k < 3 && err == nil; k++ {
				if n.Resid != 0 {
					return fmt.Errorf("step %d: residual %g", k, n.Resid)
				}
				n, err = method.Step(ctx, w)
			}
			if err != nil {
				return err
			}
			if err := near(ctx, x, p.truth, 0); err != nil {
				return err
			}
			// Nor does a run that never converges by tolerance leave it by rounding.
			dist.Zero(x)
			if _, err := ends(ctx, m, p, x, solve.Config{Diverge: 1e6, MaxIter: 2000}, solve.AtRounding); err != nil {
				return err
			}
			return near(ctx, x, p.truth, 1e-11)
		})
	})
}

func TestZeroOperator(t *testing.T) {
	on(t, 3, func(ctx context.Context, r dist.Proc) error {
		return each(ctx, r, 5, func(m maker[float32], _ problem[float32], _ dist.Array[float32]) error {
			s, err := dist.NewSpace(ctx, r, dist.Layout{}, 7)
			if err != nil {
				return err
			}
			zero, err := ops.Zero[float32, float32](s, s)
			if err != nil {
				return err
			}
			b, err := dist.Random[float32](ctx, s, 1)
			if err != nil {
				return err
			}
			x, err := dist.Random[float32](ctx, s, 2)
			if err != nil {
				return err
			}
			want := map[string]solve.Status{"CG": solve.IllConditioned, "CG with one message": solve.IllConditioned, "MINRES": solve.AtRounding}[m.name]
			if m.ls {
				want = solve.Converged // every x is a solution
			}
			q := problem[float32]{Problem: solve.Problem[float32, float32]{A: zero, B: b}}
			res, err := ends(ctx, m, q, x, solve.Defaults(), want)
			if err != nil || res.Iters != 0 || !m.ls && !strings.Contains(res.Why, "singular") {
				return fmt.Errorf("%d iterations, why %q: %v", res.Iters, res.Why, err)
			}
			if !m.ls {
				return nil
			}
			q.damp = 0.5 // now zero is the solution
			res, err = ends(ctx, m, q, x, solve.Config{MaxIter: 100, RelTol: 1e-6, Diverge: 1e6, GradTol: 1e-5}, solve.Converged)
			if err != nil || res.Iters != 1 {
				return fmt.Errorf("damped: %d iterations: %v", res.Iters, err)
			}
			n, err := dist.Norm(ctx, x, 2)
			if err == nil && n > 1e-6 {
				err = fmt.Errorf("damped: x has norm %g", n)
			}
			return err
		})
	})
}

// A diagonal operator with zeros on it: what lies in the null space stays.
func TestRankDeficient(t *testing.T) {
	const n = 11
	null := func(i int) bool { return i%4 == 0 }
	on(t, 3, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{}, n)
		if err != nil {
			return err
		}
		d, err := dist.FromFunc(ctx, s, func(i []int) complex128 { return complex(float64(i[0]%4), 0) })
		if err != nil {
			return err
		}
		a, err := ops.Diagonal(d)
		if err != nil {
			return err
		}
		want := make([]complex128, n)
		for i := range want {
			if want[i] = complex(float64(i), 1); null(i) {
				want[i] = 5 // the start
			}
		}
		truth, err := vector(ctx, s, want)
		if err != nil {
			return err
		}
		x, err := dist.New[complex128](s)
		if err != nil {
			return err
		}
		b, err := linop.Apply(ctx, a, truth)
		if err != nil {
			return err
		}
		q := problem[complex128]{Problem: solve.Problem[complex128, complex128]{A: a, B: b}}
		for _, m := range methods[complex128]() {
			dist.Fill(x, 5)
			if _, err := ends(ctx, m, q, x, solve.Config{MaxIter: 100, Diverge: 1e6, RelTol: 1e-12}, solve.Converged); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			if err := compare(ctx, x, want, 1e-11); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
		// Data that the operator cannot reach: one for each zero.
		far, err := dist.FromFunc(ctx, s, func(i []int) complex128 {
			if null(i[0]) {
				return 1
			}
			return 0
		})
		if err != nil {
			return err
		}
		dist.Add(b, b, far)
		for _, m := range methods[complex128]() {
			dist.Fill(x, 5)
			res, err := q.run(ctx, m.method(), x, solve.Config{MaxIter: 100, Diverge: 1e6, RelTol: 1e-12, GradTol: 1e-12})
			if err != nil {
				return err
			}
			if !m.ls {
				if res.Status == solve.Converged {
					return fmt.Errorf("%s: %v with data out of reach", m.name, res.Status)
				}
				continue
			}
			if last := res.History[res.Iters].Resid; res.Status != solve.Converged || math.Abs(last-math.Sqrt(3)) > 1e-10 {
				return fmt.Errorf("%s: %v with residual %g, want √3", m.name, res.Status, last)
			}
			if err := compare(ctx, x, want, 1e-11); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
		return nil
	})
}

func TestIndefinite(t *testing.T) {
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		return each(ctx, r, 11, func(m maker[complex64], _ problem[complex64], x dist.Array[complex64]) error {
			if m.ls {
				return nil
			}
			p, err := indefinite[complex64](ctx, r, 11)
			if err != nil {
				return err
			}
			want := solve.Indefinite
			if m.name == "MINRES" {
				want = solve.Converged
			}
			res, err := ends(ctx, m, p, x, solve.Config{MaxIter: 100, Diverge: 1e6, RelTol: 1e-5}, want)
			if err == nil && want == solve.Indefinite && !strings.Contains(res.Why, "use MINRES, CGLS or LSQR") {
				err = fmt.Errorf("why %q", res.Why)
			}
			return err
		})
	})
}

// A condition beyond what 32 bits hold: no method breaks down or diverges, and
// all tell how far they are.
func TestPoorCondition(t *testing.T) {
	const n = 60
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{}, n)
		if err != nil {
			return err
		}
		d, err := dist.FromFunc(ctx, s, func(i []int) float32 { return float32(math.Pow(10, -8*float64(i[0])/n)) })
		if err != nil {
			return err
		}
		a, err := ops.Diagonal(d)
		if err != nil {
			return err
		}
		b, err := dist.Random[float32](ctx, s, 3)
		if err != nil {
			return err
		}
		for _, m := range methods[float32]() {
			x, err := dist.New[float32](s)
			if err != nil {
				return err
			}
			res, err := solve.Run(ctx, m.method(), solve.Problem[float32, float32]{A: a, B: b}, x, solve.Config{Diverge: 1e6, MaxIter: 300})
			if err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			if s := res.Status; s == solve.Converged || s == solve.Diverged || s == solve.Breakdown {
				return fmt.Errorf("%s: %v: %s", m.name, s, res.Why)
			}
			y, err := linop.Apply(ctx, a, x)
			if err != nil {
				return err
			}
			dist.Sub(y, b, y)
			left, err := dist.Norm(ctx, y, 2)
			if err != nil {
				return err
			}
			if told := res.Resid; math.Abs(left-told) > 1e-3*told {
				return fmt.Errorf("%s: the residual is %g, reported %g", m.name, left, told)
			}
			// That of CG may grow on the way: it makes the error small, not the residual.
			if !strings.HasPrefix(m.name, "CG") || m.ls {
				if left > 0.9*res.History[0].Resid {
					return fmt.Errorf("%s: %g of %g is left", m.name, left, res.History[0].Resid)
				}
			}
		}
		return nil
	})
}
