package solve

import (
	"context"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// LSQR minimises ‖A·x - b‖² + damp²·‖x‖² by the bidiagonalisation of Golub and
// Kahan, after Paige and Saunders, applied to A with damp·I below it: two
// messages per step. It gives the numbers of CGLS, with less rounding for
// problems of poor condition.
type LSQR[T scalar.Scalar] struct {
	p              Problem[T]
	x              dist.Array[T]
	u, au          dist.Array[T] // left vector, room for its successor
	v, av, w       dist.Array[T] // right vector, room, direction of x
	u2             dist.Array[T] // part of u in the rows of damp·I
	alpha          float64
	rhobar, phibar float64
	sums           *dist.Sums
}

// Name implements Method.
func (m *LSQR[T]) Name() string { return "LSQR" }

// State implements Method.
func (m *LSQR[T]) State() State[T] {
	s := State[T]{[]dist.Array[T]{m.u, m.v, m.w}, []*float64{&m.alpha, &m.rhobar, &m.phibar}}
	if m.p.Damp != 0 {
		s.Vectors = append(s.Vectors, m.u2)
	}
	return s
}

// Init implements Method.
func (m *LSQR[T]) Init(ctx context.Context, p Problem[T], x dist.Array[T]) (Norms, error) {
	if err := p.check(x, false); err != nil {
		return Norms{}, err
	}
	m.p, m.x, m.sums = p, x, dist.NewSums(x.Space(), 2)
	if err := vectors(p.A.Range(), &m.u, &m.au); err != nil {
		return Norms{}, err
	}
	if err := vectors(x.Space(), &m.v, &m.av, &m.w); err != nil {
		return Norms{}, err
	}
	if p.Damp != 0 {
		if err := vectors(x.Space(), &m.u2); err != nil {
			return Norms{}, err
		}
		dist.Scale(m.u2, num[T](-p.Damp), x)
	}
	if err := p.A.Forward(ctx, m.au, x); err != nil {
		return Norms{}, err
	}
	dist.Sub(m.u, p.B, m.au)
	beta, err := m.left(ctx)
	if err != nil {
		return Norms{}, err
	}
	m.phibar = beta
	xx, err := m.right(ctx, 0)
	if err != nil {
		return Norms{}, err
	}
	dist.Copy(m.w, m.v)
	m.rhobar = m.alpha
	return m.norms(xx, 1), nil
}

// Step implements Method.
func (m *LSQR[T]) Step(ctx context.Context) (Norms, error) {
	if err := m.p.A.Forward(ctx, m.au, m.v); err != nil {
		return Norms{}, err
	}
	dist.Axpby(1, m.au, num[T](-m.alpha), m.u) // u = A·v - α·u
	if m.p.Damp != 0 {
		dist.Axpby(num[T](m.p.Damp), m.v, num[T](-m.alpha), m.u2)
	}
	beta, err := m.left(ctx)
	if err != nil {
		return Norms{}, err
	}
	rho, c, s := math.Hypot(m.rhobar, beta), 1.0, 0.0
	if rho > 0 { // otherwise x is the solution and w is zero
		c, s = m.rhobar/rho, beta/rho
		dist.Axpby(num[T](c*m.phibar/rho), m.w, 1, m.x)
	}
	m.phibar *= s
	xx, err := m.right(ctx, beta)
	if err != nil {
		return Norms{}, err
	}
	m.rhobar = -c * m.alpha
	if rho > 0 {
		dist.Axpby(1, m.v, num[T](-s*m.alpha/rho), m.w) // w = v - θ/ρ·w
	}
	return m.norms(xx, c), nil
}

// left scales u to length 1 and returns what it was.
func (m *LSQR[T]) left(ctx context.Context) (float64, error) {
	m.sums.Reset()
	if err := dist.AddDot(m.sums, m.u, m.u); err != nil {
		return 0, err
	}
	if m.p.Damp == 0 {
		err := m.sums.Reduce(ctx)
		beta := math.Sqrt(m.sums.Value(0))
		if beta > 0 {
			dist.Scale(m.u, num[T](1/beta), m.u)
		}
		return beta, err
	}
	if err := dist.AddDot(m.sums, m.u2, m.u2); err != nil {
		return 0, err
	}
	err := m.sums.Reduce(ctx)
	beta := math.Sqrt(m.sums.Value(0) + m.sums.Value(1))
	if beta > 0 {
		dist.Scale(m.u, num[T](1/beta), m.u)
		dist.Scale(m.u2, num[T](1/beta), m.u2)
	}
	return beta, err
}

// right sets v = Aᴴu - β·v, scaled to length 1, α to what it was, and returns ‖x‖².
func (m *LSQR[T]) right(ctx context.Context, beta float64) (float64, error) {
	if err := m.p.A.Adjoint(ctx, m.av, m.u); err != nil {
		return 0, err
	}
	if m.p.Damp != 0 {
		dist.Axpby(num[T](m.p.Damp), m.u2, 1, m.av)
	}
	m.sums.Reset()
	dist.Scale(m.v, num[T](-beta), m.v)
	if err := dist.AddAxpyNorm(m.sums, 1, m.av, m.v); err != nil {
		return 0, err
	}
	if err := dist.AddDot(m.sums, m.x, m.x); err != nil {
		return 0, err
	}
	if err := m.sums.Reduce(ctx); err != nil {
		return 0, err
	}
	if m.alpha = math.Sqrt(m.sums.Value(0)); m.alpha > 0 {
		dist.Scale(m.v, num[T](1/m.alpha), m.v)
	}
	return m.sums.Value(1), nil
}

// norms returns ‖b - A·x‖ from ‖b - A·x‖² + damp²·‖x‖² = φ̄², and the gradient.
func (m *LSQR[T]) norms(xx, c float64) Norms {
	r := m.phibar*m.phibar - m.p.Damp*m.p.Damp*xx
	return Norms{math.Sqrt(max(r, 0)), m.phibar * m.alpha * math.Abs(c)}
}
