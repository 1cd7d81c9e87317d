package solve_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/solve"
)

// distance is ½‖x - to‖².
type distance struct{ to, off dist.Array[float64] }

func (f distance) Value(ctx context.Context, x dist.Array[float64]) (float64, error) {
	dist.Sub(f.off, x, f.to)
	n, err := dist.Norm(ctx, f.off, 2)
	return n * n / 2, err
}

func (f distance) Gradient(_ context.Context, g, x dist.Array[float64]) error {
	dist.Sub(g, x, f.to)
	return nil
}

// oneNorm is w·‖x‖₁.
type oneNorm float64

func (w oneNorm) Value(ctx context.Context, x dist.Array[float64]) (float64, error) {
	n, err := dist.Norm(ctx, x, 1)
	return float64(w) * n, err
}

func (w oneNorm) Prox(_ context.Context, y dist.Array[float64], tau float64, x dist.Array[float64]) error {
	dist.Threshold(y, x, device.SoftThreshold, tau*float64(w))
	return nil
}

// proximal minimises f(x) + g(x) by steps of length tau, without A and b.
type proximal struct {
	f    distance
	g    oneNorm
	tau  float64
	next *solve.Vector[float64]
}

func (m *proximal) Name() string { return "proximal steps" }

func (m *proximal) Minimises() string {
	return fmt.Sprintf("½‖x - to‖² + %g·‖x‖₁", float64(m.g))
}

func (m *proximal) Init(ctx context.Context, w *solve.Workspace[float64, float64]) (solve.Norms, error) {
	w.Parameter("the weight", float64(m.g))
	m.next = w.DomainScratch("next x")
	return m.norms(ctx, w.X, 0), w.Err()
}

func (m *proximal) norms(ctx context.Context, x *solve.Vector[float64], step float64) solve.Norms {
	return solve.Norms{Resid: math.NaN(), Grad: math.NaN(), Cost: x.Value(ctx, m.f) + x.Value(ctx, m.g), Step: step}
}

func (m *proximal) Step(ctx context.Context, w *solve.Workspace[float64, float64]) (solve.Norms, error) {
	m.next.Gradient(ctx, m.f, w.X)
	m.next.Combine(-m.tau, 1, w.X)
	m.next.Prox(ctx, m.g, m.tau, m.next)
	n := m.norms(ctx, m.next, 0)
	m.next.Add(-1, w.X)
	n.Step = math.Sqrt(m.next.Norm2(ctx))
	w.X.Add(1, m.next)
	return n, w.Err()
}

// costProblem returns the method, the start, and the x that makes the cost smallest.
func costProblem(ctx context.Context, r dist.Proc) (m *proximal, x, want dist.Array[float64], err error) {
	s, err := dist.NewSpace(ctx, r, dist.Layout{}, 30)
	if err != nil {
		return nil, x, want, err
	}
	m = &proximal{g: 0.3, tau: 0.5}
	var errs [4]error
	m.f.to, errs[0] = dist.Random[float64](ctx, s, 3)
	m.f.off, errs[1] = dist.New[float64](s)
	x, errs[2] = dist.New[float64](s)
	want, errs[3] = dist.New[float64](s)
	dist.Threshold(want, m.f.to, device.SoftThreshold, 0.3)
	return m, x, want, errors.Join(errs[:]...)
}

var noProblem solve.Problem[float64, float64]

// A problem without A and b runs until a tolerance of cost or step is met.
func TestMinimiserTolerances(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		on(t, ranks, func(ctx context.Context, r dist.Proc) error {
			for i, c := range []solve.Config{{MaxIter: 200, StepTol: 1e-10}, {MaxIter: 200, FallTol: 1e-14}, {MaxIter: 200, CostTol: 1e9}} {
				name := []string{"step", "fall", "cost"}[i]
				m, x, want, err := costProblem(ctx, r)
				if err != nil {
					return err
				}
				res, err := solve.Run(ctx, m, noProblem, x, c)
				if err != nil || res.Status != solve.Converged || len(res.History) != res.Iters+1 {
					return fmt.Errorf("%s: %v after %d with %d norms: %w", name, res.Status, res.Iters, len(res.History), err)
				}
				if name == "cost" {
					if res.Iters != 0 {
						return fmt.Errorf("%d iterations for a cost that is small enough", res.Iters)
					}
					continue
				}
				if err := near(ctx, x, want, 1e-6); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				v, err := m.f.Value(ctx, x)
				w, err2 := m.g.Value(ctx, x)
				if errors.Join(err, err2) != nil || math.Abs(res.Cost-v-w) > 1e-12*res.Cost || res.Cost != res.History[res.Iters].Cost || !math.IsNaN(res.Resid) {
					return fmt.Errorf("%s: cost %g, want %g: %w", name, res.Cost, v+w, errors.Join(err, err2))
				}
			}
			return nil
		})
	}
}

