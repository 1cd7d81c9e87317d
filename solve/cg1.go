package solve

import (
	"context"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// CG1 is CG with one message per step, after Chronopoulos and Gear: ‖r‖² and
// rᴴAr travel together, and Ad follows by recurrence. It costs two more vectors
// and a little more rounding; it wins where messages cost more than vectors.
//
//	β = γ/γ_old,  α = γ/(δ - β·γ/α_old),  d = r + β·d,  s = Ar + β·s
//
// with γ = ‖r‖² and δ = rᴴAr. Where rounding has eaten δ - β·γ/α_old, it starts
// anew from d = r. A step applies A once. A check of the residual applies it once
// more.
type CG1[T scalar.Scalar] struct {
	p           Problem[T, T]
	x           dist.Array[T]
	r, d, s, ar dist.Array[T] // residual, direction, the images of the direction and of the residual
	room        dist.Array[T]
	gamma, old  float64 // ‖r‖² now and one step ago
	alpha       float64 // 0 before the first step
	delta       float64
	seen        pivots
	sums        *dist.Sums
}

// Name implements Method.
func (m *CG1[T]) Name() string { return "CG1" }

// State implements Method.
func (m *CG1[T]) State() State[T, T] {
	return State[T, T]{[]dist.Array[T]{m.r, m.d, m.s, m.ar}, nil, append(m.seen.numbers(), &m.gamma, &m.old, &m.alpha, &m.delta)}
}

// Outlook implements Method.
func (m *CG1[T]) Outlook() Outlook { return m.seen.outlook() }

// Room implements Method.
func (m *CG1[T]) Room() (dom, rng dist.Array[T]) { return m.room, m.room }

func (m *CG1[T]) hermitian() {}

// Init implements Method.
func (m *CG1[T]) Init(ctx context.Context, p Problem[T, T], damp float64, x dist.Array[T]) (Norms, error) {
	if err := p.ready(ctx, x.Space(), damp, true, []*dist.Array[T]{&m.r, &m.d, &m.s, &m.ar, &m.room}, nil); err != nil {
		return Norms{}, err
	}
	m.p, m.x, m.sums, m.alpha, m.seen = p, x, dist.NewSums(x.Space(), 2), 0, newPivots()
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
	if err := definite(ctx, &m.seen, "rᴴAr", m.delta, &m.r); err != nil {
		return Norms{}, err
	}
	beta, down, lost := fused(m.gamma, m.old, m.alpha, m.delta, 0)
	if lost { // start anew
		beta, down = 0, m.delta
	}
	m.alpha, m.old, m.seen.beta = m.gamma/down, m.gamma, beta
	m.seen.step(m.alpha)
	dist.Axpby(1, m.r, num[T](beta), m.d)    // d = r + β·d
	dist.Axpby(1, m.ar, num[T](beta), m.s)   // s = Ad
	dist.Axpby(num[T](m.alpha), m.d, 1, m.x) // x += α·d
	return m.image(ctx, -m.alpha, m.s)       // r -= α·s
}

func (m *CG1[T]) norms() Norms { return Norms{math.Sqrt(m.gamma), math.NaN()} }

// fused returns β, and what γ is divided by for α: lost tells that of δ only a few
// digits are left in it. In the first step the direction is the residual: β = 0.
func fused(gamma, old, alpha, delta, few float64) (beta, down float64, lost bool) {
	if alpha == 0 {
		return 0, delta, false
	}
	beta = gamma / old
	down = delta - beta*gamma/alpha
	return beta, down, down <= few*delta
}
