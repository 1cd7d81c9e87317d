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
// It keeps 3 vectors beside x and b. A step applies A once, sends 2 messages and
// makes 4 passes over vectors. A check of the residual applies A once.
//
// With OneMessage it keeps 5 vectors, and a step sends 1 message in 5 passes; see
// oneMessage. That wins where messages cost more than vectors, and rounds a little
// more.
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
	w.Number("‖r‖²", &m.rr)
	w.Number("β", &m.beta)
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

func (m *CG[T]) norms() Norms { return Norms{math.Sqrt(m.rr), math.NaN()} }
