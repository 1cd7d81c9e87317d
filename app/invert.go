package app

import (
	"errors"
	"fmt"
	"time"

	"github.com/golops/golops"
	"github.com/golops/golops/solve"
)

// methods are those of Method.
var methods = []string{"cgls", "cgls-one-message", "lsqr"}

// Method returns the least-squares method that a configuration names, nil if it is none
// of the kit's.
func Method[D, R golops.Scalar](name string) solve.Method[D, R] {
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

// Invert solves A·x = b, from the x given, as the stage "inversion": with progress,
// checkpoints and a graceful stop. It is collective. An x that explains nothing of the
// data is an error; any other end is a note of the Result. A solve.Minimiser, such as
// FISTA, ends when a step is at most Tolerance times the largest one; Damp is not for it.
func Invert[D, R golops.Scalar](r *Rank, s Solver, m solve.Method[D, R], a golops.Op[D, R], b golops.Vec[R], x golops.Vec[D]) {
	if _, minimises := m.(solve.Minimiser); minimises {
		minimise(r, s, x, func(c golops.Config) golops.Solution[D] { return golops.Iterate(m, a, b, c, x) })
		return
	}
	r.Stage(inversionStage, func() {
		whole := b.Norm()
		r.res.Measure = residual
		invert(r, s, x, whole, func(c golops.Config) golops.Solution[D] {
			c.Damp, c.RelTol = s.Damp, s.Tolerance
			return golops.Iterate(m, a, b, c, x)
		})
	})
}

// Minimise is Invert for methods whose functions have the data in them. a is the operator
// in the cost; the zero Op stands for none.
func Minimise[D, R golops.Scalar](r *Rank, s Solver, m solve.Method[D, R], a golops.Op[D, R], x golops.Vec[D]) {
	minimise(r, s, x, func(c golops.Config) golops.Solution[D] { return golops.Minimise(m, a, c, x) })
}

func minimise[D golops.Scalar](r *Rank, s Solver, x golops.Vec[D], run func(golops.Config) golops.Solution[D]) {
	r.Stage(inversionStage, func() {
		r.res.Measure = cost
		invert(r, s, x, 0, func(c golops.Config) golops.Solution[D] {
			c.StepTol = s.Tolerance
			return run(c)
		})
	})
}

// What a method makes small.
const residual, cost = "residual", "cost"

// invert runs a method that makes Measure small. whole is the residual of no model at
// all, 0 where that is not known.
func invert[D golops.Scalar](r *Rank, s Solver, x golops.Vec[D], whole float64, run func(golops.Config) golops.Solution[D]) {
	c := r.base.Checkpoint
	cfg := solve.Config{MaxIter: s.Iterations, Diverge: solve.Defaults().Diverge, OnNote: r.o.Warn}
	if r.checkpoint != nil {
		cfg.Checkpoint = solve.Checkpoint{Saver: r.checkpoint, Every: c.Every, Interval: time.Duration(c.Time * float64(time.Second))}
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
			if next, err = showLive(r, x, it.K, time.Since(begun).Seconds()/float64(it.K-first)); err != nil {
				return err
			}
		}
		if stop.asked() {
			return solve.ErrStop
		}
		return nil
	}
	defer stop.clear()
	out := run(cfg)
	if r.res.Measure == cost {
		whole = out.History[0].Cost
	}
	r.res.Status, r.res.Iterations, r.res.Resumed = out.Status.String(), out.Iters, out.Resumed
	r.made += out.Iters
	r.res.Reduction = left(solve.Norms{Resid: out.Resid, Cost: out.Cost})
	r.res.Notes, r.res.history = append(r.notes, out.Notes...), out.History
	if useless(out.Result, r.res.Reduction) {
		golops.Check(errors.New(out.Why))
	}
	if out.Why != "" {
		r.res.Notes = append(r.res.Notes, out.Why)
	}
	if out.Status == solve.Stopped {
		r.res.Stopped = golops.Must(stop.agree(r.Context(), r.Proc().Comm))
	}
	if c.Dir != "" && out.Saved > 0 && out.Saved == out.Iters {
		r.o.Saved(fmt.Sprintf("checkpoint of iteration %d in %s", out.Saved, c.Dir))
	}
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
