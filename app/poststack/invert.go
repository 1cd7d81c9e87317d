package poststack

import (
	"math"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/prox"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// invert improves X.
func (s *session[T]) invert() {
	r := s.Regularization
	if s.sparse() {
		s.invertSparse()
		return
	}
	a, d := s.A, s.D
	if r.Kind == "laplacian" && r.Weight > 0 {
		axes := []int{0, 1, 2}
		if r.By == "trace" {
			axes = axes[:1]
		}
		l := golops.Laplacian(s.Models.Space, ops.LaplacianOptions{Axes: axes})
		a, d = golops.VStack(a, l.Scaled(scalar.From[T](complex(r.Weight, 0)))), golops.Stack(d, l.Range().Zero())
	}
	app.Invert(s.Rank, s.Solver, app.Method[T, T](s.Solver.Method), a, d, s.X)
}

const (
	innerSteps = 20 // of CGLS or CG in one step of a method
	balance    = 5  // τ times the square of the norm of A: the prox of the data then changes as much as that of the steps
)

// invertSparse minimises ½‖A·x - d‖² + σ·‖K·x‖₁, where K has the steps from sample to
// sample: along time, or along all axes for tv of the volume.
func (s *session[T]) invertSparse() {
	k := golops.FirstDerivative(s.Models.Space, 0, ops.DerivativeOptions{Sampling: 1, Kind: ops.DerivativeForward})
	if s.Regularization.Kind == "tv" && s.Regularization.By == "volume" {
		k = golops.Gradient(s.Models.Space, ops.GradientOptions{Kind: ops.DerivativeForward})
	}
	back := s.A.H().Apply(s.D)
	sigma := s.Regularization.Weight * back.NormP(math.Inf(1))
	gain, _ := golops.PowerIteration(s.A.H().Times(s.A), back, 30, 1e-3)
	tau := balance / real(scalar.Complex(gain))
	g := golops.L1(k.Range(), sigma)
	switch s.Solver.Method {
	case "admm":
		m := &solve.ADMML2[T, T, T]{G: g, K: k.Map(), Tau: tau, Inner: innerSteps}
		app.Invert(s.Rank, s.Solver, m, s.A, s.D, s.X)
	case "split-bregman":
		m := &solve.SplitBregman[T, T]{L1: []solve.L1Term[T, T]{{R: k.Map(), Weight: sigma, Split: 1 / tau}}, Steps: innerSteps}
		app.Invert(s.Rank, s.Solver, m, s.A, s.D, s.X)
	case "primal-dual":
		f := golops.L2Operator(s.A, s.D, 1, prox.Inner{MaxIter: innerSteps, RelTol: 1e-8})
		axes := max(len(k.Range().Parts()), 1)
		mu := 0.99 / (4 * tau * float64(axes)) // ‖K‖² is at most 4 along each axis
		app.Minimise(s.Rank, s.Solver, &solve.PrimalDual[T, T]{F: f, G: g, Tau: tau, Mu: mu, Theta: 1}, k, s.X)
	}
}
