package solve_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/fakegpu"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// sparseMaker is a method for a problem with sparse solutions.
type sparseMaker[T scalar.Scalar] struct {
	name     string
	method   func(ctx context.Context, a linop.Map[T, T]) (solve.Method[T, T], error)
	messages int // per step; 0 where problems inside have a number of their own
}

func sparseMethods[T scalar.Scalar]() []sparseMaker[T] {
	o := solve.Shrinkage[T]{Eps: 0.1}
	with := func(f func(o *solve.Shrinkage[T])) solve.Shrinkage[T] {
		o := o
		f(&o)
		return o
	}
	is := func(m solve.Method[T, T]) func(context.Context, linop.Map[T, T]) (solve.Method[T, T], error) {
		return func(context.Context, linop.Map[T, T]) (solve.Method[T, T], error) { return m, nil }
	}
	return []sparseMaker[T]{
		{"ISTA", is(&solve.ISTA[T, T]{Shrinkage: o}), 1},
		{"ISTA, hard", is(&solve.ISTA[T, T]{Shrinkage: with(func(o *solve.Shrinkage[T]) { o.Threshold = solve.Hard })}), 1},
		{"ISTA, half", is(&solve.ISTA[T, T]{Shrinkage: with(func(o *solve.Shrinkage[T]) { o.Threshold = solve.Half })}), 1},
		{"ISTA, backtracking", is(&solve.ISTA[T, T]{Shrinkage: with(func(o *solve.Shrinkage[T]) { o.Backtrack = true })}), 0},
		{"FISTA", is(&solve.FISTA[T, T]{Shrinkage: o}), 1},
		{"FISTA, monotone", is(&solve.FISTA[T, T]{Shrinkage: o, Monotone: true}), 1},
		{"FISTA, restarts", is(&solve.FISTA[T, T]{Shrinkage: o, Restart: true}), 1},
		{"FISTA, backtracking", is(&solve.FISTA[T, T]{Shrinkage: with(func(o *solve.Shrinkage[T]) { o.Backtrack = true })}), 0},
		{"FISTA, percentile", is(&solve.FISTA[T, T]{Shrinkage: solve.Shrinkage[T]{Keep: 40}}), 0},
		{"FISTA, transform", func(ctx context.Context, a linop.Map[T, T]) (solve.Method[T, T], error) {
			s, err := ops.Roll[T](ctx, a.Domain(), 0, 1)
			return &solve.FISTA[T, T]{Shrinkage: with(func(o *solve.Shrinkage[T]) { o.Transform = solve.NewTransform(s) })}, err
		}, 1},
		{"SplitBregman", func(_ context.Context, a linop.Map[T, T]) (solve.Method[T, T], error) {
			d, err := ops.Identity[T](a.Domain())
			return &solve.SplitBregman[T, T]{L1: []solve.L1Term[T, T]{{R: d, Weight: 0.1}}, Steps: 30}, err
		}, 0},
		{"IRLS of data", is(&solve.IRLS[T, T]{Eps: 1e-3}), 0},
		{"IRLS of the model", is(&solve.IRLS[T, T]{Model: true, Damp: 0.1}), 0},
		{"basis pursuit", is(&solve.BasisPursuit[T, T]{Sigma: 0.5}), 0},
		{"OMP", is(&solve.OMP[T, T]{}), 0},
		{"matching pursuit", is(&solve.OMP[T, T]{Matching: true}), 3},
	}
}

// eachSparse runs f for every sparse method, with the problem of tall.
func eachSparse[T scalar.Scalar](ctx context.Context, r dist.Proc, n int, f func(m sparseMaker[T], s solve.Method[T, T], p problem[T], x dist.Array[T]) error) error {
	for _, m := range sparseMethods[T]() {
		p, err := tall[T](ctx, r, n)
		if err != nil {
			return err
		}
		s, err := m.method(ctx, p.A)
		if err != nil {
			return err
		}
		x, err := dist.New[T](p.A.Domain())
		if err == nil {
			err = f(m, s, p, x)
		}
		if err != nil {
			return fmt.Errorf("%s of %v: %w", m.name, scalar.Of[T](), err)
		}
	}
	return nil
}

// A step of shrinkage sends one message, in which callbacks travel.
func TestSparseMessages(t *testing.T) {
	on(t, 3, func(ctx context.Context, r dist.Proc) error {
		r, count, err := counted(ctx, r)
		if err != nil {
			return err
		}
		return eachSparse(ctx, r, 11, func(m sparseMaker[float64], s solve.Method[float64, float64], p problem[float64], x dist.Array[float64]) error {
			if m.messages == 0 {
				return nil
			}
			var sent [2]int
			for i := range sent {
				dist.Zero(x)
				count.Reset()
				c := solve.Config{MaxIter: 2 + 3*i, OnIter: func(solve.Iteration) error { return nil }}
				if _, err := solve.Run(ctx, s, p.Problem, x, c); err != nil {
					return err
				}
				sent[i] = count.Collectives()
			}
			if got := sent[1] - sent[0]; got != 3*m.messages {
				return fmt.Errorf("%d collectives in 3 steps, want %d", got, 3*m.messages)
			}
			return nil
		})
	})
}

