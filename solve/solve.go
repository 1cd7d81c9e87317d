// Package solve runs iterative methods: least squares, linear systems whose matrix is
// known by what it does, and costs that have proximal functions in them.
//
// A method is a recurrence: Init and Step, on a Workspace. Run owns the loop:
// limits, tolerances, callbacks, history, checkpoints, and that all ranks stop
// together.
//
//	method            problem                                  vectors kept       messages  A and Aᴴ   passes per step     per check
//	CG                A·x = b, A Hermitian positive definite   3                  2         1          4                   1
//	CG{OneMessage}    the same                                 5                  1         1          5                   1
//	MINRES            A·x = b, A Hermitian                     6                  2         1          7                   2
//	BiCGStab          A·x = b, A square                        5                  3         2          11                  1
//	GMRES{n}          the same, the least residual             n + 2              2         1          5k + 3 in step k    1
//	CGLS              min ‖A·x - b‖² + damp²·‖x‖², any A       2 domain, 2 range  2         1 and 1    3 domain, 2 range   1 and 1
//	CGLS{OneMessage}  the same                                 3 domain, 4 range  1         1 and 1    3 domain, 3 range   1 and 1
//	LSQR              the same, with less rounding             3 domain, 2 range  2         1 and 1    4 domain, 3 range   1 and 1
//	Landweber         the same, by steps of one length         2 domain, 2 range  1         1 and 1    2 domain, 2 range   1 and 1
//	ISTA              min ½‖A·x - b‖² + ε·P(x)                 2 domain, 1 range  1         1 and 1    6 domain, 1 range   none
//	FISTA             the same, with momentum                  2 domain, 2 range  1         1 and 1    7 domain, 2 range   none
//	BasisPursuit      min ‖x‖₁ with ‖A·x - b‖ ≤ σ              2 domain, 2 range  2 + p     1 and 1    9 + p domain, 6 range none
//	OMP               few elements that fit b                  7 domain, 3 range  3 + 2n    n + 2 each see its comment     none
//	IRLS              min ‖A·x - b‖₁, or a sparse x            4 domain, 6 range  2 + 2n    n + 2, n + 1 see its comment   none
//	SplitBregman      min ½‖A·x - b‖² + Σ w·‖L·x‖₁             5 domain, 3 range  2 + 2n    n + 2, n + 1 see its comment   none
//
// P is ‖x‖₁, ‖x‖₀ or Σ√|x|. Backtracking keeps one vector more of the range, and with
// FISTA one of the domain; so does the monotone FISTA. Each attempt of it is one message.
// A percentile takes 55 messages and a vector more. A projection of BasisPursuit makes p
// trials. OMP, IRLS and SplitBregman solve a problem inside by n steps of CGLS, or fewer
// where its gradient is at rounding; its vectors are among theirs.
//
// Vectors are counted beside x and b. With damping LSQR keeps one more of each and
// makes 8 passes over the domain and 5 over the range, and CGLS makes 2 more over
// the domain. Run keeps one more of the domain for the best x, unless Config has
// PastRounding. Messages are per step, those of the operator aside.
//
// Methods that minimise a cost of functions, without what the functions keep, send and
// pass over:
//
//	method                       cost                        vectors kept       messages         A and Aᴴ   passes per step
//	ProximalPoint                f(x)                        2                  1                0          3
//	ProximalGradient             f(x) + ε·g(x), f smooth     4                  1                0          5
//	ProximalGradient{Backtrack}  the same                    4                  1, 1 per attempt 0          4, 4 per attempt
//	GeneralizedProximalGradient  Σf(x) + Σε·g(x)             5, and 1 per g     1                0          7, 1 per f, 4 per g
//	HQS                          f(x) + g(x), nearly         3                  1                0          3
//	ADMM                         f(x) + g(x)                 4                  1                0          8
//	ADMML2                       ½‖A·x - b‖² + g(K·x)        see its comment    2 + 2n           n + 1 each see its comment
//	LinearizedADMM               f(x) + g(A·x)               2 domain, 4 range  1                1 and 1    4 domain, 6 range
//	PrimalDual                   f(x) + g(A·x)               2 domain, 4 range  1                1 and 1    3 domain, 2 range
//	AdaptivePrimalDual           the same                    3 domain, 5 range  2                1 and 1    7 domain, 6 range
//	TwIST                        ½‖A·x - b‖² + g(x)          3 domain, 1 range  2                1 and 1    7 domain, 1 range
//
// Methods of your own are types with Name, Init and Step; the example of Workspace
// shows one. They have all checks, statuses, checkpoints and restarts of the others.
//
// A method that minimises a cost of its own, such as f(x) + g(K·x), is a Minimiser: it
// has Minimises too, and its Norms have the Cost and the length of the Step. K is the A
// of the Problem, which needs no B then. A step works the next x out in a vector of
// the method, sums all its numbers up in one message, and changes w.X last, after
// w.Finite has seen them: so callbacks cost no message, and no NaN gets into x.
// w.Function makes a function one of the method. Vector.Prox, DualProx, Gradient and
// Value call functions; Forward, Adjoint and VectorOn are for operators and spaces
// beside those of the problem. w.Parameter refuses weights that are negative or NaN. A
// method that knows that it is done calls w.End(Converged, why). Runs of a Minimiser end
// by CostTol, FallTol and StepTol of the Config; there are no checks of a residual. A
// run that diverges returns to the best x that it has kept.
//
// A check works the norms of the other methods out from x. There is one at the end of
// every run, one after every hundred steps, and a few when the recurrence comes near a
// tolerance or near rounding. If the recurrence has left the truth, it starts anew from
// there.
//
// Status says what each end of a run means and what to do.
//
// Numbers may be as large and small as the element type: where squares would leave
// the range, a run scales the problem by powers of two.
//
// GMRES makes one more product and one more message after each n steps.
//
// Regularize, Precondition and Normal make other problems of a problem;
// PowerIteration finds the largest eigenvalue, Eigenvalues and SingularValues find a
// few from the ends of a spectrum.
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

