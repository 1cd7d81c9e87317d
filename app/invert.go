package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// methods are those of Method.
var methods = []string{"cgls", "cgls-one-message", "lsqr"}

// Method returns the least-squares method that a configuration names, nil if it is none
// of the kit's.
func Method[D, R scalar.Scalar](name string) solve.Method[D, R] {
	switch name {
	case "cgls":
		return &solve.CGLS[D, R]{}
	case "cgls-one-message":
		return &solve.CGLS[D, R]{OneMessage: true}
	case "lsqr":
		return &solve.LSQR[D, R]{}
	}
	return nil
}

// Invert solves p for x, from the x given, as the stage "inversion": with progress,
// checkpoints and a graceful stop. It is collective. An x that explains nothing of the
// data is an error; any other end is a note of the Result. A solve.Minimiser, such as
// FISTA, ends when a step is at most Tolerance times the largest one; Damp is not for it.
func Invert[D, R scalar.Scalar](ctx context.Context, r *Rank, s Solver, m solve.Method[D, R], p solve.Problem[D, R], x dist.Array[D]) error {
	return r.Stage(ctx, inversionStage, func() error { return invert(ctx, r, s, m, p, x) })
}

// What a method makes small.
const residual, cost = "residual", "cost"

func invert[D, R scalar.Scalar](ctx context.Context, r *Rank, s Solver, m solve.Method[D, R], p solve.Problem[D, R], x dist.Array[D]) (err error) {
	c := r.base.Checkpoint
	cfg := solve.Config{MaxIter: s.Iterations, Diverge: solve.Defaults().Diverge, OnNote: r.o.Warn}
	if r.checkpoint != nil {
		cfg.Checkpoint = solve.Checkpoint{Saver: r.checkpoint, Every: c.Every, Interval: time.Duration(c.Time * float64(time.Second))}
	}
	whole := 0.0 // of the residual or the cost
	if _, minimises := m.(solve.Minimiser); minimises {
		r.res.Measure, cfg.StepTol = cost, s.Tolerance
	} else {
		r.res.Measure, cfg.Damp, cfg.RelTol = residual, s.Damp, s.Tolerance
		if whole, err = dist.Norm(ctx, p.B, 2); err != nil {
			return err
		}
	}
	left := func(n solve.Norms) float64 {
		if whole == 0 {
			return 0
		}
		return r.res.size(n) / whole
	}
	begun, first, next := time.Now(), 0, 0 // of this run: when, at which iteration; and the next for the live page
	started, stop := false, newStopper(r.ctl, r.Rank(), c.Dir)
	cfg.OnIter = func(it solve.Iteration) error {
		if !started && it.K > 0 {
			r.o.Note(fmt.Sprintf("resumed at iteration %d of %s", it.K, c.Dir))
		}
		if !started && r.res.Measure == cost {
			whole = it.Cost // of a resumed run, that of where it goes on
		}
		if !started {
			begun, first, next = time.Now(), it.K, it.K+1
		}
		started = true
		r.o.Iteration(it.K, s.Iterations, r.res.Measure, left(it.Norms))
		if r.ctl.serve && it.K >= next {
			var err error
			if next, err = showLive(ctx, r, x, it.K, time.Since(begun).Seconds()/float64(it.K-first)); err != nil {
				return err
			}
		}
		if stop.asked() {
			return solve.ErrStop
		}
		return nil
	}
	out, err := solve.Run(ctx, m, p, x, cfg)
	stop.clear()
	if err != nil {
		return err
	}
	if r.res.Measure == cost {
		whole = out.History[0].Cost
	}
	r.res.Status, r.res.Iterations, r.res.Resumed = out.Status.String(), out.Iters, out.Resumed
	r.made += out.Iters
	r.res.Reduction = left(solve.Norms{Resid: out.Resid, Cost: out.Cost})
	r.res.Notes, r.res.history = append(r.notes, out.Notes...), out.History
	if useless(out, r.res.Reduction) {
		return errors.New(out.Why)
	}
	if out.Why != "" {
		r.res.Notes = append(r.res.Notes, out.Why)
	}
	if out.Status == solve.Stopped {
		if r.res.Stopped, err = stop.agree(ctx, r.Comm); err != nil {
			return err
		}
	}
	if c.Dir != "" && out.Saved > 0 && out.Saved == out.Iters {
		r.o.Saved(fmt.Sprintf("checkpoint of iteration %d in %s", out.Saved, c.Dir))
	}
	return nil
}

// size returns what the method makes small.
func (r *Result) size(n solve.Norms) float64 {
	if r.Measure == cost {
		return n.Cost
	}
	return n.Resid
}

// useless reports whether the solver failed and has left no image, or one that
// explains nothing of the data. Such an image is not written.
func useless(out solve.Result, reduction float64) bool {
	return out.Why != "" && (out.Iters == 0 || !(reduction < 1))
}
