package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// ErrStop is what a callback returns to end a run early, on any rank: all ranks
// stop after the same iteration, with a Result and no error.
var ErrStop = errors.New("stop requested")

// Config says when a run ends and what it leaves behind. The zero Config is
// ready to use. All ranks give the same, save OnIter and OnNote, which some may
// leave out.
//
// Tolerances compare norms with those of the start, which is before the first
// step of all, resumed runs included. What the recurrence of a method says is
// compared first. Before a run ends with Converged, the norms are worked out from
// x, and it goes on if they do not agree.
//
// By default a run also ends where nothing is left to gain: when the gradient is
// at the rounding of the element type times the norms of operator and residual, or
// the residual at that of operator and x and b, or when the condition is beyond
// what the element type holds. It keeps the best x of its checks, which takes one
// more vector. A negative GradTol switches all of that off: with a negative RelTol
// as well, a run makes MaxIter steps exactly, and leaves the x of the last one.
//
// OnIter, a Budget and an Interval each make the ranks exchange one message of
// three integers per iteration; several of them share it.
type Config struct {
	Damp    float64       // least squares only: min ‖A·x - b‖² + Damp²·‖x‖²
	MaxIter int           // 0 means 100
	RelTol  float64       // converged when ‖b - A·x‖ ≤ RelTol·‖b - A·x₀‖; 0 means 1e-6, negative never
	AbsTol  float64       // converged when ‖b - A·x‖ ≤ AbsTol; 0 means never
	GradTol float64       // converged when ‖Aᴴ(b - A·x) - damp²·x‖ ≤ GradTol times that of the start, least squares only; 0 means at rounding only, negative not even there
	Diverge float64       // diverged when ‖b - A·x‖ > Diverge·‖b - A·x₀‖; 0 means 1e6, negative never
	Budget  time.Duration // stop after this time of this run, by the clock of rank 0, looked at after each iteration; 0 means no limit
	// OnIter is called after the start (K = 0, or where a checkpoint left off) and
	// after every step. An error on any rank stops all ranks with that error,
	// ErrStop without one.
	OnIter     func(Iteration) error
	OnNote     func(text string) // hears at once what a user should know of checkpoints
	Checkpoint Checkpoint
}

// Iteration is what a callback sees. The x that Run was given is up to date while
// the callback runs, and must not be changed.
type Iteration struct {
	K int // steps so far, those before a resume included
	Norms
	Elapsed time.Duration // of this run
}

// Validate reports everything that is wrong with c.
func (c Config) Validate() error {
	var errs []error
	if c.MaxIter < 0 {
		errs = append(errs, fmt.Errorf("MaxIter is %d, must not be negative", c.MaxIter))
	}
	if math.IsNaN(c.Damp) || math.IsInf(c.Damp, 0) || c.Damp < 0 {
		errs = append(errs, fmt.Errorf("Damp is %g, must not be negative, NaN or infinite", c.Damp))
	}
	for _, f := range []struct {
		name string
		v    float64
		neg  bool
	}{{"RelTol", c.RelTol, true}, {"AbsTol", c.AbsTol, false}, {"GradTol", c.GradTol, true}, {"Diverge", c.Diverge, true}} {
		switch {
		case math.IsNaN(f.v):
			errs = append(errs, fmt.Errorf("%s is NaN, must be a number", f.name))
		case f.v < 0 && !f.neg:
			errs = append(errs, fmt.Errorf("%s is %g, must not be negative", f.name, f.v))
		}
	}
	if c.Budget < 0 {
		errs = append(errs, fmt.Errorf("the Budget is %v, must not be negative", c.Budget))
	}
	return errors.Join(append(errs, c.Checkpoint.validate())...)
}

// withDefaults fills in what is left open.
func (c Config) withDefaults() Config {
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

// text is what all ranks must have in common.
func (c Config) text() string {
	return fmt.Sprintf("Damp %g, MaxIter %d, RelTol %g, AbsTol %g, GradTol %g, Diverge %g, Budget %v, Checkpoint %s",
		c.Damp, c.MaxIter, c.RelTol, c.AbsTol, c.GradTol, c.Diverge, c.Budget, c.Checkpoint.text())
}

// Result is the outcome of a run, the same on all ranks of its group but for
// the times.
type Result struct {
	Status  Status
	Why     string        // where Status is not Converged, a limit or a stop: at which iteration, the cause, and what to do
	Resid   float64       // ‖b - A·x‖ of the x that is left, worked out anew
	Grad    float64       // ‖Aᴴ(b - A·x) - damp²·x‖ of the same; NaN for CG and CG1
	Iters   int           // steps in all, those before a resume included
	Resumed int           // steps that came from a checkpoint
	History []Norms       // of the start and of each step, as the recurrence has them: Iters + 1 of them
	Elapsed time.Duration // of this run
	Saved   int           // the iteration of the newest checkpoint of this run; 0 means none, or that of the start
	Notes   []string      // on checkpoints that were refused or could not be written
}

// Run solves p from the x given, which it improves in place. It is collective
// among the ranks of p, or among those of one color if its spaces have a mask.
// An error means that x may be anything; every other end is a Status. x is that of
// the last step, or the best one that was checked if that is clearly better.
func Run[D, R scalar.Scalar](ctx context.Context, m Method[D, R], p Problem[D, R], x dist.Array[D], c Config) (Result, error) {
	r, err := newRunner(ctx, m, p, x, c)
	if err != nil {
		return Result{}, err
	}
	return r.run(ctx)
}
