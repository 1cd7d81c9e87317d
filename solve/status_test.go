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

// onBoth runs f on one rank and on three.
func onBoth(t *testing.T, f func(ctx context.Context, r dist.Proc) error) {
	t.Helper()
	for _, ranks := range []int{1, 3} {
		on(t, ranks, f)
	}
}

// diagonal is a problem with these elements on the diagonal and these data.
func diagonal[T scalar.Scalar](ctx context.Context, r dist.Proc, n int, a, b func(i int) float64) (p problem[T], x dist.Array[T], err error) {
	s, err := dist.NewSpace(ctx, r, dist.Layout{}, n)
	if err != nil {
		return p, x, err
	}
	of := func(f func(i int) float64) func(i []int) T {
		return func(i []int) T { return scalar.From[T](complex(f(i[0]), 0)) }
	}
	d, err := dist.FromFunc(ctx, s, of(a))
	if err != nil {
		return p, x, err
	}
	if p.B, err = dist.FromFunc(ctx, s, of(b)); err != nil {
		return p, x, err
	}
	if x, err = dist.New[T](s); err == nil {
		p.A, err = ops.Diagonal(d)
	}
	return p, x, err
}

// dense is a problem with this matrix and these data.
func dense[T scalar.Scalar](ctx context.Context, r dist.Proc, rows, cols int, a, b []complex128) (p problem[T], x dist.Array[T], err error) {
	narrow := func(v []complex128) []T {
		out := make([]T, len(v))
		for i := range v {
			out[i] = scalar.From[T](v[i])
		}
		return out
	}
	if p.A, err = matrix(ctx, r, rows, cols, narrow(a)); err != nil {
		return p, x, err
	}
	if p.B, err = vector(ctx, p.A.Range(), narrow(b)); err != nil {
		return p, x, err
	}
	x, err = dist.New[T](p.A.Domain())
	return p, x, err
}

// honest compares what a result says with x, and returns ‖x‖.
func honest[T scalar.Scalar](ctx context.Context, p problem[T], x dist.Array[T], res solve.Result, tol float64) (float64, error) {
	size, err := dist.Norm(ctx, x, 2)
	if err != nil {
		return 0, err
	}
	it := solve.Iteration{K: res.Iters, Norms: solve.Norms{Resid: res.Resid, Grad: res.Grad}}
	return size, trueNorms(ctx, p, x, it, !math.IsNaN(res.Grad), tol)
}

// A47: a strongly damped problem, which is easy, ends at once and does not drift
// away. Condition 10 and damp 100 made CGLS diverge at iteration 41, and at 13 in
// 32 bits.
func TestDampedCGLSStops(t *testing.T) {
	onBoth(t, func(ctx context.Context, r dist.Proc) error {
		return all(func() error { return dampedStops[float64](ctx, r, 1e-13) }, func() error { return dampedStops[float32](ctx, r, 1e-5) },
			func() error { return dampedStops[complex64](ctx, r, 1e-5) }, func() error { return dampedStops[complex128](ctx, r, 1e-13) })
	})
}

func dampedStops[T scalar.Scalar](ctx context.Context, r dist.Proc, tol float64) error {
	a := func(i int) float64 { return 1 + 9*float64(i)/39 }
	b := func(i int) float64 { return math.Sin(float64(i + 1)) }
	for _, damp := range []float64{1, 100, 1000, 1e5} {
		p, x, err := diagonal[T](ctx, r, 40, a, b)
		if err != nil {
			return err
		}
		p.damp = damp
		want, err := dist.FromFunc(ctx, x.Space(), func(i []int) T {
			return scalar.From[T](complex(a(i[0])*b(i[0])/(a(i[0])*a(i[0])+damp*damp), 0))
		})
		if err != nil {
			return err
		}
		for _, m := range methods[T]() {
			if !m.ls {
				continue
			}
			dist.Zero(x)
			res, err := ends(ctx, m, p, x, solve.Config{RelTol: 1e-6, Diverge: 1e6, MaxIter: 500}, solve.AtRounding)
			if err == nil {
				_, err = honest(ctx, p, x, res, tol)
			}
			if err == nil {
				err = near(ctx, x, want, 100*tol)
			}
			if err == nil && res.Iters > 60 {
				err = fmt.Errorf("%d iterations", res.Iters)
			}
			if err != nil {
				return fmt.Errorf("%s of %v, damp %g: %w", m.name, scalar.Of[T](), damp, err)
			}
		}
	}
	return nil
}

