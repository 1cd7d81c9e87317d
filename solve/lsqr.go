package solve

import (
	"context"
	"math"

	"github.com/golops/golops/scalar"
)

// LSQR minimises ‖A·x - b‖² + damp²·‖x‖² by the bidiagonalisation of Golub and
// Kahan of Ā, which is A with damp·I below it:
//
//	β·u = Ā·v - α·u,  α·v = Āᴴu - β·v,  ‖u‖ = ‖v‖ = 1
//
// and a plane rotation (c, s) that takes β out of the bidiagonal matrix. It gives
// the numbers of CGLS, with less rounding for problems of poor condition.
//
// C. C. Paige and M. A. Saunders, LSQR: An Algorithm for Sparse Linear Equations
// and Sparse Least Squares, 1982.
type LSQR[D, R scalar.Scalar] struct {
	v, av, w       *Vector[D] // right vector, its successor, direction of x
	u, au          *Vector[R] // left vector, its successor
	u2             *Vector[D] // with damping: the part of u in the rows of damp·I
	r              *Vector[R] // with damping: b - A·x, whose norm is φ̄ otherwise
	alpha, beta    float64
	rhobar, phibar float64
	ww, inverse    float64 // ‖w‖², and the squared Frobenius norm of the inverse of R
	norm           float64 // ‖Ā‖, from below
	resid, grad    float64
	rr, vv         float64 // sums
}

// Name implements Method.
func (m *LSQR[D, R]) Name() string { return "LSQR" }

// Init implements Method.
func (m *LSQR[D, R]) Init(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	m.v, m.av, m.w = w.Domain("v"), w.DomainScratch("A·u"), w.Domain("direction")
	m.u, m.au = w.Range("u"), w.RangeScratch("A·v")
	w.name([]NamedNumber{{"α", &m.alpha}, {"ρ̄", &m.rhobar}, {"φ̄", &m.phibar}, {"‖w‖²", &m.ww}, {"‖R⁻¹‖²", &m.inverse},
		{"‖Ā‖", &m.norm}, {"‖r‖", &m.resid}, {"‖g‖", &m.grad}}...)
	if w.Damp != 0 {
		m.u2, m.r = w.Domain("u of damping"), w.Range("residual")
		m.u2.SetScaled(-w.Damp, w.X)
	}
	w.Forward(ctx, m.au, w.X)
	m.u.Copy(w.B)
	m.u.Add(-1, m.au)
	m.scaleLeft(ctx, w) // β·u = [b - A·x; -damp·x]
	m.phibar, m.ww = m.beta, 1
	m.right(ctx, w, 0, -1, 0) // α·v = Āᴴu
	m.rhobar, m.norm = m.alpha, m.alpha
	m.w.Copy(m.v)
	return m.norms(w), w.Err()
}

// Step implements Method.
func (m *LSQR[D, R]) Step(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	if m.alpha == 0 || m.phibar == 0 {
		return m.norms(w), nil // x is a solution
	}
	m.left(ctx, w)
	m.norm = max(m.norm, math.Hypot(m.alpha, m.beta)) // ‖Ā·v‖
	rho := w.Finite("the norm of A·v", math.Hypot(m.rhobar, m.beta))
	m.inverse += m.ww / rho / rho
	c, s := m.rhobar/rho, m.beta/rho
	w.X.Add(c*m.phibar/rho, m.w)
	m.phibar *= s
	m.right(ctx, w, s, c, m.beta)
	m.rhobar = -c * m.alpha
	theta := s * m.alpha / rho
	m.w.Combine(-theta, 1, m.v) // w = v - θ·w
	m.ww = 1 + theta*theta*m.ww // v is orthogonal to w
	return m.norms(w), w.Err()
}

// left sets β·u = Ā·v - α·u.
func (m *LSQR[D, R]) left(ctx context.Context, w *Workspace[D, R]) {
	w.Forward(ctx, m.au, m.v)
	m.u.Combine(-m.alpha, 1, m.au)
	if w.Damp != 0 {
		m.u2.Combine(-m.alpha, w.Damp, m.v)
	}
	m.scaleLeft(ctx, w)
}

// scaleLeft scales u to length 1 and sets β to what it was.
func (m *LSQR[D, R]) scaleLeft(ctx context.Context, w *Workspace[D, R]) {
	m.vv = 0
	m.u.QueueNorm2(&m.rr)
	if w.Damp != 0 {
		m.u2.QueueNorm2(&m.vv)
	}
	w.Reduce(ctx)
	if m.beta = math.Sqrt(m.rr + m.vv); m.beta > 0 {
		m.u.Scale(1 / m.beta)
		if w.Damp != 0 {
			m.u2.Scale(1 / m.beta)
		}
	}
}

// right sets α·v = Āᴴu - β·v, ‖r‖ with r = s²·r - c·φ̄·u, and ‖g‖ = φ̄·α·|c|, in
// one message.
func (m *LSQR[D, R]) right(ctx context.Context, w *Workspace[D, R], s, c, beta float64) {
	if w.Damp != 0 {
		m.r.Scale(s * s)
		m.r.QueueAddNorm2(-c*m.phibar, m.u, &m.rr)
	}
	w.Adjoint(ctx, m.av, m.u)
	if w.Damp != 0 {
		m.av.Add(w.Damp, m.u2)
	}
	m.av.QueueAddNorm2(-beta, m.v, &m.vv)
	w.Reduce(ctx)
	m.v.Swap(m.av)
	if m.alpha = math.Sqrt(m.vv); m.alpha > 0 {
		m.v.Scale(1 / m.alpha)
	}
	m.resid, m.grad = m.phibar, m.phibar*m.alpha*math.Abs(c)
	if w.Damp != 0 {
		m.resid = math.Sqrt(m.rr)
	}
}

// norms also tells what is seen of the operator.
func (m *LSQR[D, R]) norms(w *Workspace[D, R]) Norms {
	w.Seen(m.norm, m.norm*math.Sqrt(m.inverse))
	return Norms{Resid: m.resid, Grad: m.grad}
}
