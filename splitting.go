package golops

import "github.com/golops/golops/solve"

// Momentum is how a method goes on in the direction of its last step.
type Momentum = solve.Momentum

// The kinds of momentum.
const (
	NoMomentum    = solve.NoMomentum
	FISTAMomentum = solve.FISTAMomentum
	Vandenberghe  = solve.Vandenberghe
)

// Minimise runs a method of package solve that minimises a cost of functions, with
// choices of its own, or a method of yours. a is the operator in the cost; the zero Op
// stands for none. It starts from x and improves it in place.
func Minimise[D, R Scalar](m solve.Method[D, R], a Op[D, R], c Config, x Vec[D]) Solution[D] {
	if m == nil {
		fail("solve: the method is nil")
	}
	if a.w != nil && a.w != x.World() {
		apart("solve", a, x)
	}
	return minimise(m, solve.Problem[D, R]{A: a.m}, c, x)
}

// minimise runs a method in the world of x.
func minimise[D, R Scalar](m solve.Method[D, R], p solve.Problem[D, R], c Config, x Vec[D]) Solution[D] {
	w := x.World()
	if w.stop != nil {
		c.OnIter = stopping(w, c.OnIter)
	}
	r := Must(solve.Run(w.ctx, m, p, x.a, c))
	return Solution[D]{x, m.Name(), r}
}

// from returns the start, or zero of the space of f, which must be in the same world.
func from[T Scalar](f Function[T], start []Vec[T]) Vec[T] {
	w := worldOfAll("solve", f)
	if len(start) == 0 {
		return Space[T]{w, f.Space()}.Zero()
	}
	in(w, "solve", start[0])
	return start[0]
}

// ProximalPoint minimises f(x) by its prox with step tau alone.
func ProximalPoint[T Scalar](f Function[T], tau float64, c Config, start ...Vec[T]) Solution[T] {
	return minimise(&solve.ProximalPoint[T]{F: f, Tau: tau}, solve.Problem[T, T]{}, c, from(f, start))
}

// ProximalGradient minimises f(x) + g(x) by steps of length tau along the gradient of
// f, each followed by the prox of g.
func ProximalGradient[T Scalar](f SmoothFunction[T], g Function[T], tau float64, o Momentum, c Config, start ...Vec[T]) Solution[T] {
	worldOfAll("ProximalGradient", f, g)
	return minimise(&solve.ProximalGradient[T]{F: f, G: g, Weight: 1, Tau: tau, Momentum: o}, solve.Problem[T, T]{}, c, from[T](f, start))
}

// GeneralizedProximalGradient minimises Σf(x) + Σg(x) as ProximalGradient does, with
// the prox of each g by itself.
func GeneralizedProximalGradient[T Scalar](f []SmoothFunction[T], g []Function[T], tau float64, o Momentum, c Config, start ...Vec[T]) Solution[T] {
	if len(g) == 0 {
		fail("GeneralizedProximalGradient: no function g given")
	}
	m := &solve.GeneralizedProximalGradient[T]{Tau: tau, Eta: 1, Momentum: o}
	for _, f := range f {
		worldOfAll("GeneralizedProximalGradient", f, g[0])
		m.F = append(m.F, f)
	}
	worldOfAll("GeneralizedProximalGradient", g...)
	m.G = below(g)
	return minimise(m, solve.Problem[T, T]{}, c, from(g[0], start))
}

// HQS minimises f(x) + g(z) + ‖x - z‖²/(2τ): half-quadratic splitting. tau has the τ of
// each step, and the last of it that of all steps after these.
func HQS[T Scalar](f, g Function[T], tau []float64, c Config, start ...Vec[T]) Solution[T] {
	worldOfAll("HQS", f, g)
	return minimise(&solve.HQS[T]{F: f, G: g, Tau: tau}, solve.Problem[T, T]{}, c, from(f, start))
}