// deficient is 60 × 40 of rank 5, with data that are out of its reach.
func deficient() (a, b []complex128) {
	s := &system{shape: "tall", m: 60, n: 40, a: make([]complex128, 60*40)}
	rnd := splitMix{48}
	for i := range 5 {
		s.a[i*40+i] = complex(10-float64(i), 0)
	}
	s.turn(&rnd, false)
	return s.a, rnd.vector(60, false)
}

// A48: least squares of a rank of 5 end at the least residual with a small x, and
// not at the limit with an x of 7e15.
func TestRankDeficientLeastSquaresStop(t *testing.T) {
	onBoth(t, func(ctx context.Context, r dist.Proc) error {
		return all(func() error { return deficientStops[float64](ctx, r, 1e-12) }, func() error { return deficientStops[float32](ctx, r, 1e-5) },
			func() error { return deficientStops[complex64](ctx, r, 1e-5) }, func() error { return deficientStops[complex128](ctx, r, 1e-12) })
	})
}

func deficientStops[T scalar.Scalar](ctx context.Context, r dist.Proc, tol float64) error {
	a, b := deficient()
	p, x, err := dense[T](ctx, r, 60, 40, a, b)
	if err != nil {
		return err
	}
	least, large := 0.0, 0.0
	for _, iters := range []int{10, 100, 2000} {
		for _, m := range methods[T]() {
			if !m.ls {
				continue
			}
			dist.Zero(x)
			res, err := ends(ctx, m, p, x, solve.Config{RelTol: 1e-6, Diverge: 1e6, MaxIter: iters}, solve.AtRounding)
			if err != nil {
				return fmt.Errorf("%s of %v: %w", m.name, scalar.Of[T](), err)
			}
			size, err := honest(ctx, p, x, res, tol)
			if err != nil {
				return fmt.Errorf("%s of %v: %w", m.name, scalar.Of[T](), err)
			}
			if least == 0 {
				least, large = res.Resid, size
			}
			if math.Abs(res.Resid-least) > tol*least || size > 1.01*large || size > 1 || res.Iters > 10 {
				return fmt.Errorf("%s of %v: residual %g and |x| %g after %d, others have %g and %g", m.name, scalar.Of[T](), res.Resid, size, res.Iters, least, large)
			}
		}
	}
	return nil
}

// A49: what MINRES says of a Hilbert matrix is true.
func TestMINRESOfHilbert(t *testing.T) {
	onBoth(t, func(ctx context.Context, r dist.Proc) error {
		const n = 40
		a, b := make([]complex128, n*n), make([]complex128, n)
		for i := range a {
			a[i] = complex(1/float64(1+i/n+i%n), 0)
		}
		for i := range b {
			b[i] = complex(math.Sin(float64(3*i+1)), 0)
		}
		for _, iters := range []int{100, 300} {
			p, x, err := dense[float64](ctx, r, n, n, a, b)
			if err != nil {
				return err
			}
			res, err := p.run(ctx, &solve.MINRES[float64]{}, x, solve.Config{RelTol: 1e-6, Diverge: 1e6, MaxIter: iters})
			if err != nil {
				return err
			}
			size, err := honest(ctx, p, x, res, 1e-3)
			if err != nil || res.Resid > res.History[0].Resid || res.Status == solve.Converged || size > 1e12 {
				return fmt.Errorf("%v after %d: residual %g of %g, |x| %g: %v", res.Status, res.Iters, res.Resid, res.History[0].Resid, size, err)
			}
		}
		return nil
	})
}

