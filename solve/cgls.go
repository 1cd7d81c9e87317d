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
// It keeps 2 vectors of the domain beside x and 2 of the range beside b. A step
// applies A and Aᴴ once each, sends 2 messages and makes 3 passes over vectors of
// the domain and 2 over those of the range; with damping, 2 more over the domain. A
// check of residual and gradient applies A and Aᴴ once each.
//
// With OneMessage it keeps 3 vectors of the domain and 4 of the range, and a step
// sends 1 message and makes 3 passes over vectors of each; with damping, 2 more over
// the domain; see oneMessage. That wins where messages cost more than vectors, and
// rounds a little more.
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
	w.Number("‖g‖²", &m.gg)
	w.Number("‖r‖²", &m.rr)
	w.Number("β", &m.beta)
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

func (m *CGLS[D, R]) norms() Norms { return Norms{math.Sqrt(m.rr), math.Sqrt(m.gg)} }

// nullSpace is what it means if the image of a gradient is not positive.
const nullSpace = "the operator and its adjoint do not belong together: Aᴴ gives what A takes to zero"
