package solve

import (
	"context"

	"github.com/golops/golops/scalar"
)

// ProximalPoint minimises f(x) by its prox alone: x = prox(x) with step τ. It is for
// an f whose prox is easier than its minimum. It keeps 2 vectors. A step makes 3 passes
// and sends one message beside those of Value and Prox.
//
// R. T. Rockafellar, Monotone Operators and the Proximal Point Algorithm, 1976.
type ProximalPoint[T scalar.Scalar] struct {
	F   Function[T]
	Tau float64 // τ

	next, diff *Vector[T]
}

// Name implements Method.
func (m *ProximalPoint[T]) Name() string { return "ProximalPoint" }

// Minimises implements Minimiser.
func (m *ProximalPoint[T]) Minimises() string { return "f(x)" }

// Init implements Method.
func (m *ProximalPoint[T]) Init(ctx context.Context, w *Workspace[T, T]) (Norms, error) {
	w.Function("F", m.F)
	w.positive("Tau", m.Tau)
	m.next, m.diff = w.DomainScratch("next x"), w.DomainScratch("step")
	return startCost(w, w.X.Value(ctx, m.F))
}

// Step implements Method.
func (m *ProximalPoint[T]) Step(ctx context.Context, w *Workspace[T, T]) (Norms, error) {
	m.next.Prox(ctx, m.F, m.Tau, w.X)
	return accept(ctx, w, m.next, m.diff, m.next.Value(ctx, m.F))
}
