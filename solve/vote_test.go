package solve_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// eager is a method that changes x before its first message, in the way that how
// says.
type eager[D, R scalar.Scalar] struct {
	steepest[D, R]
	how string
}

func (m *eager[D, R]) Name() string { return "eager " + m.how }

func (m *eager[D, R]) Step(ctx context.Context, w *solve.Workspace[D, R]) (solve.Norms, error) {
	const omega = 1e-3
	switch m.how {
	case "scale":
		w.X.Scale(1 + omega)
	case "adjoint":
		w.Adjoint(ctx, w.X, m.r)
	case "queue":
		var xx float64
		w.X.QueueAddNorm2(omega, m.g, &xx)
		w.Reduce(ctx)
	case "sum":
		w.X.AddNorm2(ctx, omega, m.g)
	case "no message":
		w.X.Add(omega, m.g)
		return solve.Norms{Resid: math.Sqrt(m.rr), Grad: math.Sqrt(m.gg)}, w.Err()
	}
	w.Forward(ctx, m.q, w.X)
	m.r.Copy(w.B)
	return m.residual(ctx, w, -1)
}

// voters are all methods, with damping where they have it, and methods that change
// x first.
func voters() []maker[float64] {
	all := append(methods[float64](), ownMethods[float64]()...)
	for _, how := range []string{"scale", "adjoint", "queue", "sum", "no message"} {
		all = append(all, maker[float64]{"eager " + how, func() solve.Method[float64, float64] { return &eager[float64, float64]{how: how} }, tall[float64], 0, true})
	}
	return all
}

// A stop after iteration 3, which the others learn of in the next step, leaves x and
// History as a run of 3 iterations does, bit by bit. The callback is not called again.
func TestStopLeavesX(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		on(t, ranks, func(ctx context.Context, r dist.Proc) error {
			for _, m := range voters() {
				for _, damp := range []float64{0, 0.5} {
					if damp > 0 && !m.ls {
						continue
					}
					p, err := m.problem(ctx, r, 11)
					if err != nil {
						return err
					}
					p.damp = damp
					if err := stopLeavesX(ctx, r, m, p); err != nil {
						return fmt.Errorf("%s, damp %g: %w", m.name, damp, err)
					}
				}
			}
			return nil
		})
	}
}

func stopLeavesX(ctx context.Context, r dist.Proc, m maker[float64], p problem[float64]) error {
	x, err := dist.Random[float64](ctx, p.A.Domain(), 3)
	if err != nil {
		return err
	}
	start, err := x.Host()
	if err != nil {
		return err
	}
	want, err := p.run(ctx, m.method(), x, solve.Config{MaxIter: 3, PastRounding: true})
	if err != nil {
		return err
	}
	wantX, err := x.Host()
	if err != nil {
		return err
	}
	if err := x.Local().CopyIn(start); err != nil {
		return err
	}
	calls := 0
	got, err := p.run(ctx, m.method(), x, solve.Config{MaxIter: 10, PastRounding: true, OnIter: func(it solve.Iteration) error {
		if calls++; it.K == 3 && r.Rank() == r.Size()-1 {
			return solve.ErrStop
		}
		return nil
	}})
	if err != nil {
		return err
	}
	gotX, err := x.Host()
	if err != nil {
		return err
	}
	if got.Status != solve.Stopped || got.Iters != 3 || calls != 4 || len(got.History) != 4 {
		return fmt.Errorf("%v after %d iterations, %d calls and %d norms", got.Status, got.Iters, calls, len(got.History))
	}
	if !slices.Equal(gotX, wantX) || got.Resid != want.Resid || got.History[3].Resid != want.History[3].Resid {
		return fmt.Errorf("x is %v and the residual %v, want %v and %v", gotX, got.Resid, wantX, want.Resid)
	}
	return nil
}

// An error of a callback after the last iteration, when no step follows, is that of
// all ranks, and so is one before a step that sends nothing.
func TestLastCallbackFails(t *testing.T) {
	mine := errors.New("no more toner")
	on(t, 3, func(ctx context.Context, r dist.Proc) error {
		for _, m := range voters() {
			p, err := m.problem(ctx, r, 11)
			if err != nil {
				return err
			}
			x, err := dist.New[float64](p.A.Domain())
			if err != nil {
				return err
			}
			for at := range 3 {
				dist.Zero(x)
				_, err := p.run(ctx, m.method(), x, solve.Config{MaxIter: 2, PastRounding: true, OnIter: func(it solve.Iteration) error {
					if it.K == at && r.Rank() == 1 {
						return mine
					}
					return nil
				}})
				if err == nil || errors.Is(err, mine) != (r.Rank() == 1) {
					return fmt.Errorf("%s: callback %d fails on rank 1: got %v on rank %d", m.name, at, err, r.Rank())
				}
			}
		}
		return nil
	})
}
