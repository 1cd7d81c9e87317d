package solve

import (
	"context"
	"math"

	"github.com/golops/golops/scalar"
)

// CGLS minimises ‖A·x - b‖² + damp²·‖x‖² by conjugate gradients on the normal
// equations, without forming them.
//
//	q = A·d,  α = ‖g‖² / (‖q‖² + damp²·‖d‖²),  x += α·d,  r -= α·q
//	g = Aᴴr - damp²·x,  β = ‖g‖² / ‖g_old‖²,  d = g + β·d
//
// M. R. Hestenes and E. Stiefel, Methods of Conjugate Gradients for Solving Linear
// Systems, 1952, section 10; Å. Björck, Numerical Methods for Least Squares
// Problems, 1996, algorithm 7.4.1.
//
// OneMessage wins where messages cost more than vectors, and rounds a little more.
// It is the recurrence of Chronopoulos and Gear for CG, applied to AᴴA:
//
//	β = γ/γ_old,  α = γ/(δ - β·γ/α_old),  d = g + β·d,  q = A·g + β·q
//
// with γ = ‖g‖² and δ = ‖A·g‖² + damp²·γ. Where rounding has eaten much of
// δ - β·γ/α_old, the method goes on with two messages per step until a restart.
type CGLS[D, R scalar.Scalar] struct {
	OneMessage bool

	g, d         *Vector[D] // gradient, direction
	r, q         *Vector[R] // residual, image of the direction
	gg, rr, beta float64    // ‖g‖², ‖r‖²; β of the direction

	// OneMessage only.
	ag    *Vector[R] // image of the gradient
	old   float64    // ‖g‖² one step ago
	alpha float64    // of the last step; 0 before the first
	delta float64    // ‖A·g‖² + damp²·‖g‖²
	few   float64    // the part of δ that is too little to divide by
	lost  float64    // 1 when the method goes on with two messages
}

// Name implements Method.
func (m *CGLS[D, R]) Name() string {
	if m.OneMessage {
		return "CGLS with one message"
	}
	return "CGLS"
}

// Init implements Method.
func (m *CGLS[D, R]) Init(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	m.d, m.r = w.Domain("direction"), w.Range("residual")
	w.name(NamedNumber{"‖g‖²", &m.gg}, NamedNumber{"‖r‖²", &m.rr}, NamedNumber{"β", &m.beta})
	if m.OneMessage {
		return m.initOneMessage(ctx, w)
	}
	m.g, m.q = w.DomainScratch("gradient"), w.RangeScratch("A·direction")
	w.Forward(ctx, m.q, w.X)
	m.r.Copy(w.B)
	m.gradient(ctx, w, -1)
	m.d.Copy(m.g)
	return m.norms(), w.Err()
}

// Step implements Method.
func (m *CGLS[D, R]) Step(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	switch {
	case m.gg == 0:
		return m.norms(), nil // x is a solution
	case m.OneMessage && m.lost == 0:
		return m.oneMessage(ctx, w)
	}
	w.Forward(ctx, m.q, m.d) // q = A·d
	old, alpha := m.gg, m.gg/w.Positive("‖A·d‖² + damp²·‖d‖²", w.DampedNorm2(ctx, m.q, m.d), nullSpace)
	w.Pivot(alpha, m.beta)
	w.X.Add(alpha, m.d)        // x += α·d
	m.gradient(ctx, w, -alpha) // r -= α·q, g = Aᴴr - damp²·x
	m.beta = m.gg / old
	m.d.Combine(m.beta, 1, m.g) // d = g + β·d
	return m.norms(), w.Err()
}

// gradient sets r += a·q and g = Aᴴr - damp²·x, and measures both in one message.
func (m *CGLS[D, R]) gradient(ctx context.Context, w *Workspace[D, R], a float64) {
	m.r.QueueAddNorm2(a, m.q, &m.rr)
	w.Gradient(ctx, m.g, m.r)
	m.g.QueueNorm2(&m.gg)
	w.Reduce(ctx)
}

func (m *CGLS[D, R]) norms() Norms { return Norms{Resid: math.Sqrt(m.rr), Grad: math.Sqrt(m.gg)} }

// nullSpace is what it means if the image of a gradient is not positive.
const nullSpace = "the operator and its adjoint do not belong together: Aᴴ gives what A takes to zero"

func (m *CGLS[D, R]) initOneMessage(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	m.g, m.q, m.ag = w.Domain("gradient"), w.Range("A·direction"), w.Range("A·gradient")
	w.name(NamedNumber{"‖g_old‖²", &m.old}, NamedNumber{"α", &m.alpha}, NamedNumber{"‖A·g‖² + damp²·‖g‖²", &m.delta}, NamedNumber{"two messages", &m.lost})
	m.few = math.Cbrt(epsilon[D, R]())
	w.Forward(ctx, m.ag, w.X)
	m.r.Copy(w.B)
	m.images(ctx, w, -1, m.ag, 0) // r = b - A·x
	return m.norms(), w.Err()
}

// oneMessage is a step in which ‖r‖², ‖g‖² and ‖A·g‖² travel together, and the
// image of the direction follows by recurrence.
func (m *CGLS[D, R]) oneMessage(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	w.Positive("‖A·g‖² + damp²·‖g‖²", m.delta, nullSpace)
	beta, denom, lost := chronopoulosGear(m.gg, m.old, m.alpha, m.delta, m.few)
	if lost {
		w.ForgetPivots()
		m.lost, m.beta = 1, 0
		m.d.Copy(m.g)
		return m.Step(ctx, w)
	}
	m.alpha, m.old = m.gg/denom, m.gg
	w.Pivot(m.alpha, beta)
	m.d.Combine(beta, 1, m.g)                // d = g + β·d
	m.q.Combine(beta, 1, m.ag)               // q = A·d
	m.images(ctx, w, -m.alpha, m.q, m.alpha) // r -= α·q
	w.X.Add(m.alpha, m.d)                    // x += α·d
	return m.norms(), w.Err()
}

// images sets r += a·v, the gradient at x + alpha·d and its image, and measures them
// in one message.
func (m *CGLS[D, R]) images(ctx context.Context, w *Workspace[D, R], a float64, v *Vector[R], alpha float64) {
	m.r.QueueAddNorm2(a, v, &m.rr)
	w.Gradient(ctx, m.g, m.r)
	if w.Damp != 0 && alpha != 0 {
		m.g.Add(-w.Damp*w.Damp*alpha, m.d)
	}
	w.Forward(ctx, m.ag, m.g)
	m.g.QueueNorm2(&m.gg)
	m.ag.QueueNorm2(&m.delta)
	w.Reduce(ctx)
	m.delta += w.Damp * w.Damp * m.gg
}
