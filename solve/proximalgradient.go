package solve

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/scalar"
)

// ProximalGradient minimises f(x) + ε·g(x) with a smooth f, by a step along its
// gradient and the prox of g:
//
//	x = prox_{τεg}(y - τ·∇f(y)),  y = x + ω·(x - x_old)
//
// It converges if τ ≤ 1/L, where L bounds the change of ∇f, ‖A‖² for ½‖A·x - b‖².
// Momentum sets ω, which is 0 without. With Relax, x = y + η·(prox - y) and there is
// no momentum. Backtrack makes τ shorter until
//
//	f(x) ≤ f(y) + Re ∇f(y)ᴴ(x - y) + ‖x - y‖²/(2τ).
//
// It keeps 4 vectors. A step makes 5 passes and sends one message beside those of the
// functions. With Backtrack it makes 4, and each attempt makes 4 and sends one message.
//
// P. L. Combettes and V. R. Wajs, Signal Recovery by Proximal Forward-Backward
// Splitting, 2005.
type ProximalGradient[T scalar.Scalar] struct {
	F        Smooth[T]
	G        Function[T]
	Weight   float64 // ε
	Tau      float64 // τ, the first one with Backtrack
	Momentum Momentum
	Relax    float64 // η from 0 to 2; 0 means that there is none, as 1 does
	// Backtrack multiplies τ by Shorten where the step is too long, MaxBack times at
	// most; τ stays so.
	Backtrack bool
	Shorten   float64 // from 0 to 1; ½ is usual
	MaxBack   int

	y, g, next, diff *Vector[T] // extrapolation, gradient, next x, x - x_old
	k, t, tau        float64
	slope, dd        float64 // Re ∇f(y)ᴴ(x - y), ‖x - y‖²
}

// Name implements Method.
func (m *ProximalGradient[T]) Name() string { return "ProximalGradient" }

// Minimises implements Minimiser.
func (m *ProximalGradient[T]) Minimises() string { return fmt.Sprintf("f(x) + %g·g(x)", m.Weight) }

// Init implements Method.
func (m *ProximalGradient[T]) Init(ctx context.Context, w *Workspace[T, T]) (Norms, error) {
	w.Function("F", m.F)
	w.Function("G", m.G)
	w.Parameter("Weight", m.Weight)
	w.positive("Tau", m.Tau)
	w.Parameter("Shorten", m.Shorten)
	m.Momentum.check(&w.shared)
	switch {
	case !(m.Relax >= 0 && m.Relax <= 2):
		w.Fail(fmt.Errorf("the Relax is %g, must be from 0 to 2", m.Relax))
	case m.Relax != 0 && m.Relax != 1 && (m.Momentum != NoMomentum || m.Backtrack):
		w.Fail(fmt.Errorf("the Relax is %g: it goes with neither Momentum nor Backtrack", m.Relax))
	case m.Backtrack && m.MaxBack < 1:
		w.Fail(fmt.Errorf("the MaxBack is %d, must be at least 1", m.MaxBack))
	case m.Backtrack:
		w.share("Shorten", m.Shorten)
	}
	m.y = w.Domain("extrapolation")
	m.g, m.next, m.diff = w.DomainScratch("gradient"), w.DomainScratch("next x"), w.DomainScratch("step")
	w.name(NamedNumber{"k", &m.k}, NamedNumber{"t", &m.t}, NamedNumber{"τ", &m.tau})
	m.t, m.tau = 1, m.Tau
	m.y.Copy(w.X)
	return startCost(w, w.X.Value(ctx, m.F)+m.Weight*w.X.Value(ctx, m.G))
}

// Step implements Method.
func (m *ProximalGradient[T]) Step(ctx context.Context, w *Workspace[T, T]) (Norms, error) {
	m.g.Gradient(ctx, m.F, m.y)
	cost := 0.0
	if m.Backtrack {
		cost = m.shorten(ctx, w)
	} else {
		m.attempt(ctx)
		if m.Relax != 0 && m.Relax != 1 {
			m.next.Set(m.Relax, m.next, 1-m.Relax, m.y)
		}
		cost = m.next.Value(ctx, m.F)
	}
	if m.Weight != 0 {
		cost += m.Weight * m.next.Value(ctx, m.G)
	}
	n, err := accept(ctx, w, m.next, m.diff, cost)
	omega := m.Momentum.omega(m.k, &m.t)
	m.k++
	if omega == 0 {
		m.y.Copy(w.X)
	} else {
		m.y.Set(1, w.X, omega, m.diff)
	}
	return n, err
}

// attempt sets next = prox(y - τ·g).
func (m *ProximalGradient[T]) attempt(ctx context.Context) {
	m.next.Set(1, m.y, -m.tau, m.g)
	if m.Weight != 0 {
		m.next.Prox(ctx, m.G, m.Weight*m.tau, m.next)
	}
}

// shorten makes attempts with a shorter and shorter τ, and returns f of the last.
func (m *ProximalGradient[T]) shorten(ctx context.Context, w *Workspace[T, T]) float64 {
	at := w.Finite("f(y)", m.y.Value(ctx, m.F))
	slack := 10 * epsilon[T, T]() * math.Abs(at) // rounding must not make steps short
	for i := 0; ; i++ {
		m.attempt(ctx)
		m.diff.Copy(m.next)
		m.diff.QueueAddNorm2(-1, m.y, &m.dd)
		m.g.QueueDot(m.diff, &m.slope)
		w.Reduce(ctx)
		f := m.next.Value(ctx, m.F)
		if f <= at+m.slope+m.dd/(2*m.tau)+slack || i >= m.MaxBack-1 || w.err != nil {
			return f
		}
		m.tau *= m.Shorten
	}
}
