package solve

import (
	"context"
	"math"
)

func (m *CGLS[D, R]) initOneMessage(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	m.g, m.q, m.ag = w.Domain("gradient"), w.Range("A·direction"), w.Range("A·gradient")
	w.Number("‖g_old‖²", &m.old)
	w.Number("α", &m.alpha)
	w.Number("‖A·g‖² + damp²·‖g‖²", &m.delta)
	w.Number("two messages", &m.lost)
	m.few = math.Cbrt(epsilon[D, R]())
	w.Forward(ctx, m.ag, w.X)
	m.r.Copy(w.B)
	m.images(ctx, w, -1, m.ag, 0) // r = b - A·x
	return m.norms(), w.Err()
}

// oneMessage is a step in which ‖r‖², ‖g‖² and ‖A·g‖² travel together, and the
// image of the direction follows by recurrence:
//
//	β = γ/γ_old,  α = γ/(δ - β·γ/α_old),  d = g + β·d,  q = A·g + β·q
//
// with γ = ‖g‖² and δ = ‖A·g‖² + damp²·γ. Where rounding has eaten much of
// δ - β·γ/α_old, the method goes on with two messages per step until a restart. It
// is the recurrence of Chronopoulos and Gear for CG, applied to AᴴA.
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
