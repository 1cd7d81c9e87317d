package solve

import (
	"context"
	"math"

	"github.com/golops/golops/scalar"
)

// ADMM minimises f(x) + g(x) by the alternating direction method of multipliers, with
// the prox of each by itself:
//
//	x = prox_f(z - u),  z = prox_g(x + u),  u += x - z
//
// Both proxes have step τ. GFirst makes z first, from the x before. The Step of its
// norms counts that of u. It keeps 4 vectors. A step makes 8 passes and sends one message
// beside those of the functions.
//
// S. Boyd, N. Parikh, E. Chu, B. Peleato and J. Eckstein, Distributed Optimization and
// Statistical Learning via the Alternating Direction Method of Multipliers, 2011.
type ADMM[T scalar.Scalar] struct {
	F, G   Function[T]
	Tau    float64 // τ
	GFirst bool

	z, u, next, scratch *Vector[T]
	uu                  float64 // ‖u - u_old‖²
}

// Name implements Method.
func (m *ADMM[T]) Name() string {
	if m.GFirst {
		return "ADMM, g first"
	}
	return "ADMM"
}

// Minimises implements Minimiser.
func (m *ADMM[T]) Minimises() string { return "f(x) + g(x)" }

// Init implements Method.
func (m *ADMM[T]) Init(ctx context.Context, w *Workspace[T, T]) (Norms, error) {
	w.Function("F", m.F)
	w.Function("G", m.G)
	w.positive("Tau", m.Tau)
	m.z, m.u = w.Domain("z"), w.Domain("u")
	m.next, m.scratch = w.DomainScratch("next x"), w.DomainScratch("step")
	m.z.Copy(w.X)
	return startCost(w, w.X.Value(ctx, m.F)+w.X.Value(ctx, m.G))
}

// Step implements Method.
func (m *ADMM[T]) Step(ctx context.Context, w *Workspace[T, T]) (Norms, error) {
	if m.GFirst {
		m.z.Set(1, w.X, 1, m.u)
		m.z.Prox(ctx, m.G, m.Tau, m.z)
	}
	m.next.Set(1, m.z, -1, m.u)
	m.next.Prox(ctx, m.F, m.Tau, m.next)
	if !m.GFirst {
		m.z.Set(1, m.next, 1, m.u)
		m.z.Prox(ctx, m.G, m.Tau, m.z)
	}
	addResidual(m.u, m.next, m.z, m.scratch, &m.uu)
	n, err := accept(ctx, w, m.next, m.scratch, m.next.Value(ctx, m.F)+m.next.Value(ctx, m.G))
	n.Step = math.Hypot(n.Step, math.Sqrt(m.uu)) // x may rest while u moves
	return n, err
}
