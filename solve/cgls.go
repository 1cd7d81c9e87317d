package solve

import (
	"context"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// CGLS minimises ‖A·x - b‖² + damp²·‖x‖² by conjugate gradients on the normal
// equations, without forming them: two messages per step,
//
//	q = A·d,  α = ‖g‖² / (‖q‖² + damp²·‖d‖²),  x += α·d,  r -= α·q
//	g = Aᴴr - damp²·x,  β = ‖g‖² / ‖g_old‖²,  d = g + β·d
//
// A step applies A and Aᴴ once each. So does a check of residual and gradient.
type CGLS[D, R scalar.Scalar] struct {
	p      Problem[D, R]
	damp   float64
	x      dist.Array[D]
	r, q   dist.Array[R] // residual, image of the direction
	g, d   dist.Array[D] // gradient, direction
	gg, rr float64       // ‖g‖², ‖r‖²
	seen   pivots        // of AᴴA + damp²
	sums   *dist.Sums
	down   *dist.Sums // what ‖g‖² is divided by
}

// Name implements Method.
func (m *CGLS[D, R]) Name() string { return "CGLS" }

// State implements Method.
func (m *CGLS[D, R]) State() State[D, R] {
	return State[D, R]{[]dist.Array[D]{m.d}, []dist.Array[R]{m.r}, append(m.seen.numbers(), &m.gg, &m.rr)}
}

// Outlook implements Method.
func (m *CGLS[D, R]) Outlook() Outlook { return m.seen.root() }

// Room implements Method.
func (m *CGLS[D, R]) Room() (dom dist.Array[D], rng dist.Array[R]) { return m.g, m.q }

// Init implements Method.
func (m *CGLS[D, R]) Init(ctx context.Context, p Problem[D, R], damp float64, x dist.Array[D]) (Norms, error) {
	if err := p.ready(ctx, x.Space(), damp, false, []*dist.Array[D]{&m.g, &m.d}, []*dist.Array[R]{&m.r, &m.q}); err != nil {
		return Norms{}, err
	}
	m.p, m.damp, m.x, m.sums, m.down, m.seen = p, damp, x, dist.NewSums(x.Space(), 2), dist.NewSums(x.Space(), 1), newPivots()
	if damp != 0 {
		m.down = dist.NewSums(x.Space(), 2)
	}
	if err := p.A.Forward(ctx, m.q, x); err != nil {
		return Norms{}, err
	}
	dist.Copy(m.r, p.B)
	err := m.gradient(ctx, -1)
	dist.Copy(m.d, m.g)
	return m.norms(), err
}

// Step implements Method.
func (m *CGLS[D, R]) Step(ctx context.Context) (Norms, error) {
	if m.gg == 0 {
		return m.norms(), nil // x is a solution
	}
	if err := m.p.A.Forward(ctx, m.q, m.d); err != nil {
		return Norms{}, err
	}
	m.down.Reset()
	if err := dist.AddDot(m.down, m.q, m.q); err != nil {
		return Norms{}, err
	}
	if m.damp != 0 {
		if err := dist.AddDot(m.down, m.d, m.d); err != nil {
			return Norms{}, err
		}
	}
	if err := m.down.Reduce(ctx); err != nil {
		return Norms{}, err
	}
	down, old := m.down.Value(0), m.gg
	if m.damp != 0 {
		down += m.damp * m.damp * m.down.Value(1)
	}
	if err := positive("‖A·d‖² + damp²·‖d‖²", down, nullSpace); err != nil {
		return Norms{}, err
	}
	alpha := old / down
	m.seen.step(alpha)
	dist.Axpby(num[D](alpha), m.d, 1, m.x) // x += α·d
	if err := m.gradient(ctx, -alpha); err != nil {
		return Norms{}, err
	}
	m.seen.beta = m.gg / old
	dist.Axpby(1, m.g, num[D](m.seen.beta), m.d) // d = g + β·d
	return m.norms(), nil
}

// gradient sets r += a·q and g = Aᴴr - damp²·x, and measures both in one message.
func (m *CGLS[D, R]) gradient(ctx context.Context, a float64) error {
	m.sums.Reset()
	if err := dist.AddAxpyNorm(m.sums, num[R](a), m.q, m.r); err != nil {
		return err
	}
	if err := downhill(ctx, m.p, m.damp, m.g, m.r, m.x); err != nil {
		return err
	}
	if err := dist.AddDot(m.sums, m.g, m.g); err != nil {
		return err
	}
	err := m.sums.Reduce(ctx)
	m.rr, m.gg = m.sums.Value(0), m.sums.Value(1)
	return err
}

func (m *CGLS[D, R]) norms() Norms { return Norms{math.Sqrt(m.rr), math.Sqrt(m.gg)} }

// downhill sets g = Aᴴr - damp²·x.
func downhill[D, R scalar.Scalar](ctx context.Context, p Problem[D, R], damp float64, g dist.Array[D], r dist.Array[R], x dist.Array[D]) error {
	if err := p.A.Adjoint(ctx, g, r); err != nil {
		return err
	}
	if damp != 0 {
		dist.Axpby(num[D](-damp*damp), x, 1, g)
	}
	return nil
}
