package solve

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/scalar"
)

// GeneralizedProximalGradient minimises Σfᵢ(x) + Σεⱼ·gⱼ(x) with smooth fᵢ and the
// prox of each gⱼ by itself:
//
//	zⱼ += η·(prox(2y - zⱼ - τ·Σ∇fᵢ(x)) - y),  x = Σwⱼ·zⱼ,  y = x + ω·(x - x_old)
//
// where the prox is of εⱼ·gⱼ with step τ/wⱼ. It keeps 5 vectors and one for each g. A
// step makes 7 passes, 1 for each f and 4 for each g, and sends one message beside
// those of the functions.
//
// H. Raguet, J. Fadili and G. Peyré, A Generalized Forward-Backward Splitting, 2013.
type GeneralizedProximalGradient[T scalar.Scalar] struct {
	F        []Smooth[T]
	G        []Function[T]
	Weights  []float64 // εⱼ; nil means 1 each
	Shares   []float64 // wⱼ, positive, whose sum is 1; nil means the same for all
	Tau      float64   // τ
	Eta      float64   // η, 1 as a rule
	Momentum Momentum

	z                         []*Vector[T]
	y, g, each, next, scratch *Vector[T]
	k, t                      float64
}

// Name implements Method.
func (m *GeneralizedProximalGradient[T]) Name() string { return "GeneralizedProximalGradient" }

// Minimises implements Minimiser.
func (m *GeneralizedProximalGradient[T]) Minimises() string {
	if m.Weights != nil {
		return fmt.Sprintf("Σ %d f(x) + Σ %v·g(x)", len(m.F), m.Weights)
	}
	return fmt.Sprintf("Σ %d f(x) + Σ %d g(x)", len(m.F), len(m.G))
}

// weight and share are those of g number j.
func (m *GeneralizedProximalGradient[T]) weight(j int) float64 { return orElse(m.Weights, j, 1) }
func (m *GeneralizedProximalGradient[T]) share(j int) float64 {
	return orElse(m.Shares, j, 1/float64(len(m.G)))
}

// orElse is an element of a slice, or another number if it is nil.
func orElse(v []float64, i int, other float64) float64 {
	if v == nil {
		return other
	}
	return v[i]
}

// Init implements Method.
func (m *GeneralizedProximalGradient[T]) Init(ctx context.Context, w *Workspace[T, T]) (Norms, error) {
	m.check(w)
	m.y, m.g, m.each = w.Domain("extrapolation"), w.DomainScratch("gradient"), w.DomainScratch("one gradient")
	m.next, m.scratch = w.DomainScratch("next x"), w.DomainScratch("step")
	m.z = m.z[:0]
	for j := range m.G {
		z := w.Domain(fmt.Sprint("z ", j))
		z.Copy(w.X)
		m.z = append(m.z, z)
	}
	w.name(NamedNumber{"k", &m.k}, NamedNumber{"t", &m.t})
	m.t = 1
	m.y.Copy(w.X)
	if err := w.err; err != nil {
		return Norms{}, w.Err()
	}
	return startCost(w, m.cost(ctx, w.X))
}

// check refuses parameters that make no sense.
func (m *GeneralizedProximalGradient[T]) check(w *Workspace[T, T]) {
	for i, f := range m.F {
		w.Function(fmt.Sprintf("F[%d]", i), f)
	}
	for j, g := range m.G {
		w.Function(fmt.Sprintf("G[%d]", j), g)
	}
	w.positive("Tau", m.Tau)
	w.positive("Eta", m.Eta)
	m.Momentum.check(&w.shared)
	n := len(m.G)
	if n == 0 || m.Weights != nil && len(m.Weights) != n || m.Shares != nil && len(m.Shares) != n {
		w.Fail(fmt.Errorf("%d functions G, %d Weights and %d Shares: give at least one function, and one number for each or none", n, len(m.Weights), len(m.Shares)))
		return
	}
	sum := 0.0
	for j := range m.G {
		w.Parameter(fmt.Sprintf("Weights[%d]", j), m.weight(j))
		w.positive(fmt.Sprintf("Shares[%d]", j), m.share(j))
		sum += m.share(j)
	}
	if math.Abs(sum-1) > 1e-12 {
		w.Fail(fmt.Errorf("the sum of Shares is %g, must be 1", sum))
	}
}

// cost is that of x.
func (m *GeneralizedProximalGradient[T]) cost(ctx context.Context, x *Vector[T]) (sum float64) {
	for _, f := range m.F {
		sum += x.Value(ctx, f)
	}
	for j, g := range m.G {
		if m.weight(j) != 0 {
			sum += m.weight(j) * x.Value(ctx, g)
		}
	}
	return sum
}

// Step implements Method.
func (m *GeneralizedProximalGradient[T]) Step(ctx context.Context, w *Workspace[T, T]) (Norms, error) {
	m.g.Zero()
	for _, f := range m.F {
		m.each.Gradient(ctx, f, w.X)
		m.g.Add(1, m.each)
	}
	m.g.Combine(-m.Tau, 2, m.y) // 2y - τ·∇f
	m.next.Zero()
	for j, g := range m.G {
		z, p := m.z[j], m.scratch
		p.Set(1, m.g, -1, z)
		if m.weight(j) != 0 {
			p.Prox(ctx, g, m.Tau*m.weight(j)/m.share(j), p)
		}
		p.Add(-1, m.y)
		z.Add(m.Eta, p)
		m.next.Add(m.share(j), z)
	}
	n, err := accept(ctx, w, m.next, m.scratch, m.cost(ctx, m.next))
	m.y.Set(1, w.X, m.Momentum.omega(m.k, &m.t), m.scratch)
	m.k++
	return n, err
}
