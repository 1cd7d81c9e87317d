package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// ErrStop is what a callback returns to end a run early, on any rank: all ranks
// stop after the same iteration, with a Result and no error.
var ErrStop = errors.New("stop requested")

// Config says when a run ends and what it leaves behind. The zero Config is
// ready to use.
type Config[T scalar.Scalar] struct {
	MaxIter int           // 0 means 100
	RelTol  float64       // converged when ‖b - A·x‖ ≤ RelTol·‖b - A·x₀‖ with the x₀ of the start; 0 means 1e-6, negative never
	AbsTol  float64       // converged when ‖b - A·x‖ ≤ AbsTol; 0 means never
	GradTol float64       // converged when ‖Aᴴ(b - A·x) - damp²·x‖ ≤ GradTol times that of the start; 0 means never
	Diverge float64       // diverged when ‖b - A·x‖ > Diverge·‖b - A·x₀‖; 0 means 1e6, negative never
	Budget  time.Duration // stop after this time on rank 0; 0 means no limit
	// OnIter is called on every rank after the start (K = 0) and after every
	// step. An error on any rank stops all ranks; ErrStop without an error.
	OnIter     func(Iteration[T]) error
	Checkpoint Checkpoint
}

// Iteration is what a callback sees. X must not be changed or kept.
type Iteration[T scalar.Scalar] struct {
	K int
	Norms
	Elapsed time.Duration
	X       dist.Array[T]
}

// Validate reports everything that is wrong with c.
func (c Config[T]) Validate() error {
	var errs []error
	if c.MaxIter < 0 {
		errs = append(errs, fmt.Errorf("MaxIter is %d, must not be negative", c.MaxIter))
	}
	for _, f := range []struct {
		name string
		v    float64
		neg  bool
	}{{"RelTol", c.RelTol, true}, {"AbsTol", c.AbsTol, false}, {"GradTol", c.GradTol, false}, {"Diverge", c.Diverge, true}} {
		if math.IsNaN(f.v) || f.v < 0 && !f.neg {
			errs = append(errs, fmt.Errorf("%s is %g, must be a number that is not negative", f.name, f.v))
		}
	}
	if c.Budget < 0 {
		errs = append(errs, fmt.Errorf("the Budget is %v, must not be negative", c.Budget))
	}
	return errors.Join(append(errs, c.Checkpoint.validate())...)
}

// Status says why a run ended.
type Status uint8

// The reasons. Only Converged is what was asked for; none is an error.
const (
	Converged  Status = iota + 1
	MaxIter           // the limit of iterations
	Stopped           // a callback asked for it
	OutOfTime         // the budget is spent
	Diverged          // the residual grew beyond the limit or is not a number
	Breakdown         // the method cannot go on: see Result.Why
	unfinished        // while running
)

func (s Status) String() string {
	names := [...]string{"?", "converged", "iteration limit", "stopped", "time is up", "diverged", "breakdown", "unfinished"}
	if int(s) >= len(names) {
		s = 0
	}
	return names[s]
}

// Result is the outcome of a run.
type Result struct {
	Status  Status
	Why     string // of a Breakdown or Diverged
	Iters   int    // steps in all, those before a resume included
	Resumed int    // steps that came from a checkpoint
	History []Norms
	Elapsed time.Duration
	Notes   []string // checkpoints that were refused, and why
}

// Run solves p from the x given, which it improves in place. It is collective.
// An error means that x may be anything; every other end is a Status.
func Run[T scalar.Scalar](ctx context.Context, m Method[T], p Problem[T], x dist.Array[T], c Config[T]) (Result, error) {
	err := c.Validate()
	if p.A == nil {
		return Result{}, errors.Join(errors.New("solve: no operator given"), err)
	}
	cm := p.A.Domain().Comm()
	if err := dist.Agree(ctx, cm, "solve: "+m.Name(), err, c.MaxIter, c.RelTol, c.AbsTol, c.GradTol, c.Diverge, c.Budget, c.Checkpoint, p.Damp); err != nil {
		return Result{}, err
	}
	r := &runner[T]{c: c.withDefaults(), m: m, p: p, x: x, comm: cm, start: time.Now()}
	return r.run(ctx)
}

func (c Config[T]) withDefaults() Config[T] {
	set := func(v *float64, def float64) {
		if *v == 0 {
			*v = def
		}
	}
	set(&c.RelTol, 1e-6)
	set(&c.Diverge, 1e6)
	if c.MaxIter == 0 {
		c.MaxIter = 100
	}
	return c
}

// runner is one run.
type runner[T scalar.Scalar] struct {
	c     Config[T]
	m     Method[T]
	p     Problem[T]
	x     dist.Array[T]
	comm  comm.Comm
	start time.Time
	res   Result
	saved time.Time // when the last checkpoint was written
	data  print     // fingerprint of b, once known
	known bool
	votes [3]int32 // of this iteration: stop, time is up, checkpoint is due
}

