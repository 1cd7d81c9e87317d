package solve

import (
	"context"
	"fmt"

	"github.com/golops/golops/scalar"
)

// HQS minimises f(x) + g(z) + ‖x - z‖²/(2τ), which is near f(x) + g(x) if τ is small:
// half-quadratic splitting.
//
//	z = prox_g(x),  x = prox_f(z)
//
// It keeps 3 vectors. A step makes 3 passes and sends one message beside those of the
// functions.
//
// D. Geman and C. Yang, Nonlinear Image Recovery with Half-Quadratic Regularization,
// 1995.
type HQS[T scalar.Scalar] struct {
	F, G   Function[T]
	Tau    []float64 // τ of each step, the last of all steps after these
	FFirst bool      // x comes first

	z, next, scratch *Vector[T]
	k                float64
}

// Name implements Method.
func (m *HQS[T]) Name() string { return "HQS" }

// Minimises implements Minimiser.
func (m *HQS[T]) Minimises() string { return "f(x) + g(x), by half-quadratic splitting" }

// Init implements Method.
func (m *HQS[T]) Init(ctx context.Context, w *Workspace[T, T]) (Norms, error) {
	w.Function("F", m.F)
	w.Function("G", m.G)
	if len(m.Tau) == 0 {
		w.Fail(fmt.Errorf("no Tau given: give one number, or one for each step"))
	}
	for i, t := range m.Tau {
		w.positive(fmt.Sprintf("Tau[%d]", i), t)
	}
	m.z, m.next, m.scratch = w.Domain("z"), w.DomainScratch("next x"), w.DomainScratch("step")
	w.Number("k", &m.k)
	m.z.Copy(w.X)
	return startCost(w, w.X.Value(ctx, m.F)+w.X.Value(ctx, m.G))
}

// Step implements Method.
func (m *HQS[T]) Step(ctx context.Context, w *Workspace[T, T]) (Norms, error) {
	tau := m.Tau[min(int(m.k), len(m.Tau)-1)]
	if m.FFirst {
		m.next.Prox(ctx, m.F, tau, m.z)
		m.z.Prox(ctx, m.G, tau, m.next)
	} else {
		m.z.Prox(ctx, m.G, tau, w.X)
		m.next.Prox(ctx, m.F, tau, m.z)
	}
	m.k++
	return accept(ctx, w, m.next, m.scratch, m.next.Value(ctx, m.F)+m.next.Value(ctx, m.G))
}
