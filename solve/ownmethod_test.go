package solve_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// steepest minimises ‖A·x - b‖² + damp²·‖x‖² along the gradient: a method that
// solve does not have.
type steepest[D, R scalar.Scalar] struct {
	r, q   *solve.Vector[R]
	g      *solve.Vector[D]
	rr, gg float64
}

func (m *steepest[D, R]) Name() string { return "steepest descent" }

func (m *steepest[D, R]) Init(ctx context.Context, w *solve.Workspace[D, R]) (solve.Norms, error) {
	m.g, m.r, m.q = w.Domain("gradient"), w.Range("residual"), w.RangeScratch("A·gradient")
	w.Number("‖r‖²", &m.rr)
	w.Number("‖g‖²", &m.gg)
	w.Forward(ctx, m.q, w.X)
	m.r.Copy(w.B)
	return m.residual(ctx, w, -1) // r = b - A·x
}

func (m *steepest[D, R]) Step(ctx context.Context, w *solve.Workspace[D, R]) (solve.Norms, error) {
	w.Forward(ctx, m.q, m.g) // q = A·g
	alpha := m.gg / w.Positive("‖A·g‖²", w.DampedNorm2(ctx, m.q, m.g), "the gradient is in the null space of A")
	w.X.Add(alpha, m.g)               // x += α·g
	return m.residual(ctx, w, -alpha) // r -= α·q
}

func (m *steepest[D, R]) residual(ctx context.Context, w *solve.Workspace[D, R], a float64) (solve.Norms, error) {
	m.r.QueueAddNorm2(a, m.q, &m.rr)
	w.Gradient(ctx, m.g, m.r) // g = Aᴴr - damp²·x
	m.g.QueueNorm2(&m.gg)
	w.Reduce(ctx)
	return solve.Norms{Resid: math.Sqrt(m.rr), Grad: math.Sqrt(m.gg)}, w.Err()
}

// residuals is the method of conjugate residuals for a Hermitian A.
type residuals[T scalar.Scalar] struct {
	r, d, ar, ad  *solve.Vector[T]
	rr, rar, beta float64
}

func (m *residuals[T]) Name() string { return "conjugate residuals" }

func (m *residuals[T]) Init(ctx context.Context, w *solve.Workspace[T, T]) (solve.Norms, error) {
	w.Hermitian()
	m.r, m.d, m.ar, m.ad = w.Domain("r"), w.Domain("d"), w.Domain("A·r"), w.Domain("A·d")
	w.Number("‖r‖²", &m.rr)
	w.Number("rᴴAr", &m.rar)
	w.Number("β", &m.beta)
	w.Forward(ctx, m.ar, w.X)
	m.r.Copy(w.B)
	return m.residual(ctx, w, -1, m.ar)
}

func (m *residuals[T]) Step(ctx context.Context, w *solve.Workspace[T, T]) (solve.Norms, error) {
	m.d.Combine(m.beta, 1, m.r)   // d = r + β·d
	m.ad.Combine(m.beta, 1, m.ar) // Ad = Ar + β·Ad
	old := m.rar
	alpha := old / w.Positive("‖A·d‖²", m.ad.Norm2(ctx), "the direction is in the null space of A")
	w.X.Add(alpha, m.d)
	n, err := m.residual(ctx, w, -alpha, m.ad)
	m.beta = m.rar / old
	return n, err
}

func (m *residuals[T]) residual(ctx context.Context, w *solve.Workspace[T, T], a float64, v *solve.Vector[T]) (solve.Norms, error) {
	m.r.QueueAddNorm2(a, v, &m.rr)
	w.Forward(ctx, m.ar, m.r)
	m.r.QueueDot(m.ar, &m.rar)
	w.Reduce(ctx)
	return solve.Norms{Resid: math.Sqrt(m.rr), Grad: math.NaN()}, w.Err()
}

// ownMethods are methods written outside package solve.
func ownMethods[T scalar.Scalar]() []maker[T] {
	return []maker[T]{
		{"steepest descent", func() solve.Method[T, T] { return &steepest[T, T]{} }, tall[T], 2, true},
		{"conjugate residuals", func() solve.Method[T, T] { return &residuals[T]{} }, square[T], 2, false},
	}
}

// A method of the user's own solves what its problem is.
func TestOwnMethod(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		on(t, ranks, func(ctx context.Context, r dist.Proc) error {
			return all(func() error { return ownSolves[float64](ctx, r, 1e-10) }, func() error { return ownSolves[complex64](ctx, r, 1e-4) })
		})
	}
}

