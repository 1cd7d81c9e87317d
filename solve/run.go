package solve

import (
	"context"
	"errors"
	"time"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
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
	r, err := newSession(ctx, m, p, x, c)
	if err != nil {
		return Result{}, err
	}
	return r.run(ctx)
}
