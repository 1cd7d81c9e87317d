package golops_test

import (
	"math"

	"github.com/golops/golops"
	"github.com/golops/golops/solve"
)

// The least ½‖x - b‖² + ½‖x‖₁ is known: each element of b shrinks by ½. All these
// methods find it.
func Example_splitting() {
	run(2, func(w *golops.World) error {
		X := w.Real(40)
		b := X.Func(func(i []int) float64 { return 3 * math.Sin(float64(i[0]*i[0])) })
		want := X.Func(func(i []int) float64 {
			v := 3 * math.Sin(float64(i[0]*i[0]))
			return math.Copysign(max(math.Abs(v)-0.5, 0), v)
		})
		I, f, g := golops.Identity(X), golops.L2(X, 1, b), golops.L1(X, 0.5)
		half := golops.L1(X, 0.25)
		c := golops.Config{MaxIter: 400, StepTol: 1e-9}
		for _, s := range []golops.Solution[float64]{
			golops.ProximalGradient(f, g, 0.7, golops.FISTAMomentum, c),
			golops.GeneralizedProximalGradient([]golops.SmoothFunction[float64]{f}, []golops.Function[float64]{half, half}, 0.7, golops.NoMomentum, c),
			golops.ADMM(f, g, 0.5, c),
			golops.ADMML2(I, b, I, g, 0.5, 3, c),
			golops.LinearizedADMM(f, g, I, 0.5, 0.5, c),
			golops.PrimalDual(f, g, I, 0.9, 0.9, c),
			golops.AdaptivePrimalDual(f, g, I, 0.9, 0.9, c),
			golops.TwIST(I, b, g, 0.5, 1, c),
			golops.Minimise(&solve.PrimalDual[float64, float64]{F: f, G: g, Tau: 0.9, Mu: 0.9, Theta: 1, XFirst: true}, I, c, X.Zero()),
			golops.ProximalPoint(golops.SumFunctions[float64](f, g), 1, c),
		} {
			w.Printf("%s: %v, right: %v\n", s.Method, s.Status, s.X.Minus(want).Norm() < 1e-6)
		}
		s := golops.HQS(f, g, []float64{1, 0.1, 0.02}, golops.Config{MaxIter: 5000, StepTol: 1e-9})
		w.Printf("%s: %v, near: %v\n", s.Method, s.Status, s.X.Minus(want).Norm() < 0.1)
		return nil
	})
	// Output:
	// ProximalGradient: converged, right: true
	// GeneralizedProximalGradient: converged, right: true
	// ADMM: converged, right: true
	// ADMML2: converged, right: true
	// LinearizedADMM: converged, right: true
	// PrimalDual: converged, right: true
	// AdaptivePrimalDual: converged, right: true
	// TwIST: converged, right: true
	// PrimalDual, x first: converged, right: true
	// ProximalPoint: converged, right: true
	// HQS: converged, near: true
}
