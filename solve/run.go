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

// Config says when a run ends and what it leaves behind. A zero field is off or
// literally zero: the zero Config makes no step. Start from Defaults. All ranks give
// the same Config, but some may leave out OnIter and OnNote.
//
// Tolerances compare norms with those of the start, which is before the first
// step of all, resumed runs included. What the recurrence of a method says is
// compared first. Before a run ends with Converged, the norms are worked out from
// x, and it goes on if they do not agree.
//
// A run also ends where nothing is left to gain: when the gradient is at the
// rounding of the element type times the norms of operator and residual, or the
// residual at that of operator and x and b, or when the condition is beyond what
// the element type holds. It keeps the best x of its checks, which takes one more
// vector. PastRounding switches all of that off.
//
// OnIter, a Budget and an Interval each make the ranks exchange one message of
// three integers per iteration; several of them share it.
type Config struct {
	Damp    float64       // least squares only: min ‖A·x - b‖² + Damp²·‖x‖²
	MaxIter int           // steps at most; 0 makes none
	RelTol  float64       // converged when ‖b - A·x‖ ≤ RelTol·‖b - A·x₀‖; 0 asks for an exact solution
	AbsTol  float64       // converged when ‖b - A·x‖ ≤ AbsTol; 0 asks for an exact solution
	GradTol float64       // least squares only: converged when ‖Aᴴ(b - A·x) - damp²·x‖ ≤ GradTol times that of the start; 0 leaves it to rounding
	Diverge float64       // diverged when ‖b - A·x‖ > Diverge·‖b - A·x₀‖; 0 means no limit
	Budget  time.Duration // stop after this time of this run, by the clock of rank 0, looked at after each iteration; 0 means no limit
	// PastRounding makes a run go on where nothing is left to gain, and leave the x
	// of the last step, be it the best or not. With no tolerance it makes MaxIter
	// steps exactly.
	PastRounding bool
	// OnIter is called after the start (K = 0, or where a checkpoint left off) and
	// after every step. An error on any rank stops all ranks with that error,
	// ErrStop without one.
	OnIter     func(Iteration) error
	OnNote     func(text string) // hears at once what a user should know of checkpoints
	Checkpoint Checkpoint
}

// Defaults returns limits that suit most problems: 100 steps, a residual of a
// millionth, divergence at a million times. Two checkpoints stay if a Dir is given.
func Defaults() Config {
	return Config{MaxIter: 100, RelTol: 1e-6, Diverge: 1e6, Checkpoint: Checkpoint{Keep: 2}}
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
	for _, f := range []struct {
		name string
		v    float64
		zero string // what to give instead of a negative number
	}{
		{"Damp", c.Damp, "for no damping"}, {"RelTol", c.RelTol, "for no tolerance"}, {"AbsTol", c.AbsTol, "for no tolerance"},
		{"GradTol", c.GradTol, "to end at rounding, or set PastRounding to go on"}, {"Diverge", c.Diverge, "for no limit"},
	} {
		switch {
		case math.IsNaN(f.v):
			errs = append(errs, fmt.Errorf("%s is NaN, must be a number", f.name))
		case f.v < 0:
			errs = append(errs, fmt.Errorf("%s is %g, must not be negative: give 0 %s", f.name, f.v, f.zero))
		}
	}
	if math.IsInf(c.Damp, 1) {
		errs = append(errs, errors.New("Damp is +Inf, must be finite"))
	}
	if c.Budget < 0 {
		errs = append(errs, fmt.Errorf("the Budget is %v, must not be negative: give 0 for no limit", c.Budget))
	}
	return errors.Join(append(errs, c.Checkpoint.validate())...)
}

// text is what all ranks must have in common.
func (c Config) text() string {
	return fmt.Sprintf("Damp %g, MaxIter %d, RelTol %g, AbsTol %g, GradTol %g, Diverge %g, Budget %v, PastRounding %t, Checkpoint %s",
		c.Damp, c.MaxIter, c.RelTol, c.AbsTol, c.GradTol, c.Diverge, c.Budget, c.PastRounding, c.Checkpoint.text())
}

// Result is the outcome of a run, the same on all ranks of its group but for
// the times.
type Result struct {
	Status  Status
	Why     string        // where Status is not Converged, a limit or a stop: at which iteration, the cause, and what to do
	Resid   float64       // ‖b - A·x‖ of the x that is left, worked out anew
	Grad    float64       // ‖Aᴴ(b - A·x) - damp²·x‖ of the same; NaN where the method does not know one, as CG
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
