package solve

import (
	"context"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// CGLS1 is CGLS with one message per step, after Chronopoulos and Gear: ‖r‖²,
// ‖g‖² and ‖A·g‖² travel together, and the image of the direction follows by
// recurrence. It costs three more vectors and a little more rounding; it wins
// where messages cost more than vectors.
//
//	β = γ/γ_old,  α = γ/(δ - β·γ/α_old),  d = g + β·d,  q = A·g + β·q
//
// with γ = ‖g‖² and δ = ‖A·g‖² + damp²·γ. Where rounding has eaten much of
// δ - β·γ/α_old, the method goes on as CGLS, with two messages per step, until it
// starts anew. A step applies A and Aᴴ once each. So does a check of residual and
// gradient.
type CGLS1[D, R scalar.Scalar] struct {
	p          Problem[D, R]
	damp       float64
	x          dist.Array[D]
	r, q, w    dist.Array[R] // residual, images of the direction and of the gradient
	g, d       dist.Array[D] // gradient, direction
	dom        dist.Array[D] // room for a check
	rng        dist.Array[R]
	gamma, old float64 // ‖g‖² now and one step ago
	delta, rr  float64
	alpha      float64 // 0 before the first step
	seen       pivots  // of AᴴA + damp²
	few        float64 // the part of δ that is too little of it
	lost       float64 // 1 when the method goes on as CGLS
	full       CGLS[D, R]
	sums       *dist.Sums
}

// Name implements Method.
func (m *CGLS1[D, R]) Name() string { return "CGLS1" }

// State implements Method.
func (m *CGLS1[D, R]) State() State[D, R] {
	also := append(m.full.seen.numbers(), &m.full.gg, &m.full.rr, &m.lost)
	return State[D, R]{[]dist.Array[D]{m.g, m.d}, []dist.Array[R]{m.r, m.q, m.w}, append(append(also, m.seen.numbers()...), &m.gamma, &m.old, &m.delta, &m.rr, &m.alpha)}
}

// Outlook implements Method.
func (m *CGLS1[D, R]) Outlook() Outlook {
	if m.lost != 0 {
		return m.full.Outlook()
	}
	return m.seen.root()
}

// Room implements Method.
func (m *CGLS1[D, R]) Room() (dom dist.Array[D], rng dist.Array[R]) { return m.dom, m.rng }

// Init implements Method.
func (m *CGLS1[D, R]) Init(ctx context.Context, p Problem[D, R], damp float64, x dist.Array[D]) (Norms, error) {
	if err := p.ready(ctx, x.Space(), damp, false, []*dist.Array[D]{&m.g, &m.d, &m.dom}, []*dist.Array[R]{&m.r, &m.q, &m.w, &m.rng}); err != nil {
		return Norms{}, err
	}
	m.p, m.damp, m.x, m.sums, m.alpha, m.seen, m.lost = p, damp, x, dist.NewSums(x.Space(), 3), 0, newPivots(), 0
	m.few = math.Cbrt(epsilon[D, R]())
	m.full.sums, m.full.down, m.full.seen = dist.NewSums(x.Space(), 2), dist.NewSums(x.Space(), 2), newPivots()
	if err := p.A.Forward(ctx, m.w, x); err != nil {
		return Norms{}, err
	}
	dist.Copy(m.r, p.B)
	return m.image(ctx, -1, m.w)
}

// image sets r += a·v, the gradient and its image, and measures them.
func (m *CGLS1[D, R]) image(ctx context.Context, a float64, v dist.Array[R]) (Norms, error) {
	m.sums.Reset()
	if err := dist.AddAxpyNorm(m.sums, num[R](a), v, m.r); err != nil {
		return Norms{}, err
	}
	if err := downhill(ctx, m.p, m.damp, m.g, m.r, m.x); err != nil {
		return Norms{}, err
	}
	if err := m.p.A.Forward(ctx, m.w, m.g); err != nil {
		return Norms{}, err
	}
	if err := dist.AddDot(m.sums, m.g, m.g); err != nil {
		return Norms{}, err
	}
	if err := dist.AddDot(m.sums, m.w, m.w); err != nil {
		return Norms{}, err
	}
	err := m.sums.Reduce(ctx)
	m.rr, m.gamma, m.delta = m.sums.Value(0), m.sums.Value(1), m.sums.Value(2)
	m.delta += m.damp * m.damp * m.gamma
	return m.norms(), err
}

// Step implements Method.
func (m *CGLS1[D, R]) Step(ctx context.Context) (Norms, error) {
	if m.lost != 0 {
		return m.inFull().Step(ctx)
	}
	if m.gamma == 0 {
		return m.norms(), nil // x is a solution
	}
	if err := positive("‖A·g‖² + damp²·‖g‖²", m.delta, nullSpace); err != nil {
		return Norms{}, err
	}
	beta, down, lost := fused(m.gamma, m.old, m.alpha, m.delta, m.few)
	if lost {
		f := m.inFull()
		m.lost, f.gg, f.rr, f.seen = 1, m.gamma, m.rr, newPivots()
		dist.Copy(f.d, f.g)
		return f.Step(ctx)
	}
	m.alpha, m.old, m.seen.beta = m.gamma/down, m.gamma, beta
	m.seen.step(m.alpha)
	dist.Axpby(1, m.g, num[D](beta), m.d)    // d = g + β·d
	dist.Axpby(1, m.w, num[R](beta), m.q)    // q = A·d
	dist.Axpby(num[D](m.alpha), m.d, 1, m.x) // x += α·d
	return m.image(ctx, -m.alpha, m.q)       // r -= α·q
}

// inFull makes the next steps those of CGLS, on the same vectors.
func (m *CGLS1[D, R]) inFull() *CGLS[D, R] {
	f := &m.full
	f.p, f.damp, f.x, f.r, f.q, f.g, f.d = m.p, m.damp, m.x, m.r, m.q, m.g, m.d
	return f
}

func (m *CGLS1[D, R]) norms() Norms { return Norms{math.Sqrt(m.rr), math.Sqrt(m.gamma)} }
