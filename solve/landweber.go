package solve

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/scalar"
)

// Landweber minimises ‖A·x - b‖² + damp²·‖x‖² by steps of a fixed length along the
// gradient:
//
//	x += τ·g,  r -= τ·A·g,  g = Aᴴr - damp²·x
//
// It converges if 0 < τ < 2/(‖A‖² + damp²), far more slowly than CGLS. Few steps
// leave what A hardly sees out of x, which is its use.
//
// L. Landweber, An Iteration Formula for Fredholm Integral Equations of the First
// Kind, 1951.
type Landweber[D, R scalar.Scalar] struct {
	Length float64 // τ

	g, old     *Vector[D] // gradients: this one and the one before
	r, q       *Vector[R] // residual, A·g
	gg, rr, qq float64
	norm       float64 // ‖A‖, from below
}

// Name implements Method.
func (m *Landweber[D, R]) Name() string { return "Landweber" }

// Init implements Method.
func (m *Landweber[D, R]) Init(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	if !(m.Length > 0) || math.IsInf(m.Length, 1) {
		w.Fail(fmt.Errorf("the Length of a step of Landweber is %g, must be positive and finite: less than 2/‖A‖²", m.Length))
	}
	m.g, m.old = w.Domain("gradient"), w.DomainScratch("gradient_old")
	m.r, m.q = w.Range("residual"), w.RangeScratch("A·gradient")
	w.name(NamedNumber{"‖g‖²", &m.gg}, NamedNumber{"‖r‖²", &m.rr}, NamedNumber{"‖A‖", &m.norm})
	w.Forward(ctx, m.q, w.X)
	m.r.Copy(w.B)
	m.r.QueueAddNorm2(-1, m.q, &m.rr)
	w.Gradient(ctx, m.g, m.r)
	m.g.QueueNorm2(&m.gg)
	w.Reduce(ctx)
	return m.norms(w), w.Err()
}

// Step implements Method.
func (m *Landweber[D, R]) Step(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	if m.gg == 0 {
		return m.norms(w), nil // x is a solution
	}
	before := m.gg
	m.g.Swap(m.old)
	w.Forward(ctx, m.q, m.old)
	m.q.QueueNorm2(&m.qq)
	m.r.QueueAddNorm2(-m.Length, m.q, &m.rr) // r -= τ·A·g
	w.Gradient(ctx, m.g, m.r)
	if w.Damp != 0 { // x is that before the step
		m.g.Add(-w.Damp*w.Damp*m.Length, m.old)
	}
	m.g.QueueNorm2(&m.gg)
	w.Reduce(ctx)
	w.X.Add(m.Length, m.old) // x += τ·g
	m.norm = max(m.norm, math.Sqrt(m.qq/before))
	return m.norms(w), w.Err()
}

func (m *Landweber[D, R]) norms(w *Workspace[D, R]) Norms {
	w.Seen(math.Hypot(m.norm, w.Damp), 1)
	return Norms{Resid: math.Sqrt(m.rr), Grad: math.Sqrt(m.gg)}
}
