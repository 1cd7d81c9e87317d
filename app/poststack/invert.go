package poststack

import (
	"context"
	"math"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/prox"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// invert improves x.
func (s *session[T]) invert(ctx context.Context) error {
	if s.Regularization.sparse() {
		return s.invertSparse(ctx)
	}
	p := solve.Problem[T, T]{A: s.op, B: s.d}
	if s.Regularization.Kind == "laplacian" && s.Regularization.Weight > 0 {
		axes := []int{0, 1, 2}
		if s.Regularization.By == "trace" {
			axes = axes[:1]
		}
		l, err := ops.Laplacian[T](ctx, s.v.Space, ops.LaplacianOptions{Axes: axes})
		if err != nil {
			return err
		}
		if p, err = solve.Regularize(p, solve.Term[T, T]{R: l, Weight: s.Regularization.Weight}); err != nil {
			return err
		}
	}
	app.Invert(s.r, s.Solver, app.Method[T, T](s.Solver.Method), golops.FromMap(s.r.World, p.A), golops.FromArray(s.r.World, p.B), golops.FromArray(s.r.World, s.x))
	return nil
}

// invertSparse minimises ½‖A·x - d‖² + σ·‖K·x‖₁, where K has the steps from sample to
// sample: along time, or along all axes for tv of the volume.
func (s *session[T]) invertSparse(ctx context.Context) error {
	forward := ops.DerivativeOptions{Sampling: 1, Kind: ops.DerivativeForward}
	k, err := ops.FirstDerivative[T](ctx, s.v.Space, 0, forward)
	if s.Regularization.Kind == "tv" && s.Regularization.By == "volume" && err == nil {
		k, err = ops.Gradient[T](ctx, s.v.Space, ops.GradientOptions{Kind: ops.DerivativeForward})
	}
	if err != nil {
		return err
	}
	adj, err := linop.Apply(ctx, linop.H(s.op), s.d)
	if err != nil {
		return err
	}
	sigma, err := dist.Norm(ctx, adj, math.Inf(1))
	if err != nil {
		return err
	}
	sigma *= s.Regularization.Weight
	gain, err := s.gain(ctx, adj)
	if err != nil {
		return err
	}
	g, err := prox.L1[T](ctx, k.Range(), sigma)
	if err != nil {
		return err
	}
	tau := balance / gain
	p := solve.Problem[T, T]{A: s.op, B: s.d}
	var m solve.Method[T, T] = &solve.ADMML2[T, T, T]{G: g, K: k, Tau: tau, Inner: innerSteps}
	switch s.Solver.Method {
	case "primal-dual":
		f, err := prox.L2Operator(ctx, s.op, s.d, 1, prox.Inner{MaxIter: innerSteps, RelTol: 1e-8})
		if err != nil {
			return err
		}
		axes := max(len(k.Range().Parts()), 1)
		m, p = &solve.PrimalDual[T, T]{F: f, G: g, Tau: tau, Mu: 0.99 / (4 * tau * float64(axes)), Theta: 1}, solve.Problem[T, T]{A: k} // ‖K‖² is at most 4 along each axis
	case "split-bregman":
		m = &solve.SplitBregman[T, T]{L1: []solve.L1Term[T, T]{{R: k, Weight: sigma, Split: 1 / tau}}, Steps: innerSteps}
	}
	if s.Solver.Method == "primal-dual" {
		app.Minimise(s.r, s.Solver, m, golops.FromMap(s.r.World, k), golops.FromArray(s.r.World, s.x))
		return nil
	}
	app.Invert(s.r, s.Solver, m, golops.FromMap(s.r.World, p.A), golops.FromArray(s.r.World, p.B), golops.FromArray(s.r.World, s.x))
	return nil
}

const (
	innerSteps = 20 // of CGLS or CG in one step of a method
	balance    = 5  // τ times the square of the norm of A: the prox of the data then changes as much as that of the steps
)

// gain returns the square of the norm of the operator; x is a start, which is lost.
func (s *session[T]) gain(ctx context.Context, x dist.Array[T]) (float64, error) {
	normal, err := linop.Compose(linop.H(s.op), s.op)
	if err != nil {
		return 0, err
	}
	eig, _, err := solve.PowerIteration(ctx, normal, x, 30, 1e-3)
	return real(scalar.Complex(eig)), err
}
