// Package solve runs iterative methods: least-squares and linear systems whose
// matrix is known by what it does.
//
// A method is mathematics only: Init and Step. Run owns the loop: limits,
// tolerances, callbacks, history, checkpoints, and that all ranks stop together.
package solve

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Problem is A·x = b, or min ‖A·x - b‖² + damp²·‖x‖² for the methods of least
// squares.
type Problem[T scalar.Scalar] struct {
	A    linop.Operator[T]
	B    dist.Array[T]
	Damp float64 // 0 means none; only least squares
}

// Method is one solver. It is used by one Run at a time.
type Method[T scalar.Scalar] interface {
	// Name says which method it is, in checkpoints and reports.
	Name() string
	// Init binds the method to a problem and a first guess x, which it improves
	// in place, and allocates what it needs.
	Init(ctx context.Context, p Problem[T], x dist.Array[T]) (Norms, error)
	// Step improves x once. It allocates nothing.
	Step(ctx context.Context) (Norms, error)
	// State returns what a checkpoint must keep beside x to go on.
	State() State[T]
}

// Norms are what a method knows of its progress after a step, the same on
// all ranks.
type Norms struct {
	Resid float64 // ‖b - A·x‖
	Grad  float64 // ‖Aᴴ(b - A·x) - damp²·x‖; NaN where the method does not know it
}

// State is the vectors and numbers of a method between two steps.
type State[T scalar.Scalar] struct {
	Vectors []dist.Array[T]
	Numbers []*float64
}

// ErrBreakdown is in the error of a step that cannot be made: the problem is
// not one for the method.
var ErrBreakdown = errors.New("breakdown")

// check says what is wrong with a problem.
func (p Problem[T]) check(x dist.Array[T], square bool) error {
	switch {
	case p.A == nil:
		return errors.New("no operator given")
	case x.Space() == nil || !x.Space().Equal(p.A.Domain()):
		return fmt.Errorf("x is of %v, the operator takes %v", x.Space(), p.A.Domain())
	case p.B.Space() == nil || !p.B.Space().Equal(p.A.Range()):
		return fmt.Errorf("b is of %v, the operator gives %v", p.B.Space(), p.A.Range())
	case square && !p.A.Domain().Equal(p.A.Range()):
		return fmt.Errorf("the operator goes from %v to %v: the method needs one that maps a space to itself", p.A.Domain(), p.A.Range())
	case square && p.Damp != 0:
		return fmt.Errorf("damp is %g: the method has no damping, add it to the operator", p.Damp)
	case math.IsNaN(p.Damp) || math.IsInf(p.Damp, 0) || p.Damp < 0:
		return fmt.Errorf("damp is %g, must not be negative, NaN or infinite", p.Damp)
	}
	return nil
}

// vectors allocates one vector of a space for each pointer.
func vectors[T scalar.Scalar](s *dist.Space, v ...*dist.Array[T]) error {
	for _, p := range v {
		var err error
		if *p, err = dist.New[T](s); err != nil {
			return err
		}
	}
	return nil
}

// num is a real number as an element.
func num[T scalar.Scalar](v float64) T { return scalar.From[T](complex(v, 0)) }