func (r *runner[T]) run(ctx context.Context) (Result, error) {
	fail := func(doing string, err error) (Result, error) {
		r.res.Elapsed = time.Since(r.start)
		return r.res, fmt.Errorf("solve: %s: %s: %w", r.m.Name(), doing, err)
	}
	n, err := r.m.Init(ctx, r.p, r.x)
	if err = comm.Agree(ctx, r.comm, err); err != nil {
		return fail("init", err)
	}
	r.res.Status = unfinished
	r.res.History = append(make([]Norms, 0, r.c.MaxIter+1), n)
	r.saved = r.start
	if err := r.resume(ctx); err != nil {
		return fail("resume", err)
	}
	r.judge()
	for {
		if err := r.afterStep(ctx); err != nil {
			return fail(fmt.Sprintf("iteration %d", r.res.Iters), err)
		}
		if r.res.Status != unfinished {
			r.res.Elapsed = time.Since(r.start)
			return r.res, nil
		}
		n, err := r.m.Step(ctx)
		if errors.Is(err, ErrBreakdown) { // the same on all ranks, as the numbers are
			r.res.Status, r.res.Why = Breakdown, err.Error()
			continue
		}
		if err != nil {
			return fail(fmt.Sprintf("iteration %d", r.res.Iters+1), err)
		}
		r.res.Iters++
		r.res.History = append(r.res.History, n)
		r.judge()
	}
}

// judge decides from the numbers, which all ranks share, whether this was the
// last iteration.
func (r *runner[T]) judge() {
	first, n := r.res.History[0], r.res.History[len(r.res.History)-1]
	switch {
	case math.IsNaN(n.Resid) || math.IsInf(n.Resid, 0):
		r.res.Status, r.res.Why = Diverged, fmt.Sprintf("the residual is %g after %d iterations: look for NaN or infinite values in the data and the operator", n.Resid, r.res.Iters)
	case r.c.Diverge > 0 && n.Resid > r.c.Diverge*first.Resid:
		r.res.Status, r.res.Why = Diverged, fmt.Sprintf("the residual is %g after %d iterations, it was %g at the start", n.Resid, r.res.Iters, first.Resid)
	case n.Resid <= r.c.RelTol*first.Resid || r.c.AbsTol > 0 && n.Resid <= r.c.AbsTol,
		r.c.GradTol > 0 && n.Grad <= r.c.GradTol*first.Grad:
		r.res.Status = Converged
	case r.res.Iters >= r.c.MaxIter:
		r.res.Status = MaxIter
	}
}

// afterStep calls back, agrees on what only some ranks know, and saves.
func (r *runner[T]) afterStep(ctx context.Context) error {
	r.votes = [3]int32{}
	var err error
	if r.c.OnIter != nil {
		n := r.res.History[len(r.res.History)-1]
		if err = r.c.OnIter(Iteration[T]{r.res.Iters, n, time.Since(r.start), r.x}); err != nil {
			r.votes[0] = 1
		}
	}
	cp := r.c.Checkpoint
	if r.comm.Rank() == 0 {
		if r.c.Budget > 0 && time.Since(r.start) >= r.c.Budget {
			r.votes[1] = 1
		}
		if cp.Dir != "" && cp.Interval > 0 && time.Since(r.saved) >= cp.Interval {
			r.votes[2] = 1
		}
	}
	if r.c.OnIter != nil || r.c.Budget > 0 || cp.Interval > 0 {
		b := comm.Of(r.votes[:])
		if e := r.comm.AllReduce(ctx, b, b, comm.Max); e != nil {
			return errors.Join(err, e)
		}
	}
	if r.votes[0] != 0 {
		stop := err == nil || errors.Is(err, ErrStop)
		if stop {
			err = nil
		}
		if err := comm.Agree(ctx, r.comm, err); err != nil {
			return err
		}
	}
	switch {
	case r.res.Status != unfinished:
	case r.votes[0] != 0:
		r.res.Status = Stopped
	case r.votes[1] != 0:
		r.res.Status = OutOfTime
	}
	if r.due() {
		return r.save(ctx)
	}
	return nil
}

// due reports whether a checkpoint is to be written now.
func (r *runner[T]) due() bool {
	cp := r.c.Checkpoint
	switch {
	case cp.Dir == "" || r.res.Iters == r.res.Resumed && r.res.Status != Stopped && r.res.Status != OutOfTime:
		return false
	case r.res.Status != unfinished: // the last one, to go on from; a result that is no number is none
		return r.res.Status != Diverged && r.res.Status != Breakdown
	}
	return cp.Every > 0 && r.res.Iters%cp.Every == 0 || r.votes[2] != 0
}
