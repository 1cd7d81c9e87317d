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
//
// with γ = ‖r‖² and δ = rᴴAr. Where rounding has eaten δ - β·γ/α_old, it starts
// anew from d = r.
type CG1[T scalar.Scalar] struct {
	p           Problem[T]
	x           dist.Array[T]
	r, d, s, ar dist.Array[T] // residual, direction, the images of the direction and of the residual
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
	if err := p.ready(ctx, x.Space(), true, []*dist.Array[T]{&m.r, &m.d, &m.s, &m.ar}, nil); err != nil {
		return Norms{}, err
	}
	m.p, m.x, m.sums, m.alpha = p, x, dist.NewSums(x.Space(), 2), 0
	if err := p.A.Forward(ctx, m.ar, x); err != nil {
		return Norms{}, err
	}
	dist.Copy(m.r, p.B)
	return m.image(ctx, -1, m.ar)
}

// image sets r += a·v and Ar, and measures both.
func (m *CG1[T]) image(ctx context.Context, a float64, v dist.Array[T]) (Norms, error) {
	m.sums.Reset()
	if err := dist.AddAxpyNorm(m.sums, num[T](a), v, m.r); err != nil {
		return Norms{}, err
	}
	if err := m.p.A.Forward(ctx, m.ar, m.r); err != nil {
		return Norms{}, err
	}
	if err := dist.AddDot(m.sums, m.r, m.ar); err != nil {
		return Norms{}, err
	}
	err := m.sums.Reduce(ctx)
	m.gamma, m.delta = m.sums.Value(0), m.sums.Value(1)
	return m.norms(), err
}

// Step implements Method.
func (m *CG1[T]) Step(ctx context.Context) (Norms, error) {
	if m.gamma == 0 {
		return m.norms(), nil // x is the solution
	}
	if err := positive("rᴴAr", m.delta, notDefinite); err != nil {
		return Norms{}, err
	}
	beta, down := fused(m.gamma, m.old, m.alpha, m.delta)
	m.alpha, m.old = m.gamma/down, m.gamma
	dist.Axpby(1, m.r, num[T](beta), m.d)    // d = r + β·d
	dist.Axpby(1, m.ar, num[T](beta), m.s)   // s = Ad
	dist.Axpby(num[T](m.alpha), m.d, 1, m.x) // x += α·d
	return m.image(ctx, -m.alpha, m.s)       // r -= α·s
}

func (m *CG1[T]) norms() Norms { return Norms{math.Sqrt(m.gamma), math.NaN()} }

// fused returns β and what γ is divided by for α. In the first step, and where
// rounding leaves nothing to divide by, the direction is the residual: β = 0.
func fused(gamma, old, alpha, delta float64) (beta, down float64) {
	if alpha == 0 {
		return 0, delta
	}
	beta = gamma / old
	if down = delta - beta*gamma/alpha; down > 0 {
		return beta, down
	}
	return 0, delta
}
