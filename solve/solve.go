// Package solve runs iterative methods: least-squares and linear systems whose
// matrix is known by what it does.
//
// A method is mathematics only: Init and Step. Run owns the loop: limits,
// tolerances, callbacks, history, checkpoints, and that all ranks stop together.
//
//	method       problem                                     messages per step  A and Aᴴ per step, per check
//	CG, CG1      A·x = b, A Hermitian positive definite      2, 1               1        1
//	MINRES       A·x = b, A Hermitian                        2                  1        2
//	CGLS, CGLS1  min ‖A·x - b‖² + damp²·‖x‖², any A          2, 1               1 and 1  1 and 1
//	LSQR         the same, with less rounding                2                  1 and 1  1 and 1
//
// A check works the norms out from x. There is one at the end of every run, one
// after every hundred steps, and a few when the recurrence comes near a tolerance or
// near rounding. If the recurrence has left the truth, it starts anew from there.
//
//	status           what it means                                              what to do
//	converged        a tolerance is met by the true norms
//	iteration limit  MaxIter steps are made                                     more steps, if the residual is still falling
//	stopped          a callback returned ErrStop
//	time is up       the Budget is spent
//	at rounding      residual or gradient are as small as rounding lets them    nothing; for less, elements of 64 bits
//	ill-conditioned  the operator is singular to the rounding of the elements   damp, regularise, elements of 64 bits
//	stagnated        three restarts in a row have gained nothing                damp, regularise, precondition, LSQR
//	diverged         the residual has grown a million times, or is NaN          look at Result.Why
//	breakdown        a step cannot be made, or x is out of range                look at Result.Why
//	not symmetric    the operator of CG, CG1 or MINRES is not Hermitian         CGLS, LSQR
//	indefinite       the operator of CG or CG1 has negative eigenvalues         MINRES, CGLS, LSQR
//
// Numbers may be as large and small as the element type: where squares would leave
// the range, a run scales the problem by powers of two.
//
// Regularize, Precondition and Normal make other problems of a problem;
// PowerIteration finds the largest eigenvalue.
package solve

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Problem is A·x = b, or min ‖A·x - b‖² for the methods of least squares. x has
// elements of type D and b has elements of type R. A real x may have complex data:
// the sums of squares are those of the real and imaginary parts, and Aᴴ gives the
// real part. If the spaces have a mask, the ranks of each color solve a separate
// problem, and A must not send messages to ranks of another color.
type Problem[D, R scalar.Scalar] struct {
	A linop.Map[D, R]
	B dist.Array[R]
}

// Method is one solver. It is used by one Run at a time, and by one problem
// after another; vectors of the same space are used again.
type Method[D, R scalar.Scalar] interface {
	// Name says which method it is, in checkpoints and reports.
	Name() string
	// Init binds the method to a problem and a first guess x, which it improves
	// in place, and allocates what it needs. It is collective: where a rank
	// finds the problem wrong, all return an error.
	Init(ctx context.Context, p Problem[D, R], damp float64, x dist.Array[D]) (Norms, error)
	// Step improves x once. It is collective and allocates nothing. An error
	// that is ErrBreakdown or ErrNotFinite comes on all ranks and leaves x alone.
	Step(ctx context.Context) (Norms, error)
	// State returns what a checkpoint must keep beside x to go on.
	State() State[D, R]
	// Outlook says what the steps so far have seen of the operator.
	Outlook() Outlook
	// Room returns a vector of the domain and one of the range that the next Step
	// does not read, for a check of x. A method that knows no gradient may return
	// one vector twice.
	Room() (dom dist.Array[D], rng dist.Array[R])
}

// Norms are what a method knows of its progress after a step, the very same on
// all ranks. They come out of its recurrences: close to the rounding of the
// element type they may be smaller than those of b - A·x worked out anew, which
// Result has.
type Norms struct {
	Resid float64 // ‖b - A·x‖
	Grad  float64 // ‖Aᴴ(b - A·x) - damp²·x‖; NaN where the method does not know it
}

