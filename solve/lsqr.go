package solve

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// LSQR minimises ‖A·x - b‖² + damp²·‖x‖² by the bidiagonalisation of Golub and
// Kahan, after Paige and Saunders: two messages per step. It gives the numbers
// of CGLS, with less rounding for problems of poor condition. A step applies A
// and Aᴴ once each. So does a check of residual and gradient.
type LSQR[D, R scalar.Scalar] struct {
	bidiag[D, R]
	w              dist.Array[D] // direction of x
	r              dist.Array[R] // b - A·x, if there is damping: φ̄ is its norm otherwise
	rhobar, phibar float64
	ww, inverse    float64 // ‖w‖², and the squared norm of Frobenius of the inverse of R
	norms          Norms
}

// Name implements Method.
func (m *LSQR[D, R]) Name() string { return "LSQR" }

// State implements Method.
func (m *LSQR[D, R]) State() State[D, R] {
	s := State[D, R]{[]dist.Array[D]{m.v, m.w}, []dist.Array[R]{m.u}, []*float64{&m.alpha, &m.rhobar, &m.phibar, &m.norm, &m.ww, &m.inverse}}
	if m.damp != 0 {
		s.Domain, s.Range = append(s.Domain, m.u2), append(s.Range, m.r)
	}
	return s
}

// Outlook implements Method.
func (m *LSQR[D, R]) Outlook() Outlook { return Outlook{m.norm, m.norm * math.Sqrt(m.inverse)} }

// Room implements Method.
func (m *LSQR[D, R]) Room() (dom dist.Array[D], rng dist.Array[R]) { return m.av, m.au }

// Init implements Method.
func (m *LSQR[D, R]) Init(ctx context.Context, p Problem[D, R], damp float64, x dist.Array[D]) (Norms, error) {
	var rng []*dist.Array[R]
	if damp != 0 {
		rng = append(rng, &m.r)
	}
	if err := m.start(ctx, p, damp, x, []*dist.Array[D]{&m.w}, rng); err != nil {
		return Norms{}, err
	}
	m.phibar, m.ww, m.inverse = m.beta, 1, 0
	if err := m.residual(ctx, 0, -1, 0); err != nil {
		return Norms{}, err
	}
	m.rhobar, m.norm = m.alpha, m.alpha
	dist.Copy(m.w, m.v)
	return m.norms, nil
}

// Step implements Method.
func (m *LSQR[D, R]) Step(ctx context.Context) (Norms, error) {
	if m.alpha == 0 || m.phibar == 0 {
		return m.norms, nil // x is a solution
	}
	if err := m.left(ctx); err != nil {
		return Norms{}, err
	}
	m.norm = max(m.norm, math.Hypot(m.alpha, m.beta)) // ‖Ā·v‖
	rho := math.Hypot(m.rhobar, m.beta)
	if math.IsNaN(rho) || math.IsInf(rho, 0) {
		return Norms{}, fmt.Errorf("the norm of A·v is %g: %w", rho, ErrNotFinite)
	}
	m.inverse += m.ww / rho / rho
	c, s := m.rhobar/rho, m.beta/rho
	dist.Axpby(num[D](c*m.phibar/rho), m.w, 1, m.x)
	m.phibar *= s
	if err := m.residual(ctx, s, c, m.beta); err != nil {
		return Norms{}, err
	}
	m.rhobar = -c * m.alpha
	theta := s * m.alpha / rho
	dist.Axpby(1, m.v, num[D](-theta), m.w) // w = v - θ·w
	m.ww = 1 + theta*theta*m.ww             // v is orthogonal to w
	return m.norms, nil
}

// residual goes on with v, and sets ‖r‖ with r = s²·r - c·φ̄·u and ‖g‖ = φ̄·α·|c|.
func (m *LSQR[D, R]) residual(ctx context.Context, s, c, beta float64) error {
	m.sums.Reset()
	if m.damp != 0 {
		dist.Scale(m.r, num[R](s*s), m.r)
		if err := dist.AddAxpyNorm(m.sums, num[R](-c*m.phibar), m.u, m.r); err != nil {
			return err
		}
	}
	err := m.right(ctx, beta)
	m.norms = Norms{m.phibar, m.phibar * m.alpha * math.Abs(c)}
	if m.damp != 0 {
		m.norms.Resid = math.Sqrt(m.sums.Value(0))
	}
	return err
}