// A run that diverges, or meets NaN, ends with a status and leaves the best x.
func TestMinimiserDiverges(t *testing.T) {
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		for _, k := range []struct {
			name string
			tau  float64
			c    solve.Config
			why  string
		}{
			{"limit", 5, solve.Defaults(), "too long"},
			{"no limit", 5, solve.Config{MaxIter: 5000}, "not a finite number"},
			{"NaN", math.NaN(), solve.Defaults(), "not a finite number"},
		} {
			m, x, _, err := costProblem(ctx, r)
			if err != nil {
				return err
			}
			m.tau = k.tau
			res, err := solve.Run(ctx, m, noProblem, x, k.c)
			if err != nil || res.Status != solve.Diverged || !strings.Contains(res.Why, k.why) {
				return fmt.Errorf("%s: %v, %s: %w", k.name, res.Status, res.Why, err)
			}
			v, err := m.f.Value(ctx, x)
			w, err2 := m.g.Value(ctx, x)
			if err := errors.Join(err, err2); err != nil || !(v+w <= res.History[0].Cost) || res.Cost != v+w {
				return fmt.Errorf("%s: the cost is %g, %g in the result, %g at the start: %w", k.name, v+w, res.Cost, res.History[0].Cost, err)
			}
		}
		for _, weight := range []float64{-1, math.NaN(), math.Inf(1)} {
			m, x, _, err := costProblem(ctx, r)
			if err != nil {
				return err
			}
			m.g = oneNorm(weight)
			if _, err := solve.Run(ctx, m, noProblem, x, solve.Defaults()); err == nil || !strings.Contains(err.Error(), "the weight is") {
				return fmt.Errorf("weight %g: %w", weight, err)
			}
		}
		return nil
	})
}

// What a Minimiser cannot do, and what only a Minimiser can, is an error.
func TestMinimiserRefuses(t *testing.T) {
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		m, x, _, err := costProblem(ctx, r)
		if err != nil {
			return err
		}
		if _, err := solve.Run(ctx, m, noProblem, x, solve.Config{Damp: 1}); err == nil || !strings.Contains(err.Error(), "Damp") {
			return fmt.Errorf("damping: %w", err)
		}
		if _, err := solve.Run(ctx, &solve.CG[float64]{}, noProblem, x, solve.Defaults()); err == nil || !strings.Contains(err.Error(), "no operator") {
			return fmt.Errorf("CG without operator: %w", err)
		}
		w, err := solve.NewWorkspace(noProblem, x, 0)
		if err != nil {
			return err
		}
		if _, err := w.Start(ctx, &solve.CG[float64]{}); err == nil || !strings.Contains(err.Error(), "no operator") {
			return fmt.Errorf("a workspace for CG without operator: %w", err)
		}
		return nil
	})
}

// A run that is resumed gives the numbers of one that was not. A checkpoint of another
// cost is refused.
func TestMinimiserResumes(t *testing.T) {
	dir := t.TempDir()
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		run := func(weight float64, c solve.Config) (solve.Result, error) {
			m, x, _, err := costProblem(ctx, r)
			if err != nil {
				return solve.Result{}, err
			}
			m.g = oneNorm(weight)
			return solve.Run(ctx, m, noProblem, x, c)
		}
		want, err := run(0.3, solve.Config{MaxIter: 200, StepTol: 1e-8})
		if err != nil {
			return err
		}
		cp := solve.Checkpoint{Saver: data.Checkpoints{Dir: dir, Keep: 2, Resume: true}, Every: 1}
		stop := func(it solve.Iteration) error {
			if it.K == 5 && r.Rank() == 1 {
				return solve.ErrStop
			}
			return nil
		}
		res, err := run(0.3, solve.Config{MaxIter: 200, StepTol: 1e-8, Checkpoint: cp, OnIter: stop})
		if err != nil || res.Status != solve.Stopped || res.Iters != 5 {
			return fmt.Errorf("%v after %d: %w", res.Status, res.Iters, err)
		}
		if _, err := run(0.4, solve.Config{MaxIter: 200, Checkpoint: cp}); err == nil || !strings.Contains(err.Error(), "0.4·‖x‖₁") {
			return fmt.Errorf("another weight: %w", err)
		}
		got, err := run(0.3, solve.Config{MaxIter: 200, StepTol: 1e-8, Checkpoint: cp})
		if err != nil || got.Resumed != 5 || got.Iters != want.Iters || got.Cost != want.Cost {
			return fmt.Errorf("resumed at %d, %d iterations to %g, want %d to %g: %w", got.Resumed, got.Iters, got.Cost, want.Iters, want.Cost, err)
		}
		for k := range want.History {
			if got.History[k].Cost != want.History[k].Cost || got.History[k].Step != want.History[k].Step {
				return fmt.Errorf("iteration %d: %v, want %v", k, got.History[k], want.History[k])
			}
		}
		return nil
	})
}
