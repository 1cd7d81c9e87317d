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
	name   string
	method func(ctx context.Context, a linop.Map[T, T]) (solve.Method[T, T], error)
	once   bool // a step sends one message and waits for the device once
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
		{"ISTA", is(&solve.ISTA[T, T]{Shrinkage: o}), true},
		{"ISTA, hard", is(&solve.ISTA[T, T]{Shrinkage: with(func(o *solve.Shrinkage[T]) { o.Threshold = solve.Hard })}), true},
		{"ISTA, half", is(&solve.ISTA[T, T]{Shrinkage: with(func(o *solve.Shrinkage[T]) { o.Threshold = solve.Half })}), true},
		{"ISTA, backtracking", is(&solve.ISTA[T, T]{Shrinkage: with(func(o *solve.Shrinkage[T]) { o.Backtrack = true })}), false},
		{"FISTA", is(&solve.FISTA[T, T]{Shrinkage: o}), true},
		{"FISTA, monotone", is(&solve.FISTA[T, T]{Shrinkage: o, Monotone: true}), true},
		{"FISTA, restarts", is(&solve.FISTA[T, T]{Shrinkage: o, Restart: true}), true},
		{"FISTA, backtracking", is(&solve.FISTA[T, T]{Shrinkage: with(func(o *solve.Shrinkage[T]) { o.Backtrack = true })}), false},
		{"FISTA, percentile", is(&solve.FISTA[T, T]{Shrinkage: solve.Shrinkage[T]{Keep: 40}}), false},
		{"FISTA, transform", func(ctx context.Context, a linop.Map[T, T]) (solve.Method[T, T], error) {
			s, err := ops.Roll[T](ctx, a.Domain(), 0, 1)
			return &solve.FISTA[T, T]{Shrinkage: with(func(o *solve.Shrinkage[T]) { o.Transform = solve.NewTransform(s) })}, err
		}, true},
		{"SplitBregman", func(_ context.Context, a linop.Map[T, T]) (solve.Method[T, T], error) {
			d, err := ops.Identity[T](a.Domain())
			return &solve.SplitBregman[T, T]{L1: []solve.L1Term[T, T]{{R: d, Weight: 0.1}}, Steps: 30}, err
		}, false},
		{"IRLS of data", is(&solve.IRLS[T, T]{Eps: 1e-3}), false},
		{"IRLS of the model", is(&solve.IRLS[T, T]{Model: true, Damp: 0.1}), false},
		{"basis pursuit", is(&solve.BasisPursuit[T, T]{Sigma: 0.5}), false},
		{"OMP", is(&solve.OMP[T, T]{}), false},
		{"matching pursuit", is(&solve.OMP[T, T]{Matching: true}), false},
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

// A projection of basis pursuit sends a message for each of its trials, and the rest of a
// step two.
func TestBasisPursuitMessages(t *testing.T) {
	on(t, 3, func(ctx context.Context, r dist.Proc) error {
		r, count, err := counted(ctx, r)
		if err != nil {
			return err
		}
		p, err := tall[float64](ctx, r, 11)
		if err != nil {
			return err
		}
		x, err := dist.New[float64](p.A.Domain())
		if err != nil {
			return err
		}
		m := &solve.BasisPursuit[float64, float64]{Sigma: 5}
		w, _, err := p.start(ctx, m, x)
		if err != nil {
			return err
		}
		const steps, each = 8, 3 + 4 + 2 // numbers in the two messages: the largest element takes one for each rank
		count.Reset()
		for range steps {
			if _, err := m.Step(ctx, w); err != nil {
				return err
			}
		}
		trials := (count.Elements("AllReduce") - each*steps) / 2 // sum and count
		if got := count.Collectives(); got != 2*steps+trials || trials <= steps {
			return fmt.Errorf("%v in %d steps with %d trials", count, steps, trials)
		}
		return nil
	})
}

// Where memory is not the host's, a step of shrinkage waits for the device once.
func TestSparseWaits(t *testing.T) {
	err := testdevices.On(t.Context(), "hidden", 1, func(ctx context.Context, r dist.Proc) error {
		d := r.Device.(*fakegpu.Device)
		return eachSparse(ctx, r, 40, func(m sparseMaker[float32], s solve.Method[float32, float32], p problem[float32], x dist.Array[float32]) error {
			if !m.once {
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