// ADMM minimises f(x) + g(x) with the prox of each by itself, both with step tau.
func ADMM[T Scalar](f, g Function[T], tau float64, c Config, start ...Vec[T]) Solution[T] {
	worldOfAll("ADMM", f, g)
	return minimise(&solve.ADMM[T]{F: f, G: g, Tau: tau}, solve.Problem[T, T]{}, c, from(f, start))
}

// ADMML2 minimises ½‖A·x - b‖² + g(K·x). Each step solves a least-squares problem by
// inner steps of CGLS at most.
func ADMML2[D, R, S Scalar](a Op[D, R], b Vec[R], k Op[D, S], g Function[S], tau float64, inner int, c Config, start ...Vec[D]) Solution[D] {
	w := worldOfAll("ADMML2", g)
	if a.World() != w || k.World() != w || b.World() != w {
		fail("ADMML2: A, b, K and g are not all of one World")
	}
	m := &solve.ADMML2[D, R, S]{G: g, K: k.m, Tau: tau, Inner: inner}
	return minimise(m, solve.Problem[D, R]{A: a.m, B: b.a}, c, startOf(a, start))
}

// startOf returns the start, or zero of the domain of a.
func startOf[D, R Scalar](a Op[D, R], start []Vec[D]) Vec[D] {
	if len(start) == 0 {
		return a.Domain().Zero()
	}
	in(a.World(), "solve", start[0])
	return start[0]
}

// LinearizedADMM minimises f(x) + g(A·x) without a system to solve. mu must be at most
// tau/‖A‖².
func LinearizedADMM[D, R Scalar](f Function[D], g Function[R], a Op[D, R], tau, mu float64, c Config, start ...Vec[D]) Solution[D] {
	functionsOf("LinearizedADMM", f, g, a)
	return minimise(&solve.LinearizedADMM[D, R]{F: f, G: g, Tau: tau, Mu: mu}, solve.Problem[D, R]{A: a.m}, c, startOf(a, start))
}

// PrimalDual minimises f(x) + g(A·x) by the method of Chambolle and Pock. tau·mu must be
// at most 1/‖A‖².
func PrimalDual[D, R Scalar](f Function[D], g Function[R], a Op[D, R], tau, mu float64, c Config, start ...Vec[D]) Solution[D] {
	functionsOf("PrimalDual", f, g, a)
	return minimise(&solve.PrimalDual[D, R]{F: f, G: g, Tau: tau, Mu: mu, Theta: 1}, solve.Problem[D, R]{A: a.m}, c, startOf(a, start))
}

// AdaptivePrimalDual is PrimalDual that balances tau and mu as it goes.
func AdaptivePrimalDual[D, R Scalar](f Function[D], g Function[R], a Op[D, R], tau, mu float64, c Config, start ...Vec[D]) Solution[D] {
	functionsOf("AdaptivePrimalDual", f, g, a)
	m := &solve.AdaptivePrimalDual[D, R]{F: f, G: g, Tau: tau, Mu: mu, Alpha: 0.5, Eta: 0.95, S: 1, Delta: 1.5}
	return minimise(m, solve.Problem[D, R]{A: a.m}, c, startOf(a, start))
}

// TwIST minimises ½‖A·x - b‖² + g(x) for an A whose singular values, squared, lie
// between least and most; most should be 1 at most.
func TwIST[D, R Scalar](a Op[D, R], b Vec[R], g Function[D], least, most float64, c Config, start ...Vec[D]) Solution[D] {
	if a.World() != worldOfAll("TwIST", g) || a.w != b.World() {
		fail("TwIST: A, b and g are not all of one World")
	}
	m := &solve.TwIST[D, R]{G: g}
	m.Alpha, m.Beta = solve.TwISTWeights(least, most)
	return minimise(m, solve.Problem[D, R]{A: a.m, B: b.a}, c, startOf(a, start))
}

// functionsOf refuses functions and an operator of different worlds.
func functionsOf[D, R Scalar](what string, f Function[D], g Function[R], a Op[D, R]) {
	if worldOfAll(what, f) != a.World() || worldOfAll(what, g) != a.w {
		fail("%s: f, g and A are not all of one World", what)
	}
}
