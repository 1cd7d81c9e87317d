package solve

import (
	"context"
	"math"

	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// LinearizedADMM minimises f(x) + g(A·x) as ADMM does, without a system to solve:
//
//	x = prox_{μf}(x - μ/τ·Aᴴ(A·x - z + u)),  z = prox_{τg}(A·x + u),  u += A·x - z
//
// It converges if 0 < μ ≤ τ/‖A‖². The Step of its norms counts that of u. It keeps 2
// vectors of the domain and 4 of the range. A step makes 4 passes over the domain and 6
// over the range, applies A and Aᴴ once, and sends one message beside those of the
// functions.
//
// N. Parikh and S. Boyd, Proximal Algorithms, 2014, section 4.4.2.
type LinearizedADMM[D, R scalar.Scalar] struct {
	F       Function[D]
	G       Function[R]
	Tau, Mu float64 // τ and μ

	next, scratch   *Vector[D]
	z, u, ax, resid *Vector[R]
	uu              float64 // ‖u - u_old‖²
}

// Name implements Method.
func (m *LinearizedADMM[D, R]) Name() string { return "LinearizedADMM" }

// Minimises implements Minimiser.
func (m *LinearizedADMM[D, R]) Minimises() string { return "f(x) + g(A·x)" }

// Init implements Method.
func (m *LinearizedADMM[D, R]) Init(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	w.needA()
	w.Function("F", m.F)
	w.Function("G", m.G)
	w.positive("Tau", m.Tau)
	w.positive("Mu", m.Mu)
	if w.err != nil {
		return Norms{}, w.Err()
	}
	m.next, m.scratch = w.DomainScratch("next x"), w.DomainScratch("step")
	m.z, m.u, m.ax, m.resid = w.Range("z"), w.Range("u"), w.Range("A·x"), w.RangeScratch("A·x - z + u")
	w.Forward(ctx, m.ax, w.X)
	m.z.Copy(m.ax)
	return startCost(w, w.X.Value(ctx, m.F)+m.ax.Value(ctx, m.G))
}

// Step implements Method.
func (m *LinearizedADMM[D, R]) Step(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	m.resid.Set(1, m.ax, -1, m.z)
	m.resid.Add(1, m.u)
	w.Adjoint(ctx, m.next, m.resid)
	m.next.Combine(-m.Mu/m.Tau, 1, w.X)
	m.next.Prox(ctx, m.F, m.Mu, m.next)
	w.Forward(ctx, m.ax, m.next)
	m.z.Set(1, m.ax, 1, m.u)
	m.z.Prox(ctx, m.G, m.Tau, m.z)
	addResidual(m.u, m.ax, m.z, m.resid, &m.uu)
	n, err := accept(ctx, w, m.next, m.scratch, m.next.Value(ctx, m.F)+m.ax.Value(ctx, m.G))
	n.Step = math.Hypot(n.Step, math.Sqrt(m.uu)) // x may rest while u moves
	return n, err
}

// needA refuses a problem without an operator.
func (w *Workspace[D, R]) needA() {
	if linop.H(w.A) == nil {
		w.Fail(errNoOperator)
	}
}