// State is the vectors and numbers of a method between two steps.
type State[D, R scalar.Scalar] struct {
	Domain  []dist.Array[D]
	Range   []dist.Array[R]
	Numbers []*float64
}

// ErrBreakdown is in the error of a step that cannot be made: the problem is
// not one for the method.
var ErrBreakdown = errors.New("breakdown")

// unfit is a breakdown of which the method knows the status.
type unfit struct {
	status Status
	why    string
}

func (u *unfit) Error() string { return u.why }

// Is makes it a breakdown.
func (u *unfit) Is(err error) bool { return err == ErrBreakdown }

// ErrNotFinite is in the error of a step whose numbers are NaN or infinite.
var ErrNotFinite = errors.New("not a finite number: look for NaN or infinite values in the data and the operator")

// check says what is wrong with a problem.
func (p Problem[D, R]) check(x *dist.Space, damp float64, square bool) error {
	switch {
	case linop.H(p.A) == nil: // sees a nil pointer inside the interface too
		return errors.New("no operator given")
	case !p.A.Domain().Equal(x):
		return fmt.Errorf("x is of %v, the operator takes %v", x, p.A.Domain())
	case square && !p.A.Domain().Equal(p.A.Range()):
		return fmt.Errorf("the operator goes from %v to %v: the method needs one that maps a space to itself", p.A.Domain(), p.A.Range())
	case !p.A.Range().Equal(p.B.Space()):
		return fmt.Errorf("b is of %v, the operator gives %v", p.B.Space(), p.A.Range())
	case p.A.Domain().Group() != p.A.Range().Group():
		return fmt.Errorf("the operator goes from %v to %v, which have different masks", p.A.Domain(), p.A.Range())
	case !(damp >= 0) || math.IsInf(damp, 0):
		return fmt.Errorf("damp is %g, must not be negative, NaN or infinite", damp)
	case square && damp != 0:
		return fmt.Errorf("Damp is %g: the method has no damping: add damp²·I to the operator, or use CGLS or LSQR", damp)
	}
	return nil
}

// group returns the ranks that solve the problem together, nil if nothing says.
func (p Problem[D, R]) group(x *dist.Space) comm.Comm {
	switch {
	case x != nil:
		return x.Group()
	case p.B.Space() != nil:
		return p.B.Space().Group()
	case linop.H(p.A) != nil:
		return p.A.Domain().Group()
	}
	return nil
}

// ready checks the problem for an x of this space, and gives a method its
// vectors of the domain and of the range. It is collective: all ranks go on, or
// none does.
func (p Problem[D, R]) ready(ctx context.Context, x *dist.Space, damp float64, square bool, dom []*dist.Array[D], rng []*dist.Array[R]) error {
	err := p.check(x, damp, square)
	if err == nil {
		err = errors.Join(vectors(x, dom), vectors(p.A.Range(), rng))
	}
	g := p.group(x)
	if g == nil {
		return err
	}
	return comm.Agree(ctx, g, err)
}

// vectors makes each of v a zero vector of s.
func vectors[T scalar.Scalar](s *dist.Space, v []*dist.Array[T]) (err error) {
	for _, p := range v {
		if p.Space() == s {
			dist.Zero(*p)
			continue
		}
		p.Free()
		if *p, err = dist.New[T](s); err != nil {
			return err
		}
	}
	return nil
}

// positive says why a step cannot divide by a number, which name stands for.
func positive(name string, v float64, hint string) error {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Errorf("%s is %g: %w", name, v, ErrNotFinite)
	case v <= 0:
		return fmt.Errorf("%s is %g: %s: %w", name, v, hint, ErrBreakdown)
	}
	return nil
}

// nullSpace is what it means if the image of a gradient is not positive.
const nullSpace = "the operator and its adjoint do not belong together: Aᴴ gives what A takes to zero"

// num is a real number as an element.
func num[T scalar.Scalar](v float64) T { return scalar.From[T](complex(v, 0)) }