// A49: a singular operator and data out of its reach: MINRES ends with the least
// residual and a small x.
func TestMINRESOfSingular(t *testing.T) {
	onBoth(t, func(ctx context.Context, r dist.Proc) error {
		p, x, err := diagonal[float64](ctx, r, 30, func(i int) float64 { return float64(i%6) - 2 }, func(i int) float64 { return 1 + float64(i%3) })
		if err != nil {
			return err
		}
		res, err := p.run(ctx, &solve.MINRES[float64]{}, x, solve.Config{RelTol: 1e-6, Diverge: 1e6, MaxIter: 50})
		if err != nil {
			return err
		}
		size, err := honest(ctx, p, x, res, 1e-12)
		want := math.Sqrt(5 * 9) // five zeros on the diagonal, where b is 3
		if err != nil || res.Status != solve.AtRounding || math.Abs(res.Resid-want) > 1e-9 || size > 30 || !strings.Contains(res.Why, "singular") {
			return fmt.Errorf("%v after %d (%s): residual %g, want %g, |x| %g: %v", res.Status, res.Iters, res.Why, res.Resid, want, size, err)
		}
		return nil
	})
}

// A49: MINRES and CG find out that a matrix is not Hermitian.
func TestNotSymmetric(t *testing.T) {
	const n = 20
	rnd := splitMix{3}
	skew, rough, turned := make([]complex128, n*n), rnd.vector(n*n, false), make([]complex128, n*n)
	for i := range n {
		for j := range i {
			v := rnd.number(false)
			skew[i*n+j], skew[j*n+i] = v, -v
		}
		turned[i*n+i] = complex(1+float64(i), 1) // not real
	}
	b := rnd.vector(n, false)
	for name, a := range map[string][]complex128{"skew": skew, "rough": rough, "complex diagonal": turned} {
		onBoth(t, func(ctx context.Context, r dist.Proc) error {
			p, x, err := dense[complex128](ctx, r, n, n, a, b)
			if err != nil {
				return err
			}
			for _, m := range methods[complex128]() {
				if m.ls {
					continue
				}
				dist.Zero(x)
				c := solve.Config{Diverge: 1e6, MaxIter: 200, RelTol: 1e-12}
				res, err := p.run(ctx, m.method(), x, c)
				if err != nil {
					return err
				}
				if _, err := honest(ctx, p, x, res, 1e-10); err != nil {
					return fmt.Errorf("%s, %s: %w", name, m.name, err)
				}
				limited := m.name != "MINRES" && name == "complex diagonal" && res.Status == solve.MaxIter // which is true
				if res.Status != solve.NotSymmetric && !limited || m.name == "MINRES" && res.Iters > 2 {
					return fmt.Errorf("%s, %s: %v after %d: %s", name, m.name, res.Status, res.Iters, res.Why)
				}
				if res.Status == solve.NotSymmetric && !strings.Contains(res.Why, "use CGLS or LSQR") {
					return fmt.Errorf("%s, %s: why %q", name, m.name, res.Why)
				}
			}
			return nil
		})
	}
}

// A50: no method calls converged what is not. The residual of a run to the limit
// of a condition of 1e12 is the true one.
func TestConvergedIsTrue(t *testing.T) {
	onBoth(t, func(ctx context.Context, r dist.Proc) error {
		return all(func() error { return truly[float64](ctx, r, 12) }, func() error { return truly[float32](ctx, r, 6) },
			func() error { return truly[complex64](ctx, r, 6) }, func() error { return truly[complex128](ctx, r, 12) })
	})
}