// Method is one solver: a recurrence. It works on a Workspace, which has the
// problem, the vectors and numbers that the method asks for, and helpers that see
// to errors. A method is used by one Run at a time, for one problem after another.
type Method[D, R scalar.Scalar] interface {
	// Name says which method it is, in checkpoints and reports.
	Name() string
	// Init asks for vectors and numbers by name, and starts from the x of the
	// workspace. It is collective: where a rank finds the problem wrong, all
	// return an error.
	Init(ctx context.Context, w *Workspace[D, R]) (Norms, error)
	// Step improves x once. It is collective and allocates nothing. An error
	// that is ErrBreakdown or ErrNotFinite comes on all ranks and leaves x alone.
	// Callbacks cost no message if x changes after the first one of a step.
	Step(ctx context.Context, w *Workspace[D, R]) (Norms, error)
}

// Norms are what a method knows of its progress after a step, the very same on
// all ranks. They come out of its recurrences: close to the rounding of the
// element type they may be smaller than those of b - A·x worked out anew, which
// Result has.
type Norms struct {
	Resid float64 // ‖b - A·x‖; NaN where a Minimiser does not know it
	Grad  float64 // ‖Aᴴ(b - A·x) - damp²·x‖; NaN where the method does not know it
	Cost  float64 // what a Minimiser minimises, +Inf where x is outside of a set; NaN for the other methods
	Step  float64 // ‖x - x_old‖ of a Minimiser, 0 at the start; NaN for the other methods
}

// Minimiser is a Method that minimises a cost of its own instead of ‖b - A·x‖. Its
// Norms have Cost and Step. Its Problem may have no B, and no A if the cost has none.
type Minimiser interface {
	// Minimises writes the cost as a formula with its numbers, such as
	// "½‖A·x - b‖² + 0.1·‖x‖₁". It is the same on all ranks. A checkpoint of another
	// formula is one of another run.
	Minimises() string
}

// formula returns what m minimises, "" if that is ‖b - A·x‖.
func formula(m any) string {
	if m, ok := m.(Minimiser); ok {
		return m.Minimises()
	}
	return ""
}

// ErrBreakdown is in the error of a step that cannot be made: the problem is
// not one for the method.
var ErrBreakdown = errors.New("breakdown")

// refusal is a breakdown of which the method knows the status.
type refusal struct {
	status Status
	why    string
}

func (u *refusal) Error() string { return u.why }

// Is makes it a breakdown.
func (u *refusal) Is(err error) bool { return err == ErrBreakdown }

// ErrNotFinite is in the error of a step whose numbers are NaN or infinite.
var ErrNotFinite = errors.New("not a finite number: look for NaN or infinite values in the data and the operator")

// check says what is wrong with a problem. Only a Minimiser can do without A or b.
func (p Problem[D, R]) check(x *dist.Space, damp float64, minimiser bool) error {
	switch {
	case minimiser && damp != 0:
		return fmt.Errorf("the Damp is %g: the method minimises a cost of its own: make the damping part of it", damp)
	case minimiser && linop.H(p.A) == nil && p.B.Space() == nil && x != nil:
		return nil
	case linop.H(p.A) == nil: // sees a nil pointer inside the interface too
		return errors.New("no operator given")
	case !p.A.Domain().Equal(x):
		return fmt.Errorf("%s: x is of %v, the operator takes %v", differ(x, p.A.Domain()), x, p.A.Domain())
	case minimiser && p.B.Space() == nil:
	case !p.A.Range().Equal(p.B.Space()):
		return fmt.Errorf("%s: b is of %v, the operator gives %v", differ(p.B.Space(), p.A.Range()), p.B.Space(), p.A.Range())
	case p.A.Domain().Group() != p.A.Range().Group():
		return fmt.Errorf("the operator goes from %v to %v, which have different masks", p.A.Domain(), p.A.Range())
	case !(damp >= 0) || math.IsInf(damp, 0):
		return fmt.Errorf("damp is %g, must not be negative, NaN or infinite", damp)
	}
	return nil
}

// differ says in what two spaces differ.
func differ(s, t *dist.Space) string {
	why, _ := s.Difference(t)
	return why
}

// group returns the ranks that solve the problem together, nil if nothing says.
func (p Problem[D, R]) group(x *dist.Space) *comm.Comm {
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