func ownSolves[T scalar.Scalar](ctx context.Context, r dist.Proc, tol float64) error {
	for _, m := range ownMethods[T]() {
		p, err := m.problem(ctx, r, 5)
		if err != nil {
			return err
		}
		x, err := dist.New[T](p.A.Domain())
		if err != nil {
			return err
		}
		c := solve.Config{MaxIter: 3000, RelTol: tol / 100}
		if _, err := ends(ctx, m, p, x, c, solve.Converged); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		if err := near(ctx, x, p.truth, tol); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

// Runs of a method of the user's own are resumed on other ranks as if nothing had
// happened; a checkpoint of another problem or another method is refused.
func TestOwnMethodResumes(t *testing.T) {
	for _, m := range ownMethods[float64]() {
		cp := solve.Checkpoint{Saver: data.Checkpoints{Dir: t.TempDir(), Keep: 2, Resume: true}, Every: 1}
		var want solve.Result
		run := func(ranks, iters int, method solve.Method[float64, float64], cp solve.Checkpoint, spoil bool) (res solve.Result, err error) {
			on(t, ranks, func(ctx context.Context, r dist.Proc) error {
				p, err2 := m.problem(ctx, r, 5)
				if err2 != nil {
					return err2
				}
				x, err2 := dist.New[float64](p.A.Domain())
				if err2 != nil {
					return err2
				}
				if spoil {
					if p.A, err2 = linop.Scale(2, p.A); err2 != nil {
						return err2
					}
				}
				got, e := p.run(ctx, method, x, solve.Config{MaxIter: iters, Checkpoint: cp, OnIter: func(it solve.Iteration) error {
					if it.K == 4 && iters == 99 {
						return errors.New("killed")
					}
					return nil
				}})
				if r.Rank() == 0 {
					res, err = got, e
				}
				return nil
			})
			return res, err
		}
		want, err := run(1, 8, m.method(), solve.Checkpoint{}, false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run(1, 99, m.method(), cp, false); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Errorf("%s: got %v", m.name, err)
		}
		if _, err := run(1, 8, m.method(), cp, true); err == nil || !strings.Contains(err.Error(), "another operator") {
			t.Errorf("%s: got %v of another problem", m.name, err)
		}
		res, err := run(1, 8, m.method(), cp, false)
		if err != nil || res.Resumed != 3 || res.Iters != 8 {
			t.Errorf("%s: resumed at %d, ended at %d: %v", m.name, res.Resumed, res.Iters, err)
		} else if err := sameHistory(res.History, want.History, 1e-12); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		var other solve.Method[float64, float64] = renamed{m.method()}
		if _, err := run(1, 9, other, cp, false); err == nil || !strings.Contains(err.Error(), "more") || !strings.Contains(err.Error(), `the run keeps ["x"`) {
			t.Errorf("%s: got %v of a method with other vectors", m.name, err)
		}
	}
}

// renamed is a method that keeps one vector more than its name promises.
type renamed struct {
	solve.Method[float64, float64]
}

func (m renamed) Init(ctx context.Context, w *solve.Workspace[float64, float64]) (solve.Norms, error) {
	w.Domain("more")
	return m.Method.Init(ctx, w)
}

// What goes wrong in a method of the user's own has the statuses and errors of the
// house.
func TestOwnMethodFails(t *testing.T) {
	on(t, 3, func(ctx context.Context, r dist.Proc) error {
		p, err := tall[float64](ctx, r, 5)
		if err != nil {
			return err
		}
		x, err := dist.New[float64](p.A.Domain())
		if err != nil {
			return err
		}
		given, err := linop.Scale(1, p.A)
		if err != nil {
			return err
		}
		q := p
		q.A = &blind{given}
		res, err := q.run(ctx, &steepest[float64, float64]{}, x, solve.Defaults())
		if err != nil || res.Status != solve.Breakdown || !strings.Contains(res.Why, "null space") || res.Iters != 0 {
			return fmt.Errorf("an operator of zeros: %v after %d, %s: %w", res.Status, res.Iters, res.Why, err)
		}
		if n, err := dist.Norm(ctx, x, 2); err != nil || n != 0 {
			return fmt.Errorf("a breakdown has changed x: norm %g: %w", n, err)
		}
		type space = *solve.Workspace[float64, float64]
		for _, k := range []struct {
			want string
			m    solve.Method[float64, float64]
		}{
			{"maps a space to itself", &residuals[float64]{}},
			{`vector "twice" is asked for twice`, &mistaken{init: func(w space) { w.Domain("twice"); w.Domain("twice") }}},
			{`number "n" is named twice`, &mistaken{init: func(w space) { w.Number("n", new(float64)); w.Number("n", new(float64)) }}},
			{`vector "late" is asked for in a step`, &mistaken{step: func(w space) { w.Domain("late") }}},
			{"nothing is queued", &mistaken{step: func(w space) { w.Reduce(ctx) }}},
			{"only on rank 1", &mistaken{init: func(w space) {
				if r.Rank() == 1 {
					w.Fail(errors.New("only on rank 1"))
				}
			}}},
		} {
			if _, err := p.run(ctx, k.m, x, solve.Defaults()); err == nil || !strings.Contains(err.Error(), k.want) {
				return fmt.Errorf("got %v, want %q", err, k.want)
			}
		}
		return nil
	})
}

// mistaken is a method with a mistake.
type mistaken struct {
	steepest[float64, float64]
	init, step func(w *solve.Workspace[float64, float64])
}

func (m *mistaken) Init(ctx context.Context, w *solve.Workspace[float64, float64]) (solve.Norms, error) {
	if m.init != nil {
		m.init(w)
	}
	return m.steepest.Init(ctx, w)
}

func (m *mistaken) Step(ctx context.Context, w *solve.Workspace[float64, float64]) (solve.Norms, error) {
	if m.step != nil {
		m.step(w)
	}
	return m.steepest.Step(ctx, w)
}

// blind takes everything to zero, but its adjoint does not.
type blind struct{ linop.Operator[float64] }

func (b *blind) Forward(_ context.Context, dst, _ dist.Array[float64]) error {
	dist.Zero(dst)
	return nil
}
