package solve

import (
	"context"
	"math"

	"github.com/golops/golops/scalar"
)

// CG is the method of conjugate gradients for A·x = b with a Hermitian positive
// definite A.
//
//	α = ‖r‖² / dᴴAd,  x += α·d,  r -= α·Ad,  β = ‖r‖² / ‖r_old‖²,  d = r + β·d
//
// M. R. Hestenes and E. Stiefel, Methods of Conjugate Gradients for Solving Linear
// Systems, 1952.
//
// OneMessage wins where messages cost more than vectors, and rounds a little more:
//
//	β = γ/γ_old,  α = γ/(δ - β·γ/α_old),  d = r + β·d,  Ad = Ar + β·Ad
//
// with γ = ‖r‖² and δ = rᴴAr. Where rounding has eaten δ - β·γ/α_old, it starts
// anew from d = r.
//
// A. T. Chronopoulos and C. W. Gear, s-Step Iterative Methods for Symmetric Linear
// Systems, 1989.
type CG[T scalar.Scalar] struct {
	OneMessage bool

	r, d, ad *Vector[T] // residual, direction and its image
	rr, beta float64    // ‖r‖²; β of the direction

	// OneMessage only.
	ar    *Vector[T] // image of the residual; ad is that of the direction
	old   float64    // ‖r‖² one step ago
	alpha float64    // of the last step; 0 before the first
	delta float64    // rᴴAr
}

// Name implements Method.
func (m *CG[T]) Name() string {
	if m.OneMessage {
		return "CG with one message"
	}
	return "CG"
}

// Init implements Method.
func (m *CG[T]) Init(ctx context.Context, w *Workspace[T, T]) (Norms, error) {
	w.Hermitian()
	m.r, m.d = w.Domain("residual"), w.Domain("direction")
	w.name(NamedNumber{"‖r‖²", &m.rr}, NamedNumber{"β", &m.beta})
	if m.OneMessage {
		return m.initOneMessage(ctx, w)
	}
	m.ad = w.DomainScratch("A·direction")
	w.Forward(ctx, m.ad, w.X)
	m.r.Copy(w.B)
	m.rr = m.r.AddNorm2(ctx, -1, m.ad) // r = b - A·x
	m.d.Copy(m.r)
	return m.norms(), w.Err()
}

// Step implements Method.
func (m *CG[T]) Step(ctx context.Context, w *Workspace[T, T]) (Norms, error) {
	switch {
	case m.rr == 0:
		return m.norms(), nil // x is the solution
	case m.OneMessage:
		return m.oneMessage(ctx, w)
	}
	w.Forward(ctx, m.ad, m.d)
	old, alpha := m.rr, m.rr/w.Definite(ctx, "dᴴAd", m.d.Dot(ctx, m.ad), m.d)
	w.Pivot(alpha, m.beta)
	w.X.Add(alpha, m.d)                    // x += α·d
	m.rr = m.r.AddNorm2(ctx, -alpha, m.ad) // r -= α·Ad
	m.beta = m.rr / old
	m.d.Combine(m.beta, 1, m.r) // d = r + β·d
	return m.norms(), w.Err()
}

func (m *CG[T]) norms() Norms { return Norms{Resid: math.Sqrt(m.rr), Grad: math.NaN()} }

func (m *CG[T]) initOneMessage(ctx context.Context, w *Workspace[T, T]) (Norms, error) {
	m.ad, m.ar = w.Domain("A·direction"), w.Domain("A·residual")
	w.name(NamedNumber{"‖r_old‖²", &m.old}, NamedNumber{"α", &m.alpha}, NamedNumber{"rᴴAr", &m.delta})
	w.Forward(ctx, m.ar, w.X)
	m.r.Copy(w.B)
	m.images(ctx, w, -1, m.ar) // r = b - A·x
	return m.norms(), w.Err()
}

// oneMessage is a step in which ‖r‖² and rᴴAr travel together, and Ad follows by
// recurrence.
func (m *CG[T]) oneMessage(ctx context.Context, w *Workspace[T, T]) (Norms, error) {
	w.Definite(ctx, "rᴴAr", m.delta, m.r)
	beta, denom, lost := chronopoulosGear(m.rr, m.old, m.alpha, m.delta, 0)
	if lost { // start anew
		beta, denom = 0, m.delta
	}
	m.alpha, m.old, m.beta = m.rr/denom, m.rr, beta
	w.Pivot(m.alpha, beta)
	m.d.Combine(beta, 1, m.r)        // d = r + β·d
	m.ad.Combine(beta, 1, m.ar)      // Ad = Ar + β·Ad
	m.images(ctx, w, -m.alpha, m.ad) // r -= α·Ad
	w.X.Add(m.alpha, m.d)            // x += α·d
	return m.norms(), w.Err()
}

// images sets r += a·v and Ar, and measures both in one message.
func (m *CG[T]) images(ctx context.Context, w *Workspace[T, T], a float64, v *Vector[T]) {
	m.r.QueueAddNorm2(a, v, &m.rr)
	w.Forward(ctx, m.ar, m.r)
	m.r.QueueDot(m.ar, &m.delta)
	w.Reduce(ctx)
}

// chronopoulosGear returns β and the denominator of α = γ/denom. lost tells that
// at most the part few of δ is left in it. In the first step α is 0: the direction
// is the residual, and β is 0.
func chronopoulosGear(gamma, old, alpha, delta, few float64) (beta, denom float64, lost bool) {
	if alpha == 0 {
		return 0, delta, false
	}
	beta = gamma / old
	denom = delta - beta*gamma/alpha
	return beta, denom, denom <= few*delta
}