func truly[T scalar.Scalar](ctx context.Context, r dist.Proc, reach float64) error {
	s := &system{shape: "hermitian", m: 30, n: 30, a: make([]complex128, 900)}
	rnd := splitMix{50}
	for i := range 30 {
		s.a[i*31] = complex(math.Pow(10, -reach*float64(i)/29), 0)
	}
	s.turn(&rnd, false)
	b := rnd.vector(30, false)
	for _, tol := range []float64{0, 1e-4, 1e-10} {
		p, x, err := dense[T](ctx, r, 30, 30, s.a, b)
		if err != nil {
			return err
		}
		for _, m := range methods[T]() {
			dist.Zero(x)
			res, err := p.run(ctx, m.method(), x, solve.Config{Diverge: 1e6, RelTol: tol, MaxIter: 1000})
			if err != nil {
				return err
			}
			size, err := dist.Norm(ctx, x, 2)
			if err != nil {
				return err
			}
			if _, err := honest(ctx, p, x, res, 100*scalarEps[T]()*(1+size)); err != nil {
				return fmt.Errorf("%s of %v, tolerance %g: %v (%s): %w", m.name, scalar.Of[T](), tol, res.Status, res.Why, err)
			}
			if res.Status == solve.Converged && res.Resid > tol*res.History[0].Resid {
				return fmt.Errorf("%s of %v, tolerance %g: converged with %g of %g", m.name, scalar.Of[T](), tol, res.Resid, res.History[0].Resid)
			}
		}
	}
	return nil
}

// forgetful is an operator that loses its precision after some applications, so
// that the recurrence of a method leaves the truth.
func forgetful(a linop.Operator[float64], after int) (linop.Operator[float64], error) {
	k := 0
	spoil := func(y dist.Array[float64]) {
		if k++; k > after {
			dist.Scale(y, 1+0.3*math.Sin(float64(k)), y)
		}
	}
	return linop.Func("test: functions", a.Domain(), a.Range(), func(ctx context.Context, dst, src dist.Array[float64]) error {
		defer spoil(dst)
		return a.Forward(ctx, dst, src)
	}, func(ctx context.Context, dst, src dist.Array[float64]) error {
		defer spoil(dst)
		return a.Adjoint(ctx, dst, src)
	})
}

// An operator that is off by 30%, otherwise in each application, is never
// converged with, and the best x is no worse than the start.
func TestStagnated(t *testing.T) {
	seen := map[solve.Status]int{}
	onBoth(t, func(ctx context.Context, r dist.Proc) error {
		return each(ctx, r, 11, func(m maker[float64], p problem[float64], x dist.Array[float64]) error {
			given := p
			var err error
			if p.A, err = forgetful(given.A, 9); err != nil {
				return err
			}
			res, err := p.run(ctx, m.method(), x, solve.Config{RelTol: 1e-6, Diverge: 1e6, MaxIter: 3000})
			if err != nil {
				return err
			}
			if res.Status == solve.Converged || res.Status == solve.AtRounding || res.Why == "" && res.Status != solve.MaxIter {
				return fmt.Errorf("%v after %d: %s", res.Status, res.Iters, res.Why)
			}
			if r.Rank() == 0 {
				seen[res.Status]++
			}
			left, err := objective(ctx, given, x)
			if err == nil && math.Sqrt(left) > 1.5*res.History[0].Resid {
				err = fmt.Errorf("%v: %g of %g is left", res.Status, math.Sqrt(left), res.History[0].Resid)
			}
			return err
		})
	})
	if seen[solve.Stagnated] < 4 {
		t.Errorf("statuses %v, want some that stagnated", seen)
	}
}

// A condition that the element type cannot hold has a status.
func TestIllConditioned(t *testing.T) {
	onBoth(t, func(ctx context.Context, r dist.Proc) error {
		rnd := splitMix{9}
		s := &system{shape: "square", m: 30, n: 30, a: make([]complex128, 900)}
		for i := range 30 {
			s.a[i*31] = complex(math.Pow(10, -9*float64(i)/29), 0)
		}
		s.turn(&rnd, false)
		p, x, err := dense[float32](ctx, r, 30, 30, s.a, rnd.vector(30, false))
		if err != nil {
			return err
		}
		for _, m := range methods[float32]() {
			if m.name != "LSQR" {
				continue
			}
			res, err := ends(ctx, m, p, x, solve.Config{RelTol: 1e-6, Diverge: 1e6, MaxIter: 5000}, solve.IllConditioned)
			if err == nil && (!strings.Contains(res.Why, "damp or regularise") || res.Resid > res.History[0].Resid) {
				err = fmt.Errorf("residual %g, why %q", res.Resid, res.Why)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
		return nil
	})
}