// Where memory is not the host's, a step of shrinkage waits for the device once.
func TestSparseWaits(t *testing.T) {
	err := testdevices.On(t.Context(), "hidden", 1, func(ctx context.Context, r dist.Proc) error {
		d := r.Device.(*fakegpu.Device)
		return eachSparse(ctx, r, 40, func(m sparseMaker[float32], s solve.Method[float32, float32], p problem[float32], x dist.Array[float32]) error {
			if m.messages != 1 {
				return nil
			}
			w, _, err := p.start(ctx, s, x)
			if err != nil {
				return err
			}
			before := d.Waits
			for range 5 {
				if _, err := s.Step(ctx, w); err != nil {
					return err
				}
			}
			if got := d.Waits - before; got != 5 {
				return fmt.Errorf("%d waits in 5 steps", got)
			}
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
}

// A resumed run of a sparse method gives the numbers of one that was not.
func TestSparseResumes(t *testing.T) {
	root := t.TempDir()
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		return eachSparse(ctx, r, 11, func(m sparseMaker[float64], s solve.Method[float64, float64], p problem[float64], x dist.Array[float64]) error {
			want, err := solve.Run(ctx, s, p.Problem, x, solve.Config{MaxIter: 7})
			if err != nil {
				return err
			}
			y, err := dist.New[float64](x.Space())
			if err != nil {
				return err
			}
			cp := solve.Checkpoint{Saver: data.Checkpoints{Dir: root + "/" + m.name, Keep: 2, Resume: true}, Every: 1}
			if _, err := solve.Run(ctx, s, p.Problem, y, solve.Config{MaxIter: 3, Checkpoint: cp}); err != nil {
				return err
			}
			dist.Zero(y)
			got, err := solve.Run(ctx, s, p.Problem, y, solve.Config{MaxIter: 7, Checkpoint: cp})
			if err != nil || got.Resumed != min(3, want.Iters) || got.Iters != want.Iters || got.Cost != want.Cost {
				return fmt.Errorf("resumed at %d, %d iterations to %g, want %d to %g: %w", got.Resumed, got.Iters, got.Cost, want.Iters, want.Cost, err)
			}
			return near(ctx, y, x, 0)
		})
	})
}

// A step that is too long, an adjoint that is none, and parameters that cannot be are
// a status or an error, and x is finite and no worse than the start.
func TestSparseDiverges(t *testing.T) {
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		p, err := tall[float64](ctx, r, 11)
		if err != nil {
			return err
		}
		run := func(o solve.Shrinkage[float64], q solve.Problem[float64, float64], c solve.Config, want string) error {
			for _, m := range []solve.Method[float64, float64]{&solve.ISTA[float64, float64]{Shrinkage: o}, &solve.FISTA[float64, float64]{Shrinkage: o}} {
				x, err := dist.New[float64](p.A.Domain())
				if err != nil {
					return err
				}
				res, err := solve.Run(ctx, m, q, x, c)
				if err != nil {
					if !strings.Contains(err.Error(), want) {
						return fmt.Errorf("%s: got %w, want %q", m.Name(), err, want)
					}
					continue
				}
				if (res.Status != solve.Diverged && res.Status != solve.Breakdown) || !strings.Contains(res.Why, want) {
					return fmt.Errorf("%s: %v, %q, want %q", m.Name(), res.Status, res.Why, want)
				}
				n, err := dist.Norm(ctx, x, 2)
				if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || !(res.Cost <= res.History[0].Cost) {
					return fmt.Errorf("%s: ‖x‖ is %g, the cost %g after %g: %w", m.Name(), n, res.Cost, res.History[0].Cost, err)
				}
			}
			return nil
		}
		a := p.A
		wrong, err := linop.Func("test: functions", a.Domain(), a.Range(), a.Forward, func(ctx context.Context, dst, src dist.Array[float64]) error {
			err := a.Adjoint(ctx, dst, src)
			dist.Scale(dst, -1, dst)
			return err
		})
		if err != nil {
			return err
		}
		q := solve.Problem[float64, float64]{A: wrong, B: p.B}
		steps := solve.Defaults()
		steps.MaxIter = 2000
		free := solve.Config{MaxIter: 5000}
		nan := math.NaN()
		return all(
			func() error { return run(solve.Shrinkage[float64]{Eps: 0.1, Alpha: 10}, p.Problem, steps, "too long") },
			func() error { return run(solve.Shrinkage[float64]{Eps: 0.1, Alpha: 10}, p.Problem, free, "finite") },
			func() error {
				return run(solve.Shrinkage[float64]{Eps: 0.1, Alpha: 10, Monitor: true}, p.Problem, free, "rises")
			},
			func() error { return run(solve.Shrinkage[float64]{Eps: 0.1}, q, steps, "not the adjoint") },
			func() error { return run(solve.Shrinkage[float64]{Eps: 0.1, Alpha: 0.1}, q, steps, "not the adjoint") },
			func() error { return run(solve.Shrinkage[float64]{Eps: -1}, p.Problem, steps, "Eps is -1") },
			func() error { return run(solve.Shrinkage[float64]{Eps: nan}, p.Problem, steps, "Eps is NaN") },
			func() error { return run(solve.Shrinkage[float64]{Alpha: nan}, p.Problem, steps, "Alpha is NaN") },
			func() error { return run(solve.Shrinkage[float64]{Keep: 101}, p.Problem, steps, "percentage") },
			func() error {
				return run(solve.Shrinkage[float64]{Eps: 1}, solve.Problem[float64, float64]{A: a}, steps, "no b given")
			})
	})
}
