package solve_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/solve"
)

// counted returns a rank whose messages are counted.
func counted(ctx context.Context, r dist.Proc) (dist.Proc, *commtest.Counter, error) {
	c := commtest.NewCounter(r.Comm)
	rank, err := dist.NewProc(ctx, c.Comm, r.Device)
	return rank, c, err
}

// A step sends one or two messages beside those of the operator.
func TestMessagesPerStep(t *testing.T) {
	for _, damp := range []float64{0, 0.5} {
		on(t, 3, func(ctx context.Context, r dist.Proc) error {
			r, count, err := counted(ctx, r)
			if err != nil {
				return err
			}
			return each(ctx, r, 11, func(m maker[float64], p problem[float64], x dist.Array[float64]) error {
				if m.ls {
					p.damp = damp
				}
				method := m.method()
				w, _, err := p.start(ctx, method, x)
				if err != nil {
					return err
				}
				for range 3 {
					count.Reset()
					if _, err := method.Step(ctx, w); err != nil {
						return err
					}
					if count.Collectives() != m.messages {
						return fmt.Errorf("%d collectives in a step, want %d: %v", count.Collectives(), m.messages, count)
					}
				}
				return nil
			})
		})
	}
}

// OnIter and Budget cost no message: the votes travel with those of the next step.
// With checkpoints they cost one per iteration. Checkpoints by count cost nothing
// between them.
func TestMessagesPerIteration(t *testing.T) {
	never := func(solve.Iteration) error { return nil }
	for _, k := range []struct {
		name string
		c    solve.Config
		more int
	}{
		{"nothing", solve.Config{}, 0},
		{"OnIter", solve.Config{OnIter: never}, 0},
		{"Budget", solve.Config{Budget: time.Hour}, 0},
		{"Interval", solve.Config{Checkpoint: solve.Checkpoint{Interval: time.Hour}}, 1},
		{"all", solve.Config{OnIter: never, Budget: time.Hour, Checkpoint: solve.Checkpoint{Interval: time.Hour}}, 1},
		{"Every", solve.Config{Checkpoint: solve.Checkpoint{Every: 1 << 20}}, 0},
	} {
		dir := t.TempDir()
		on(t, 3, func(ctx context.Context, r dist.Proc) error {
			r, count, err := counted(ctx, r)
			if err != nil {
				return err
			}
			return each(ctx, r, 11, func(m maker[float64], p problem[float64], x dist.Array[float64]) error {
				c := k.c
				if c.Checkpoint != (solve.Checkpoint{}) {
					c.Checkpoint.Saver = data.Checkpoints{Dir: dir, Keep: 2, Restart: true}
				}
				var sent [2]int
				for i := range sent {
					c.MaxIter = 2 + 3*i
					dist.Zero(x)
					count.Reset()
					if _, err := p.run(ctx, m.method(), x, c); err != nil {
						return err
					}
					sent[i] = count.Collectives()
				}
				if got, want := sent[1]-sent[0], 3*(m.messages+k.more); got != want {
					return fmt.Errorf("%s: %d collectives in 3 iterations, want %d", k.name, got, want)
				}
				return nil
			})
		})
	}
}

// Ranks whose copies of a replicated vector differ in their last bits stop after
// the same iteration all the same: sums are those of one of them.
func TestCopiesThatDiffer(t *testing.T) {
	on(t, 3, func(ctx context.Context, r dist.Proc) error {
		for _, m := range methods[float64]() {
			x, err := dist.NewSpace(ctx, r, dist.Replicated, 40)
			if err != nil {
				return err
			}
			p, err := tallOver[float64](ctx, x)
			if err == nil && !m.ls {
				p, err = p.squared(ctx)
			}
			if err != nil {
				return err
			}
			a := p.A // off by a little that depends on the rank
			off := func(y dist.Array[float64]) { dist.Scale(y, 1+1e-13*float64(r.Rank()), y) }
			p.A, err = linop.Func("test: functions", a.Domain(), a.Range(), func(ctx context.Context, dst, src dist.Array[float64]) error {
				defer off(dst)
				return a.Forward(ctx, dst, src)
			}, func(ctx context.Context, dst, src dist.Array[float64]) error {
				defer off(dst)
				return a.Adjoint(ctx, dst, src)
			})
			if err != nil {
				return err
			}
			y, err := dist.Random[float64](ctx, x, 4)
			if err != nil {
				return err
			}
			res, err := p.run(ctx, m.method(), y, solve.Config{MaxIter: 100, RelTol: 1e-9})
			if err != nil {
				return err
			}
			seen := []float64{res.History[res.Iters].Resid}
			all := make([]float64, r.Size())
			if err := r.AllGather(ctx, comm.Of(all), comm.Of(seen)); err != nil {
				return err
			}
			if res.Status != solve.Converged || all[0] != all[1] || all[0] != all[2] {
				return fmt.Errorf("%s: %v with residuals %v", m.name, res.Status, all)
			}
		}
		return nil
	})
}

// The ranks of each color of a mask solve a problem of their own and stop when
// they are done.
func TestMask(t *testing.T) {
	on(t, 4, func(ctx context.Context, r dist.Proc) error {
		color := []int{0, 1, 0, 1}
		for _, m := range methods[float64]() {
			x, err := dist.NewSpace(ctx, r, dist.Layout{Mask: color}, 20)
			if err != nil {
				return err
			}
			truth, err := dist.Random[float64](ctx, x, 4)
			if err != nil {
				return err
			}
			// One color has one eigenvalue and is done at once, the other has many.
			a, err := linop.Func("test: functions", x, x, func(_ context.Context, dst, src dist.Array[float64]) error {
				return scaleBy(dst, src, color[r.Rank()])
			}, func(_ context.Context, dst, src dist.Array[float64]) error { return scaleBy(dst, src, color[r.Rank()]) })
			if err != nil {
				return err
			}
			b, err := linop.Apply(ctx, a, truth)
			if err != nil {
				return err
			}
			y, err := dist.New[float64](x)
			if err != nil {
				return err
			}
			q := solve.Problem[float64, float64]{A: a, B: b}
			res, err := solve.Run(ctx, m.method(), q, y, solve.Config{MaxIter: 100, RelTol: 1e-12, OnIter: func(solve.Iteration) error { return nil }})
			if err != nil {
				return err
			}
			if want := []int{1, 5}[color[r.Rank()]]; res.Status != solve.Converged || res.Iters != want {
				return fmt.Errorf("%s: %v after %d iterations on rank %d, want %d", m.name, res.Status, res.Iters, r.Rank(), want)
			}
			if err := near(ctx, y, truth, 1e-11); err != nil {
				return err
			}
			if _, err := solve.Run(ctx, m.method(), q, y, solve.Config{MaxIter: 100, RelTol: 1e-6, Checkpoint: solve.Checkpoint{Saver: data.Checkpoints{Dir: "x", Keep: 2}}}); err == nil {
				return fmt.Errorf("%s: a checkpoint with a mask: no error", m.name)
			}
		}
		return nil
	})
}

// scaleBy multiplies by 2 on color 0 and by 1 to 5 on color 1.
func scaleBy(dst, src dist.Array[float64], color int) error {
	h, err := src.Host()
	for i := range h {
		h[i] *= float64((1-color)*2 + color*(1+i%5))
	}
	if err != nil {
		return err
	}
	return dst.Local().CopyIn(h)
}
