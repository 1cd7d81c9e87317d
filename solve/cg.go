package solve

import (
	"context"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// CG is the method of conjugate gradients for A·x = b with a Hermitian positive
// definite A: two messages per step,
//
//	α = ‖r‖² / dᴴAd,  x += α·d,  r -= α·Ad,  β = ‖r‖² / ‖r_old‖²,  d = r + β·d
//
// A step applies A once. A check of the residual applies it once more.
type CG[T scalar.Scalar] struct {
	p        Problem[T, T]
	x        dist.Array[T]
	r, d, ad dist.Array[T] // residual, direction and its image
	rr       float64       // ‖r‖²
	seen     pivots
	sums     *dist.Sums
}

// Name implements Method.
func (m *CG[T]) Name() string { return "CG" }

// State implements Method.
func (m *CG[T]) State() State[T, T] {
	return State[T, T]{[]dist.Array[T]{m.r, m.d}, nil, append(m.seen.numbers(), &m.rr)}
}

// Outlook implements Method.
func (m *CG[T]) Outlook() Outlook { return m.seen.outlook() }

// Room implements Method.
func (m *CG[T]) Room() (dom, rng dist.Array[T]) { return m.ad, m.ad }

func (m *CG[T]) hermitian() {}

// Init implements Method.
func (m *CG[T]) Init(ctx context.Context, p Problem[T, T], damp float64, x dist.Array[T]) (Norms, error) {
	if err := p.ready(ctx, x.Space(), damp, true, []*dist.Array[T]{&m.r, &m.d, &m.ad}, nil); err != nil {
		return Norms{}, err
	}
	m.p, m.x, m.sums, m.seen = p, x, dist.NewSums(x.Space(), 1), newPivots()
	if err := p.A.Forward(ctx, m.ad, x); err != nil {
		return Norms{}, err
	}
	dist.Copy(m.r, p.B)
	err := m.residual(ctx, -1) // r = b - A·x
	dist.Copy(m.d, m.r)
	return m.norms(), err
}

// Step implements Method.
func (m *CG[T]) Step(ctx context.Context) (Norms, error) {
	if m.rr == 0 {
		return m.norms(), nil // x is the solution
	}
	if err := m.p.A.Forward(ctx, m.ad, m.d); err != nil {
		return Norms{}, err
	}
	m.sums.Reset()
	if err := dist.AddDot(m.sums, m.d, m.ad); err != nil {
		return Norms{}, err
	}
	if err := m.sums.Reduce(ctx); err != nil {
		return Norms{}, err
	}
	old := m.rr
	if err := definite(ctx, &m.seen, "dᴴAd", m.sums.Value(0), &m.d); err != nil {
		return Norms{}, err
	}
	alpha := old / m.sums.Value(0)
	m.seen.step(alpha)
	dist.Axpby(num[T](alpha), m.d, 1, m.x)          // x += α·d
	if err := m.residual(ctx, -alpha); err != nil { // r -= α·Ad
		return Norms{}, err
	}
	m.seen.beta = m.rr / old
	dist.Axpby(1, m.r, num[T](m.seen.beta), m.d) // d = r + β·d
	return m.norms(), nil
}

// residual sets r += a·Ad and measures it.
func (m *CG[T]) residual(ctx context.Context, a float64) error {
	m.sums.Reset()
	if err := dist.AddAxpyNorm(m.sums, num[T](a), m.ad, m.r); err != nil {
		return err
	}
	err := m.sums.Reduce(ctx)
	m.rr = m.sums.Value(0)
	return err
}

func (m *CG[T]) norms() Norms { return Norms{math.Sqrt(m.rr), math.NaN()} }
