package solve

import (
	"errors"
	"fmt"
	"math"
	"time"
)

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
// The tolerances of a Minimiser are CostTol, FallTol and StepTol. RelTol, AbsTol and
// GradTol are not for it, because it does not aim at a small residual. Its run
// keeps the best x too, and returns to it if it diverges.
//
// What only some ranks know, because of OnIter, a Budget or an Interval, costs no
// message: it travels with the first message of the next step, which ends there if
// the run is over. With a Checkpoint it takes one message per iteration.
type Config struct {
	Damp    float64       // least squares only: min ‖A·x - b‖² + Damp²·‖x‖²
	MaxIter int           // steps at most; 0 makes none
	RelTol  float64       // converged when ‖b - A·x‖ ≤ RelTol·‖b - A·x₀‖; 0 asks for an exact solution
	AbsTol  float64       // converged when ‖b - A·x‖ ≤ AbsTol; 0 asks for an exact solution
	GradTol float64       // least squares only: converged when ‖Aᴴ(b - A·x) - damp²·x‖ ≤ GradTol times that of the start; 0 leaves it to rounding
	CostTol float64       // Minimisers only: converged when the cost is at most CostTol; 0 leaves it out
	FallTol float64       // Minimisers only: converged when a step changes the cost by at most FallTol times its value; 0 leaves it out
	StepTol float64       // Minimisers only: converged when ‖x - x_old‖ ≤ StepTol times the largest of the steps so far; 0 leaves it out
	Diverge float64       // diverged when ‖b - A·x‖ > Diverge·‖b - A·x₀‖, or the cost is larger than Diverge times that of the start; 0 means no limit
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

// Defaults returns limits that suit most problems: 100 steps, a residual or a step of
// a millionth, divergence at a million times.
func Defaults() Config {
	return Config{MaxIter: 100, RelTol: 1e-6, StepTol: 1e-6, Diverge: 1e6}
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
		{"GradTol", c.GradTol, "to end at rounding, or set PastRounding to go on"}, {"CostTol", c.CostTol, "for no tolerance"}, {"FallTol", c.FallTol, "for no tolerance"}, {"StepTol", c.StepTol, "for no tolerance"},
		{"Diverge", c.Diverge, "for no limit"},
	} {
		switch {
		case math.IsNaN(f.v):
			errs = append(errs, fmt.Errorf("%s is NaN, must be a number", f.name))
		case f.v < 0:
			errs = append(errs, fmt.Errorf("%s is %g, must not be negative: give 0 %s", f.name, f.v, f.zero))
		}
	}
	if math.IsInf(c.Damp, 1) {
		errs = append(errs, errors.New("the Damp is +Inf, must be finite"))
	}
	if c.Budget < 0 {
		errs = append(errs, fmt.Errorf("the Budget is %v, must not be negative: give 0 for no limit", c.Budget))
	}
	switch cp := c.Checkpoint; {
	case cp.Every < 0 || cp.Interval < 0:
		errs = append(errs, fmt.Errorf("the Checkpoint is every %d iterations or %v: neither may be negative", cp.Every, cp.Interval))
	case cp.Saver == nil && (cp.Every != 0 || cp.Interval != 0):
		errs = append(errs, errors.New("the Checkpoint has no Saver"))
	}
	if c.Checkpoint.Saver != nil {
		errs = append(errs, c.Checkpoint.Saver.Validate())
	}
	return errors.Join(errs...)
}

// text is what all ranks must have in common.
func (c Config) text() string {
	cp := c.Checkpoint
	return fmt.Sprintf("Damp %g, MaxIter %d, RelTol %g, AbsTol %g, GradTol %g, CostTol %g, FallTol %g, StepTol %g, Diverge %g, Budget %v, PastRounding %t, Checkpoint %v every %d or %v",
		c.Damp, c.MaxIter, c.RelTol, c.AbsTol, c.GradTol, c.CostTol, c.FallTol, c.StepTol, c.Diverge, c.Budget, c.PastRounding, cp.Saver, cp.Every, cp.Interval)
}
