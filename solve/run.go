package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/trace"
)

// ErrStop is what a callback returns to end a run early, on any rank: all ranks
// stop after the same iteration, with a Result and no error.
var ErrStop = errors.New("stop requested")

// Iteration is what a callback sees. The x that Run was given is up to date while
// the callback runs, and must not be changed.
type Iteration struct {
	K int // steps so far, those before a resume included
	Norms
	Elapsed time.Duration // of this run
}

// Result is the outcome of a run, the same on all ranks of its group but for
// the times.
type Result struct {
	Status  Status
	Why     string        // where Status is not Converged, a limit or a stop: at which iteration, the cause, and what to do
	Resid   float64       // ‖b - A·x‖ of the x that is left, worked out anew
	Grad    float64       // ‖Aᴴ(b - A·x) - damp²·x‖ of the same; NaN where the method does not know one, as CG
	Cost    float64       // of the same, where a Minimiser has left it; its Resid is the last that it knew. NaN for the other methods
	Iters   int           // steps in all, those before a resume included
	Resumed int           // steps that came from a checkpoint
	History []Norms       // of the start and of each step, as the recurrence has them: Iters + 1 of them
	Elapsed time.Duration // of this run
	Saved   int           // the iteration of the newest checkpoint of this run; 0 means none, or that of the start
	Notes   []string      // on checkpoints that were refused or could not be written
}

// Status says why a run ended.
type Status uint8

// The reasons. None is an error, and each is true of the x that the run leaves:
// norms are worked out from that x before one is given. Result.Why has the numbers.
const (
	Converged      Status = iota + 1 // a tolerance is met, of norms by the true ones
	MaxIter                          // the limit of iterations: make more if the residual is still falling
	Stopped                          // a callback returned ErrStop
	OutOfTime                        // the Budget is spent
	Diverged                         // the residual or the cost grew beyond the limit or is not a number
	Breakdown                        // a step cannot be made, or x is out of range
	AtRounding                       // the residual or the gradient is as small as rounding lets it: for less, use elements of 64 bits
	IllConditioned                   // the operator is singular to rounding: damp, regularise or use elements of 64 bits
	Stagnated                        // three restarts in a row have gained nothing: damp, regularise, precondition or use LSQR
	NotSymmetric                     // CG and MINRES need a Hermitian operator: use CGLS or LSQR
	Indefinite                       // CG needs a positive definite operator: use MINRES, CGLS or LSQR
	unfinished                       // while running
)

func (s Status) String() string {
	names := [...]string{"?", "converged", "iteration limit", "stopped", "time is up", "diverged", "breakdown",
		"at rounding", "ill-conditioned", "stagnated", "not symmetric", "indefinite", "unfinished"}
	if int(s) >= len(names) {
		s = 0
	}
	return names[s]
}

// Run solves p from the x given, which it improves in place. It is collective
// among the ranks of p, or among those of one color if its spaces have a mask.
// An error means that x may be anything; every other end is a Status. x is that of
// the last step, or the best one that was checked if that is clearly better.
func Run[D, R scalar.Scalar](ctx context.Context, m Method[D, R], p Problem[D, R], x dist.Array[D], c Config) (Result, error) {
	r, err := newSession(ctx, m, p, x, c)
	if err != nil {
		return Result{}, err
	}
	return r.run(ctx)
}

// session is one run.
type session[D, R scalar.Scalar] struct {
	c       Config
	m       Method[D, R]
	ws      *Workspace[D, R]
	given   dist.Array[D] // what Run was given: X of the workspace, but for scaling
	best    *Vector[D]    // the best x so far; nil with PastRounding
	scale   scaling
	norm    float64 // ‖b‖, or ‖b - A·x₀‖ if that is larger
	w       checkState
	scratch truth // of a check under way
	last    truth // norms of the last x that was checked
	fresh   bool  // last belongs to the present x
	comm    *comm.Comm
	now     func() time.Time // a clock that tests can turn
	start   time.Time
	res     Result
	norms   Norms // of this step
	voting  bool  // ranks vote after each iteration
	refused error // of the last callback
	// Of checkpoints:
	states   States         // nil means none
	saved    time.Time      // when the last one was written
	prints   [2]Fingerprint // of data and operator
	failed   []int          // iterations whose checkpoint could not be written
	failedAt int            // the place of their note
}

