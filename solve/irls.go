package solve

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// IRLS is iteratively reweighted least squares. A step solves
//
//	min ‖W·(A·x - b)‖² + Damp²·‖x‖²,  w² = 1/(|A·x - b| + Eps)
//
// with the weights of the last x, which approaches the smallest ‖A·x - b‖₁: data with
// outliers. With Model it solves
//
//	min ‖A·x - b‖² + Damp²·‖x/w‖²,  w² = |x|
//
// which makes x sparse. The largest w is scaled to 1. The first step has no weights.
//
// With n steps of CGLS, a step sends 2 + 2n messages and applies A n + 2 times and Aᴴ
// n + 1 times. For data it keeps 4 vectors of the domain and 6 of the range, and makes
// 8 + 3n passes over the domain and 12 + 4n over the range. For a model it keeps 5 and 4,
// and makes 16 + 7n and 5 + 2n.
//
// P. W. Holland and R. E. Welsch, Robust Regression Using Iteratively Reweighted
// Least-Squares, 1977; for models R. Chartrand and W. Yin, Iteratively Reweighted
// Algorithms for Compressive Sensing, 2008.
type IRLS[D, R scalar.Scalar] struct {
	Model bool
	Eps   float64 // must be positive for data
	Least bool    // the weights of data are 1/max(|A·x - b|, Eps)
	Damp  float64 // must be positive for a model
	Steps int     // of CGLS in a step, from the last x; 0 means 20

	next, d *Vector[D] // the x that is tried; x - x_old, then scratch
	wx      *Vector[D] // weights of a model
	r, s    *Vector[R] // A·x - b; scratch
	wr, wb  *Vector[R] // weights of data; the data times them
	in      inner[D, R]

	rr, dd, one float64 // ‖r‖², ‖x - x_old‖², the 1-norm of r or of x
	edge        float64 // the smallest |r| or the largest |x|
	k           float64
}

// Name implements Method.
func (m *IRLS[D, R]) Name() string { return "IRLS" }

// Minimises implements Minimiser.
func (m *IRLS[D, R]) Minimises() string {
	if m.Model {
		return fmt.Sprintf("‖A·x - b‖² + %g·max|x|·‖x‖₁", m.Damp*m.Damp)
	}
	return fmt.Sprintf("‖A·x - b‖₁ with Eps %g, Least %t, Damp %g", m.Eps, m.Least, m.Damp)
}

// Init implements Method.
func (m *IRLS[D, R]) Init(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	w.NeedB()
	w.Parameter("Eps", m.Eps)
	w.Parameter("Damp", m.Damp)
	switch {
	case m.Steps < 0:
		w.Fail(fmt.Errorf("the Steps are %d, must not be negative", m.Steps))
	case m.Model && m.Damp == 0:
		w.Fail(errors.New("the Damp is 0: weights of a model need some"))
	case !m.Model && m.Eps == 0:
		w.Fail(errors.New("the Eps is 0: weights of data need some"))
	}
	w.name(NamedNumber{"smallest |r| or largest |x|", &m.edge}, NamedNumber{"k", &m.k})
	m.next, m.d = w.DomainScratch("next x"), w.DomainScratch("x - x_old")
	m.r, m.s = w.Range("A·x - b"), w.RangeScratch("weighted")
	if m.Model {
		m.wx = w.DomainScratch("weights")
	} else {
		m.wr, m.wb = w.RangeScratch("weights"), w.RangeScratch("weighted b")
	}
	if w.err == nil {
		m.in.fromZero = m.Model
		p := Problem[D, R]{B: w.B.Array}
		var err error
		if m.Model {
			p.A, err = masked(w.A, m.wx, m.d)
		} else {
			p.B = m.wb.Array
			p.A, err = weighted(w.A, m.wr, m.s)
		}
		w.Fail(err)
		m.in.start(ctx, &w.shared, p, m.next, m.Damp, or(m.Steps, 20))
	}
	if w.err != nil {
		return Norms{}, w.Err()
	}
	m.next.Copy(w.X)
	m.measure(ctx, w)
	return m.norms(), w.Err()
}

// Step implements Method.
func (m *IRLS[D, R]) Step(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	if m.Model {
		m.weighModel(w)
		m.next.Zero() // x = W·u, and u has other weights than the last one
		m.in.solve(ctx, &w.shared)
		m.next.mul(m.next, m.wx)
	} else {
		m.weighData(w)
		m.next.Copy(w.X)
		m.in.solve(ctx, &w.shared)
	}
	m.measure(ctx, w)
	m.k++
	w.X.Copy(m.next)
	return m.norms(), w.Err()
}

// weighModel sets the weights √(|x|/max|x|), all 1 in the first step.
func (m *IRLS[D, R]) weighModel(w *Workspace[D, R]) {
	m.wx.shrink(device.Shrinkage{Kind: device.ShrinkPower, U: min(m.k, 1) / 2}, w.X)
	if m.k > 0 {
		w.Positive("max|x|", m.edge, "x has become zero: take a smaller Damp")
		m.wx.Scale(1 / math.Sqrt(m.edge))
	}
}

// weighData sets the weights √((min|r| + ε)/(|r| + ε)), all 1 in the first step.
func (m *IRLS[D, R]) weighData(w *Workspace[D, R]) {
	by := device.Shrinkage{Kind: device.ShrinkPower, T: m.Eps}
	most := m.edge + m.Eps
	if m.Least {
		by.Kind, most = device.ShrinkLeast, max(m.edge, m.Eps)
	}
	if m.k > 0 {
		by.U = -0.5
	}
	m.wr.shrink(by, m.r)
	if m.k > 0 {
		m.wr.Scale(math.Sqrt(most))
	}
	m.wb.mul(w.B, m.wr)
}

// measure works out the norms of next, in one message.
func (m *IRLS[D, R]) measure(ctx context.Context, w *Workspace[D, R]) {
	w.Forward(ctx, m.r, m.next)
	m.r.QueueAddNorm2(-1, w.B, &m.rr)
	m.d.Set(1, m.next, -1, w.X)
	m.d.QueueNorm2(&m.dd)
	if m.Model {
		m.next.QueueNorm1(&m.one)
		m.next.queueNorm(math.Inf(1), &m.edge)
	} else {
		m.r.QueueNorm1(&m.one)
		m.r.queueNorm(math.Inf(-1), &m.edge)
	}
	w.Reduce(ctx)
	w.Finite("the cost", m.rr+m.one)
}

func (m *IRLS[D, R]) norms() Norms {
	cost := m.one
	if m.Model {
		cost = m.rr + m.Damp*m.Damp*m.edge*m.one
	}
	return Norms{Resid: math.Sqrt(m.rr), Grad: math.NaN(), Cost: cost, Step: math.Sqrt(m.dd)}
}
