package solve

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// positive refuses a parameter of a method that is not positive and finite. It must
// be called in Init.
func (s *shared) positive(name string, v float64) {
	if !(v > 0) || math.IsInf(v, 1) {
		s.Fail(fmt.Errorf("%s is %g, must be positive and finite", name, v))
	}
}

// accept makes next the x of the step, whose cost is given, and leaves the difference
// to the old x in diff. A cost or a step that is NaN leaves x alone. It is collective:
// one message, with all that is queued.
func accept[D, R scalar.Scalar](ctx context.Context, w *Workspace[D, R], next, diff *Vector[D], cost float64) (Norms, error) {
	diff.Copy(next)
	diff.QueueAddNorm2(-1, w.X, &w.pair[0])
	w.Reduce(ctx)
	step := math.Sqrt(w.pair[0])
	w.Finite("‖x - x_old‖", step)
	if math.IsNaN(cost) {
		w.Finite("the cost", cost)
	}
	w.X.Copy(next)
	return Norms{Resid: math.NaN(), Grad: math.NaN(), Cost: cost, Step: step}, w.Err()
}

// addResidual sets u += a - b, which it leaves in d, and has the next message of accept
// carry ‖a - b‖² to to.
func addResidual[T scalar.Scalar](u, a, b, d *Vector[T], to *float64) {
	d.Copy(a)
	d.QueueAddNorm2(-1, b, to)
	u.Add(1, d)
}

// startCost are the norms of the start.
func startCost[D, R scalar.Scalar](w *Workspace[D, R], cost float64) (Norms, error) {
	return Norms{Resid: math.NaN(), Grad: math.NaN(), Cost: cost}, w.Err()
}

// Momentum is how a method goes on in the direction of its last step.
type Momentum uint8

const (
	NoMomentum    Momentum = iota
	FISTAMomentum          // (t_old - 1)/t with t = (1 + √(1 + 4·t_old²))/2: A. Beck and M. Teboulle, 2009
	Vandenberghe           // k/(k + 3) in step k, from 0: L. Vandenberghe, Fast Proximal Gradient Methods, 2010
)

// omega returns the factor of the last step after step k, from 0, and changes t.
func (m Momentum) omega(k float64, t *float64) float64 {
	switch m {
	case FISTAMomentum:
		old := *t
		*t = (1 + math.Sqrt(1+4*old*old)) / 2
		return (old - 1) / *t
	case Vandenberghe:
		return k / (k + 3)
	}
	return 0
}

// check refuses a momentum that there is not.
func (m Momentum) check(s *shared) {
	if m > Vandenberghe {
		s.Fail(fmt.Errorf("momentum %d: must be NoMomentum, FISTAMomentum or Vandenberghe", m))
	}
}

// errNoOperator is of a method whose cost has an operator.
var errNoOperator = errors.New("no operator given: the cost of the method has one")

// share refuses a parameter of a method that is not between 0 and 1.
func (s *shared) share(name string, v float64) {
	if !(v > 0 && v < 1) {
		s.Fail(fmt.Errorf("%s is %g, must be between 0 and 1", name, v))
	}
}

// differentSpace says that an array of a method is of another space than it must be.
func differentSpace(name string, s, want *dist.Space) error {
	return fmt.Errorf("%s: %s is of %v, must be of %v", differ(s, want), name, s, want)
}
