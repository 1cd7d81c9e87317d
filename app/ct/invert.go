package ct

import (
	"fmt"
	"math"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// invert finds the image x by the method of the configuration. fbp is where total
// variation begins.
func invert[T golops.Scalar](r *app.Rank, s *scan, P golops.Operator[T], y, fbp, x golops.Vec[T]) {
	if m := app.Method[T, T](s.Solver.Method); m != nil {
		app.Invert(r, s.Solver.Solver, m, P, y, x)
		return
	}
	var m solve.Method[T, T]
	var A golops.Operator[T]
	r.Stage("norms", func() { m, A = minimiser(s, P, y, fbp, x) })
	app.Minimise(r, s.Solver.Solver, m, A, x)
}

// minimiser returns the method nonnegative or tv, and the operator of tv. Both scale the
// projector P to a norm of 1, so that the length of steps depends neither on units nor on
// the scan:
//
//	nonnegative: ½‖P·x - y‖², x ≥ 0        tv: ½‖P·x - y‖² + w·Σ|∇x|, x ≥ 0
//
// w is the weight of the configuration times the largest value of Pᴴy.
func minimiser[T golops.Scalar](s *scan, P golops.Operator[T], y, fbp, x golops.Vec[T]) (m solve.Method[T, T], A golops.Operator[T]) {
	X, back := x.Space(), P.H().Apply(y)
	norm, weight := normOf(P, back.Clone()), s.Solver.Weight*back.NormP(math.Inf(1))
	P, y = P.Scaled(number[T](1/norm)), y.Scaled(number[T](1/norm))
	positive := golops.Box(X, 0, math.Inf(1))
	if s.Solver.Method == "nonnegative" {
		return &solve.ProximalGradient[T]{F: golops.L2Operator(P, y, 1), G: positive, Weight: 1, Tau: 1, Momentum: solve.FISTAMomentum}, A
	}
	steep := math.Sqrt(8) // at most the norm of a gradient in two dimensions
	G := golops.Gradient(X, ops.GradientOptions{Kind: ops.DerivativeForward}).Scaled(number[T](1 / steep))
	cost := golops.StackFunctions(golops.L2(y.Space(), 1, y), golops.L21(G.Range(), weight/(norm*norm)*steep))
	x.Copy(golops.Prox(positive, 1, fbp))
	return &solve.PrimalDual[T, T]{F: positive, G: cost, Tau: stretch, Mu: 1 / (2 * stretch), Theta: 1}, golops.VStack(P, G)
}

// stretch makes steps of the image longer and those of the dual shorter: 2 is above the
// square of the norm of both operators together. With 20 the example takes the fewest
// steps.
const stretch = 20.0

// normOf returns a number somewhat above the norm of the projector, by power iteration
// from x, which it changes.
func normOf[T golops.Scalar](P golops.Operator[T], x golops.Vec[T]) float64 {
	eig, _ := golops.PowerIteration(P.H().Times(P), x, 50, 1e-4)
	norm := math.Sqrt(real(scalar.Complex(eig))) * 1.01
	if !(norm > 0) || math.IsInf(norm, 0) {
		golops.Check(fmt.Errorf("the rays do not cross the image: the norm of the projector is %g", norm))
	}
	return norm
}

func number[T golops.Scalar](x float64) T { return scalar.From[T](complex(x, 0)) }
