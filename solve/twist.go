package solve

import (
	"context"
	"math"

	"github.com/golops/golops/scalar"
)

// TwIST minimises ½‖A·x - b‖² + g(x) by steps that remember the x before the last:
//
//	x = (1 - α)·x_older + (α - β)·x_old + β·prox_g(x_old - Aᴴ(A·x_old - b))
//
// It is for ‖A‖ ≤ 1; TwISTWeights returns α and β. The start is one step of ISTA. It
// keeps 3 vectors of the domain and one of the range. A step makes 7 passes over the
// domain and one over the range, applies A and Aᴴ once, and sends two messages beside
// those of g.
//
// J. Bioucas-Dias and M. Figueiredo, A New TwIST: Two-Step Iterative
// Shrinkage/Thresholding Algorithms for Image Restoration, 2007.
type TwIST[D, R scalar.Scalar] struct {
	G           Function[D]
	Alpha, Beta float64 // α and β

	older, next, scratch *Vector[D]
	r                    *Vector[R] // A·x - b
}

// TwISTWeights returns the α and β of TwIST for an AᴴA whose eigenvalues lie between
// least, which must be positive, and most.
func TwISTWeights(least, most float64) (alpha, beta float64) {
	root := math.Sqrt(least / most)
	rho := (1 - root) / (1 + root)
	alpha = 1 + rho*rho
	return alpha, 2 * alpha / (least + most)
}

// Name implements Method.
func (m *TwIST[D, R]) Name() string { return "TwIST" }

// Minimises implements Minimiser.
func (m *TwIST[D, R]) Minimises() string { return "½‖A·x - b‖² + g(x)" }

// Init implements Method.
func (m *TwIST[D, R]) Init(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	w.needA()
	w.NeedB()
	w.Function("G", m.G)
	w.positive("Alpha", m.Alpha)
	w.positive("Beta", m.Beta)
	if w.err != nil {
		return Norms{}, w.Err()
	}
	m.older, m.next, m.scratch = w.Domain("x_older"), w.DomainScratch("next x"), w.DomainScratch("step")
	m.r = w.Range("residual")
	m.older.Copy(w.X)
	m.residual(ctx, w, w.X)
	m.shrink(ctx, w)
	rr, xx := m.residual(ctx, w, m.next), m.next.Norm2(ctx)
	cost := rr/2 + m.next.Value(ctx, m.G)
	if finite(rr + xx) {
		w.X.Copy(m.next)
	} else {
		cost = math.NaN() // which ends the run
	}
	n, err := startCost(w, cost)
	n.Resid = math.Sqrt(rr)
	return n, err
}

// Step implements Method.
func (m *TwIST[D, R]) Step(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	m.shrink(ctx, w)
	m.next.Combine(m.Beta, m.Alpha-m.Beta, w.X)
	m.next.Add(1-m.Alpha, m.older)
	m.older.Copy(w.X)
	rr := m.residual(ctx, w, m.next)
	n, err := accept(ctx, w, m.next, m.scratch, rr/2+m.next.Value(ctx, m.G))
	n.Resid = math.Sqrt(rr)
	return n, err
}

// residual sets r = A·x - b and returns ‖r‖².
func (m *TwIST[D, R]) residual(ctx context.Context, w *Workspace[D, R], x *Vector[D]) float64 {
	w.Forward(ctx, m.r, x)
	return m.r.AddNorm2(ctx, -1, w.B)
}

// shrink sets next = prox(x - Aᴴr).
func (m *TwIST[D, R]) shrink(ctx context.Context, w *Workspace[D, R]) {
	w.Adjoint(ctx, m.next, m.r)
	m.next.Combine(-1, 1, w.X)
	m.next.Prox(ctx, m.G, 1, m.next)
}
