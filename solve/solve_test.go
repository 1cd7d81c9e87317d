package solve_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

func num[T scalar.Scalar](v float64) T { return scalar.From[T](complex(v, 0)) }

// tall returns a well-conditioned least-squares problem: a smoothing with a
// derivative below it, stacked, over a split axis.
func tall[T scalar.Scalar](ctx context.Context, r dist.Rank, n int) (solve.Problem[T], dist.Array[T], error) {
	var p solve.Problem[T]
	x, err := dist.NewSpace(ctx, r, dist.Layout{}, n, 3)
	if err != nil {
		return p, dist.Array[T]{}, err
	}
	id, err := ops.NewIdentity[T](x)
	if err != nil {
		return p, dist.Array[T]{}, err
	}
	d, err := ops.NewFirstDerivative[T](ctx, x, 0, ops.Derivative{Edge: true})
	if err != nil {
		return p, dist.Array[T]{}, err
	}
	h, err := ops.NewConvolve1D(ctx, x, 0, []T{scalar.From[T](0.5 + 0.2i), 1, scalar.From[T](-0.3i)}, 1)
	if err != nil {
		return p, dist.Array[T]{}, err
	}
	sum, err := linop.Add(id, h)
	if err != nil {
		return p, dist.Array[T]{}, err
	}
	p.A, err = linop.StackedVStack(sum, d)
	if err != nil {
		return p, dist.Array[T]{}, err
	}
	truth, err := optest.Random[T](ctx, x, 7)
	if err != nil {
		return p, truth, err
	}
	p.B, err = linop.Image(ctx, p.A, truth)
	return p, truth, err
}

// square returns A = MᴴM + I, which is positive definite.
func square[T scalar.Scalar](ctx context.Context, r dist.Rank, n int) (solve.Problem[T], dist.Array[T], error) {
	p, truth, err := tall[T](ctx, r, n)
	if err != nil {
		return p, truth, err
	}
	p.Damp = 1
	q, err := solve.Normal(ctx, p)
	if err != nil {
		return p, truth, err
	}
	return q, truth, q.A.Forward(ctx, q.B, truth)
}

type maker[T scalar.Scalar] struct {
	name    string
	method  func() solve.Method[T]
	problem func(context.Context, dist.Rank, int) (solve.Problem[T], dist.Array[T], error)
	message int // collectives per step, those of the operator aside
}

func methods[T scalar.Scalar]() []maker[T] {
	return []maker[T]{
		{"CG", func() solve.Method[T] { return &solve.CG[T]{} }, square[T], 2},
		{"CG1", func() solve.Method[T] { return &solve.CG1[T]{} }, square[T], 1},
		{"CGLS", func() solve.Method[T] { return &solve.CGLS[T]{} }, tall[T], 2},
		{"CGLS1", func() solve.Method[T] { return &solve.CGLS1[T]{} }, tall[T], 1},
		{"LSQR", func() solve.Method[T] { return &solve.LSQR[T]{} }, tall[T], 2},
	}
}

func on(t *testing.T, ranks int, f func(ctx context.Context, r dist.Rank) error) {
	t.Helper()
	if err := launch.Local(t.Context(), ranks, f); err != nil {
		t.Errorf("ranks=%d: %v", ranks, err)
	}
}

func solves[T scalar.Scalar](ctx context.Context, r dist.Rank, tol float64) error {
	for _, m := range methods[T]() {
		p, truth, err := m.problem(ctx, r, 11)
		if err != nil {
			return err
		}
		x, err := dist.New[T](truth.Space())
		if err != nil {
			return err
		}
		res, err := solve.Run(ctx, m.method(), p, x, solve.Config[T]{MaxIter: 200, RelTol: tol})
		if err != nil {
			return err
		}
		if res.Status != solve.Converged {
			return fmt.Errorf("%s of %v: %v after %d iterations", m.name, scalar.Of[T](), res.Status, res.Iters)
		}
		dist.Sub(x, x, truth)
		e, err := dist.Norm(ctx, x, 2)
		if err != nil {
			return err
		}
		n, err := dist.Norm(ctx, truth, 2)
		if err != nil {
			return err
		}
		if e > 50*tol*n {
			return fmt.Errorf("%s of %v: error %g of %g", m.name, scalar.Of[T](), e, n)
		}
	}
	return nil
}

func TestSolves(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 7} {
		on(t, ranks, func(ctx context.Context, r dist.Rank) error {
			return errors.Join(solves[float32](ctx, r, 1e-5), solves[float64](ctx, r, 1e-11),
				solves[complex64](ctx, r, 1e-5), solves[complex128](ctx, r, 1e-11))
		})
	}
}

// The norms that a method reports are those of its x.
func TestNormsAreTrue(t *testing.T) {
	for _, damp := range []float64{0, 0.7} {
		on(t, 3, func(ctx context.Context, r dist.Rank) error {
			for _, m := range methods[complex128]() {
				p, truth, err := m.problem(ctx, r, 11)
				if err != nil {
					return err
				}
				ls := m.name != "CG" && m.name != "CG1"
				if damp != 0 && !ls {
					continue
				}
				p.Damp = damp
				x, err := optest.Random[complex128](ctx, truth.Space(), 3) // a start that is not zero
				if err != nil {
					return err
				}
				_, err = solve.Run(ctx, m.method(), p, x, solve.Config[complex128]{MaxIter: 5, RelTol: -1, OnIter: func(it solve.Iteration[complex128]) error {
					return trueNorms(ctx, p, it, ls)
				}})
				if err != nil {
					return fmt.Errorf("damp %g: %w", damp, err)
				}
			}
			return nil
		})
	}
}

func trueNorms(ctx context.Context, p solve.Problem[complex128], it solve.Iteration[complex128], ls bool) error {
	res, err := linop.Image(ctx, p.A, it.X)
	if err != nil {
		return err
	}
	dist.Sub(res, p.B, res)
	rn, err := dist.Norm(ctx, res, 2)
	if err != nil {
		return err
	}
	if math.Abs(rn-it.Resid) > 1e-9*(1+rn) {
		return fmt.Errorf("iteration %d: residual is %g, reported %g", it.K, rn, it.Resid)
	}
	if !ls {
		return nil
	}
	g, err := linop.Image(ctx, linop.H(p.A), res)
	if err != nil {
		return err
	}
	dist.Axpby(complex(-p.Damp*p.Damp, 0), it.X, 1, g)
	gn, err := dist.Norm(ctx, g, 2)
	if err == nil && math.Abs(gn-it.Grad) > 1e-9*(1+gn) {
		err = fmt.Errorf("iteration %d: gradient is %g, reported %g", it.K, gn, it.Grad)
	}
	return err
}

// A step sends at most two messages of its own, and allocates nothing.
func TestMessagesPerStep(t *testing.T) {
	on(t, 3, func(ctx context.Context, r dist.Rank) error {
		count := commtest.NewCounter(r.Comm)
		counted, err := dist.NewRank(ctx, count, r.Device)
		if err != nil {
			return err
		}
		for _, m := range methods[float64]() {
			p, truth, err := m.problem(ctx, counted, 11)
			if err != nil {
				return err
			}
			x, err := dist.New[float64](truth.Space())
			if err != nil {
				return err
			}
			method := m.method()
			if _, err := method.Init(ctx, p, x); err != nil {
				return err
			}
			count.Reset()
			if _, err := method.Step(ctx); err != nil {
				return err
			}
			if count.Collectives() != m.message {
				return fmt.Errorf("%s: %d collectives in a step, want %d: %v", m.name, count.Collectives(), m.message, count)
			}
		}
		return nil
	})
}