// newSession agrees on what the ranks are about to do.
func newSession[D, R scalar.Scalar](ctx context.Context, m Method[D, R], p Problem[D, R], x dist.Array[D], c Config) (*session[D, R], error) {
	err, name := c.Validate(), "a method"
	if m == nil {
		err = errors.Join(errors.New("no method given"), err)
	} else {
		name = m.Name()
	}
	g := p.group(x.Space())
	if g == nil {
		return nil, fmt.Errorf("solve: %s: %w", name, errors.Join(errors.New("no operator, b and x given"), err))
	}
	if err == nil && c.Checkpoint.Saver != nil && x.Space() != nil && x.Space().Layout().Mask != nil {
		err = errors.New("the Checkpoint is of a problem with a mask: those of several colors do not fit one folder: make the problem on ranks of dist.Proc.Subgroup")
	}
	if err == nil {
		err = p.check(x.Space(), c.Damp, formula(m) != "")
	}
	text := fmt.Sprintf("%s of %s, %s, cost %q", name, typeName[D, R](), c.text(), formula(m))
	if err := dist.Agree(ctx, g, "solve: "+name, err, text); err != nil {
		return nil, err
	}
	return &session[D, R]{c: c, m: m, ws: newWorkspace(p, x, c.Damp), given: x, comm: g, now: time.Now}, nil
}

// historyRoom is how many iterations the history has room for before it grows.
const historyRoom = 1 << 16

func (r *session[D, R]) run(ctx context.Context) (Result, error) {
	r.start = r.now()
	r.saved, r.res.Status = r.start, unfinished
	doing, err := "start", error(nil)
	if saver := r.c.Checkpoint.Saver; saver != nil {
		if r.states, err = saver.Open(ctx, r.comm, r.note); err == nil {
			defer r.states.Close()
		}
	}
	if err == nil {
		doing, err = r.begin(ctx)
	}
	if err == nil {
		doing, err = r.loop(ctx)
	}
	if err == nil {
		doing, err = "last check", r.finish(ctx)
	}
	r.free()
	r.res.Elapsed = r.now().Sub(r.start)
	if err != nil {
		return r.res, fmt.Errorf("solve: %s: %s: %w", r.m.Name(), doing, err)
	}
	return r.res, nil
}

// begin makes the first residual, here or from a checkpoint. Like loop it says
// what it was doing when something failed.
func (r *session[D, R]) begin(ctx context.Context) (doing string, err error) {
	defer trace.BeginPart(ctx, r.m.Name(), "start").End()
	if r.norms, err = r.init(ctx); err != nil {
		return "init", err
	}
	r.res.History = append(make([]Norms, 0, min(r.c.MaxIter, historyRoom)+1), r.scale.user(r.norms))
	mine := 0.0
	if r.c.OnIter != nil {
		mine = 1
	}
	callbacks := r.ws.one.AddNumber(mine)
	if err := r.ws.one.Do(ctx); err != nil {
		return "init", err
	}
	r.voting = callbacks.Float() > 0 || r.c.Budget > 0 || r.c.Checkpoint.Interval > 0
	return "resume", r.resume(ctx)
}

