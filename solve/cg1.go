package solve

import (
	"context"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// CG1 is CG with one message per step, after Chronopoulos and Gear: ‖r‖² and
// rᴴAr travel together, and Ad follows by recurrence. It costs one more vector
// and a little more rounding; it wins where messages cost more than vectors.
//
//	β = γ/γ_old,  α = γ/(δ - β·γ/α_old),  d = r + β·d,  s = Ar + β·s
type CG1[T scalar.Scalar] struct {
	p           Problem[T]
	x           dist.Array[T]
	r, d, s, ar dist.Array[T] // residual, direction, their images
	gamma, old  float64       // ‖r‖² now and one step ago
	alpha       float64       // 0 before the first step
	delta       float64
	sums        *dist.Sums
}

// Name implements Method.
func (m *CG1[T]) Name() string { return "CG1" }

// State implements Method.
func (m *CG1[T]) State() State[T] {
	return State[T]{[]dist.Array[T]{m.r, m.d, m.s, m.ar}, []*float64{&m.gamma, &m.old, &m.alpha, &m.delta}}
}

// Init implements Method.
func (m *CG1[T]) Init(ctx context.Context, p Problem[T], x dist.Array[T]) (Norms, error) {
	if err := p.check(x, true); err != nil {
		return Norms{}, err
	}
	m.p, m.x, m.sums, m.alpha = p, x, dist.NewSums(x.Space(), 2), 0
	if err := vectors(x.Space(), &m.r, &m.d, &m.s, &m.ar); err != nil {
		return Norms{}, err
	}
	if err := p.A.Forward(ctx, m.ar, x); err != nil {
		return Norms{}, err
	}
	dist.Sub(m.r, p.B, m.ar)
	return m.image(ctx)
}

// image sets Ar and measures both.
func (m *CG1[T]) image(ctx context.Context) (Norms, error) {
	if err := m.p.A.Forward(ctx, m.ar, m.r); err != nil {
		return Norms{}, err
	}
	m.sums.Reset()
	if err := dist.AddDot(m.sums, m.r, m.r); err != nil {
		return Norms{}, err
	}
	if err := dist.AddDot(m.sums, m.r, m.ar); err != nil {
		return Norms{}, err
	}
	err := m.sums.Reduce(ctx)
	m.gamma, m.delta = m.sums.Value(0), m.sums.Value(1)
	return Norms{math.Sqrt(m.gamma), math.NaN()}, err
}

// Step implements Method.
func (m *CG1[T]) Step(ctx context.Context) (Norms, error) {
	if m.gamma == 0 {
		return Norms{0, math.NaN()}, nil
	}
	beta, down := 0.0, m.delta
	if m.alpha != 0 {
		beta = m.gamma / m.old
		down -= beta * m.gamma / m.alpha
	}
	if down <= 0 {
		return Norms{}, notDefinite(down)
	}
	m.alpha = m.gamma / down
	dist.Axpby(1, m.r, num[T](beta), m.d)     // d = r + β·d
	dist.Axpby(1, m.ar, num[T](beta), m.s)    // s = Ar + β·s
	dist.Axpby(num[T](m.alpha), m.d, 1, m.x)  // x += α·d
	dist.Axpby(num[T](-m.alpha), m.s, 1, m.r) // r -= α·s
	m.old = m.gamma
	return m.image(ctx)
}
