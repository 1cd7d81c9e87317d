package solve_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

func solves[T scalar.Scalar](ctx context.Context, r dist.Proc, tol float64) error {
	return each(ctx, r, 11, func(m maker[T], p problem[T], x dist.Array[T]) error {
		res, err := p.run(ctx, m.method(), x, solve.Config{MaxIter: 200, RelTol: tol})
		if err != nil {
			return err
		}
		if res.Status != solve.Converged || len(res.History) != res.Iters+1 || res.Why != "" || res.Resumed != 0 {
			return fmt.Errorf("got %+v", res)
		}
		return near(ctx, x, p.truth, 50*tol)
	})
}

func TestSolves(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 7} {
		on(t, ranks, allTypes)
	}
}

func allTypes(ctx context.Context, r dist.Proc) error {
	return all(func() error { return solves[float32](ctx, r, 1e-5) }, func() error { return solves[float64](ctx, r, 1e-11) },
		func() error { return solves[complex64](ctx, r, 1e-5) }, func() error { return solves[complex128](ctx, r, 1e-11) })
}

// twoTypes is allTypes where ranks are slow.
func twoTypes(ctx context.Context, r dist.Proc) error {
	return all(func() error { return solves[float32](ctx, r, 1e-5) }, func() error { return solves[complex128](ctx, r, 1e-11) })
}

// Methods solve the same on devices of other kinds.
func TestDevices(t *testing.T) {
	testdevices.Each(t, func(t *testing.T, p testdevices.Place) {
		for _, ranks := range []int{1, 2} {
			err := p.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
				if p.Slow {
					return twoTypes(ctx, r)
				}
				return allTypes(ctx, r)
			})
			if err != nil {
				t.Errorf("ranks=%d: %v", ranks, err)
			}
		}
	})
}

// A method solves one problem after another, of other spaces too.
func TestMethodIsUsedAgain(t *testing.T) {
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		used := map[string]solve.Method[float64, float64]{}
		for _, n := range []int{11, 11, 5} {
			for _, damp := range []float64{0.5, 0} { // LSQR needs more vectors with damping
				err := each(ctx, r, n, func(m maker[float64], p problem[float64], x dist.Array[float64]) error {
					if used[m.name] == nil {
						used[m.name] = m.method()
					}
					if m.ls {
						p.damp = damp
					}
					y, err := dist.New[float64](x.Space())
					if err != nil {
						return err
					}
					if _, err := p.run(ctx, used[m.name], x, solve.Config{RelTol: 1e-6, MaxIter: 9}); err != nil {
						return err
					}
					if _, err := p.run(ctx, m.method(), y, solve.Config{RelTol: 1e-6, MaxIter: 9}); err != nil {
						return err
					}
					return near(ctx, x, y, 0)
				})
				if err != nil {
					return fmt.Errorf("n %d, damp %g: %w", n, damp, err)
				}
			}
		}
		return nil
	})
}

// The norms that a method reports are those of its x, from a start that is not
// zero too.
func TestNormsAreTrue(t *testing.T) {
	for _, damp := range []float64{0, 0.7, 30} {
		on(t, 3, func(ctx context.Context, r dist.Proc) error {
			return each(ctx, r, 11, func(m maker[complex128], p problem[complex128], _ dist.Array[complex128]) error {
				if damp != 0 && !m.ls {
					return nil
				}
				p.damp = damp
				x, err := dist.Random[complex128](ctx, p.A.Domain(), 3)
				if err != nil {
					return err
				}
				_, err = p.run(ctx, m.method(), x, solve.Config{MaxIter: 8, OnIter: func(it solve.Iteration) error {
					return trueNorms(ctx, p, x, it, m.ls, 1e-12)
				}})
				if err != nil {
					return fmt.Errorf("damp %g: %w", damp, err)
				}
				return nil
			})
		})
	}
}

// In 32 bits, too, the residual of a strongly damped problem is not the
// difference of two numbers that are nearly the same.
func TestNormsOfStrongDamping(t *testing.T) {
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		return each(ctx, r, 11, func(m maker[float32], p problem[float32], _ dist.Array[float32]) error {
			if !m.ls {
				return nil
			}
			dist.Scale(p.B, 1e-3, p.B)
			p.damp = 30
			x, err := dist.Random[float32](ctx, p.A.Domain(), 3)
			if err != nil {
				return err
			}
			_, err = p.run(ctx, m.method(), x, solve.Config{MaxIter: 4, OnIter: func(it solve.Iteration) error {
				return trueNorms(ctx, p, x, it, false, 1e-4)
			}})
			return err
		})
	})
}

// trueNorms compares the norms of an iteration with those of its x.
func trueNorms[T scalar.Scalar](ctx context.Context, p problem[T], x dist.Array[T], it solve.Iteration, grad bool, tol float64) error {
	res, err := linop.Apply(ctx, p.A, x)
	if err != nil {
		return err
	}
	dist.Sub(res, p.B, res)
	rn, err := dist.Norm(ctx, res, 2)
	if err != nil {
		return err
	}
	bn, err := dist.Norm(ctx, p.B, 2)
	if err != nil {
		return err
	}
	if !(math.Abs(rn-it.Resid) <= tol*bn) {
		return fmt.Errorf("iteration %d: residual is %g, reported %g", it.K, rn, it.Resid)
	}
	if !grad {
		return nil
	}
	g, err := linop.Apply(ctx, linop.H(p.A), res)
	if err != nil {
		return err
	}
	dist.Axpby(scalar.From[T](complex(-p.damp*p.damp, 0)), x, 1, g)
	gn, err := dist.Norm(ctx, g, 2)
	if err == nil && !(math.Abs(gn-it.Grad) <= tol*(1+p.damp*p.damp)*bn) {
		err = fmt.Errorf("iteration %d: gradient is %g, reported %g", it.K, gn, it.Grad)
	}
	return err
}
