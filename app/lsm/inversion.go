package lsm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/solve"
)

// invert solves for the image.
func (s *session[T]) invert(ctx context.Context, d dist.Array[T], ctl Control, res *Result) (dist.Array[T], error) {
	x, err := dist.New[T](s.op.Domain())
	if err != nil {
		return x, err
	}
	var m solve.Method[T, T]
	switch c := s.Config.Solver; c.Method {
	case "lsqr":
		m = &solve.LSQR[T, T]{}
	case "cgls-one-message":
		m = &solve.CGLS[T, T]{OneMessage: true}
	default:
		m = &solve.CGLS[T, T]{}
	}
	c := s.Config
	norm, err := dist.Norm(ctx, d, 2)
	if err != nil {
		return x, err
	}
	relative := func(resid float64) float64 {
		if norm == 0 {
			return 0
		}
		return resid / norm
	}
	var saved solve.Checkpoint
	if s.checkpoint != nil {
		saved = solve.Checkpoint{Saver: s.checkpoint, Every: c.Checkpoint.Every, Interval: time.Duration(c.Checkpoint.Time * float64(time.Second))}
	}
	started, stop := false, newStopper(ctl, s.r.Rank(), c.Checkpoint.Dir)
	out, err := solve.Run(ctx, m, solve.Problem[T, T]{A: s.op, B: d}, x, solve.Config{
		Damp: c.Solver.Damp, MaxIter: c.Solver.Iterations, RelTol: c.Solver.Tolerance, Diverge: solve.Defaults().Diverge, Checkpoint: saved, OnNote: ctl.Observer.Warn,
		OnIter: func(it solve.Iteration) error {
			if !started && it.K > 0 {
				ctl.Observer.Note(fmt.Sprintf("resumed at iteration %d of %s", it.K, c.Checkpoint.Dir))
			}
			started = true
			ctl.Observer.Iteration(it.K, c.Solver.Iterations, relative(it.Resid))
			if stop.asked() {
				return solve.ErrStop
			}
			return nil
		},
	})
	stop.clear()
	if err != nil {
		return x, err
	}
	*res = Result{
		Status: out.Status.String(), Iterations: out.Iters, Resumed: out.Resumed, Reduction: relative(out.Resid), Notes: append(s.notes, out.Notes...),
		Correlation: math.NaN(), history: out.History,
	}
	if useless(out, res.Reduction) {
		return x, errors.New(out.Why)
	}
	if out.Why != "" {
		res.Notes = append(res.Notes, out.Why)
	}
	if out.Status == solve.Stopped {
		if res.Stopped, err = stop.agree(ctx, s.r.Comm); err != nil {
			return x, err
		}
	}
	if c.Checkpoint.Dir != "" && out.Saved > 0 && out.Saved == out.Iters {
		ctl.Observer.Saved(fmt.Sprintf("checkpoint of iteration %d in %s", out.Saved, c.Checkpoint.Dir))
	}
	return x, nil
}

// useless reports whether the solver failed and has left no image, or one that
// explains nothing of the data. Such an image is not written.
func useless(out solve.Result, reduction float64) bool {
	return out.Why != "" && (out.Iters == 0 || !(reduction < 1))
}