// init makes the first residual, of a scaled problem where it must be, and keeps
// the first x.
func (r *session[D, R]) init(ctx context.Context) (Norms, error) {
	w := r.ws
	n, err := w.Start(ctx, r.m)
	if err != nil {
		return n, err
	}
	if w.minimises != "" {
		return n, r.beginCost(ctx, n)
	}
	if r.norm = w.B.norm(ctx); w.err == nil && !r.needsNoScaling(n) {
		scaled, err := r.rescale(ctx)
		if scaled && err == nil {
			n, err = w.Start(ctx, r.m)
		}
		w.Fail(err)
	}
	if n.Resid > r.norm {
		r.norm = n.Resid
	}
	r.w.begin(n, epsilon[D, R]())
	if r.c.PastRounding || w.err != nil {
		return n, w.Err()
	}
	size := 0.0
	if r.best = w.extra(); w.ready(ctx) && w.Damp != 0 {
		size = w.X.norm(ctx)
	}
	r.keep(math.Hypot(n.Resid, w.Damp*size))
	return n, w.Err()
}

// loop steps until something ends the run.
func (r *session[D, R]) loop(ctx context.Context) (doing string, err error) {
	for {
		if err := r.checkStop(ctx, r.norms); err != nil {
			return fmt.Sprintf("check of iteration %d", r.res.Iters), err
		}
		if err := r.afterStep(ctx); err != nil {
			return fmt.Sprintf("iteration %d", r.res.Iters), err
		}
		if r.res.Status != unfinished {
			return "", nil
		}
		reg := trace.BeginPart(ctx, r.m.Name(), "iteration")
		n, err := r.m.Step(ctx, r.ws)
		reg.End()
		over, err := r.votedInStep(ctx, err)
		if over { // after the iteration before: x is as that has left it
			return fmt.Sprintf("iteration %d", r.res.Iters), r.verdict(ctx)
		}
		r.fresh = false
		if err != nil {
			return fmt.Sprintf("iteration %d", r.res.Iters+1), r.endRefused(ctx, err)
		}
		r.res.Iters++
		r.norms = r.ws.known(n)
		r.res.History = append(r.res.History, r.scale.user(r.norms))
	}
}

func (r *session[D, R]) end(s Status, why string, args ...any) {
	r.res.Status, r.res.Why = s, fmt.Sprintf(why, args...)
}

// minFall is a limit for every run: a norm that falls below this part of its first
// value ends it, so that squares stay in range.
const minFall = 1e-100

// afterStep calls back, agrees on what only some ranks know, and saves. Where
// nothing is saved, the votes travel with the next step.
func (r *session[D, R]) afterStep(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err // one rank alone would never notice
	}
	if err := r.vote(ctx); err != nil {
		return err
	}
	if r.res.Status == unfinished && r.states == nil {
		return nil
	}
	if err := r.ws.count(ctx); err != nil {
		return errors.Join(r.refused, err)
	}
	r.ws.err = nil
	if err := r.verdict(ctx); err != nil {
		return err
	}
	if r.checkpointDue() {
		return r.save(ctx)
	}
	return nil
}

// checkpointDue reports whether a checkpoint is to be written now.
func (r *session[D, R]) checkpointDue() bool {
	cp := r.c.Checkpoint
	switch {
	case r.states == nil:
		return false
	case r.res.Iters == r.res.Resumed: // nothing is new, but a stop always leaves something to resume
		return r.res.Iters == 0 && (r.res.Status == Stopped || r.res.Status == OutOfTime)
	case r.res.Status != unfinished: // the last state, to go on from; a NaN is not saved
		return slices.Contains([]Status{Converged, AtRounding, MaxIter, Stopped, OutOfTime}, r.res.Status)
	}
	return cp.Every > 0 && r.res.Iters%cp.Every == 0 || r.ws.votes.n[voteSave] > 0
}

// numbers are what a checkpoint keeps of the run.
func (r *session[D, R]) numbers() []NamedNumber {
	ws := r.ws
	all := append(ws.pivots.numbers(), NamedNumber{"run: ‖A‖ seen", &ws.norm}, NamedNumber{"run: condition seen", &ws.cond}, NamedNumber{"run: cost of an earlier step", &ws.stale})
	n := &r.norms
	return append(append(all, r.w.numbers()...), NamedNumber{"run: ‖r‖", &n.Resid}, NamedNumber{"run: ‖g‖", &n.Grad}, NamedNumber{"run: cost", &n.Cost}, NamedNumber{"run: step", &n.Step})
}
