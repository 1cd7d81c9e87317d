package solve

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// OMP is orthogonal matching pursuit. A step takes the column of A that fits the
// residual best, and solves for the elements of x that have been taken so far:
//
//	i = argmax |Aᴴ(b - A·x)|ᵢ/‖A·eᵢ‖,  min ‖A·x - b‖² over these elements
//
// With Matching it is matching pursuit, which changes only the element that was taken.
// Columns that fit equally well are taken together. A run ends when ‖b - A·x‖ is at
// most Sigma.
//
// It keeps 7 vectors of the domain, 8 with Columns, and 3 of the range. With n steps of
// CGLS, a step sends 3 + 2n messages, applies A and Aᴴ n + 2 times, and makes 21 + 5n
// passes over the domain and 5 + 2n over the range. CGLS ends at rounding, after as many
// steps as elements are taken, or fewer. Matching keeps 5 and 2 vectors, sends 3 messages,
// applies A twice and Aᴴ once, and makes 12 passes over the domain and 2 over the range.
//
// Y. C. Pati, R. Rezaiifar and P. S. Krishnaprasad, Orthogonal Matching Pursuit, 1993;
// S. G. Mallat and Z. Zhang, Matching Pursuits with Time-Frequency Dictionaries, 1993.
type OMP[D, R scalar.Scalar] struct {
	Sigma    float64
	Matching bool
	Columns  dist.Array[D] // the norms of the columns of A; the zero Array stands for equal ones
	Steps    int           // of CGLS in a step; 0 means 50

	g, next, taken, by *Vector[D] // gradient, the x that is tried, 1 where it may differ from 0, 1/norms
	new, scratch       *Vector[D] // 1 where an element is taken now
	r, q               *Vector[R] // A·x - b; A·direction
	in                 inner[D, R]

	rr, dd, most float64
	gg, qq       float64
}

// Name implements Method.
func (m *OMP[D, R]) Name() string {
	if m.Matching {
		return "matching pursuit"
	}
	return "OMP"
}

// Minimises implements Minimiser.
func (m *OMP[D, R]) Minimises() string { return "½‖A·x - b‖² with few elements of x" }

// Init implements Method.
func (m *OMP[D, R]) Init(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	w.NeedB()
	w.Parameter("Sigma", m.Sigma)
	if m.Steps < 0 {
		w.Fail(fmt.Errorf("the Steps are %d, must not be negative", m.Steps))
	}
	if s := m.Columns.Space(); s != nil && !s.Equal(w.X.Space()) {
		w.Fail(fmt.Errorf("the norms of columns are of %v, x is of %v", s, w.X.Space()))
	}
	w.name(NamedNumber{"‖r‖²", &m.rr})
	m.g, m.next, m.r = w.DomainScratch("gradient"), w.DomainScratch("next x"), w.Range("A·x - b")
	m.new, m.taken, m.scratch = w.DomainScratch("elements taken now"), w.Domain("elements taken"), w.DomainScratch("scratch")
	m.by = nil
	if m.Columns.Space() != nil {
		if m.by = w.DomainScratch("1/norms of columns"); w.err == nil {
			dist.Shrink(m.by.Array, m.Columns, device.Shrinkage{Kind: device.ShrinkPower, U: -1})
		}
	}
	if m.Matching {
		m.q = w.RangeScratch("A·direction")
	} else if w.err == nil {
		a, err := masked(w.A, m.taken, m.scratch)
		w.Fail(err)
		m.in.start(ctx, &w.shared, Problem[D, R]{a, w.B.Array}, m.next, 0, or(m.Steps, 50))
	}
	if w.err != nil {
		return Norms{}, w.Err()
	}
	m.indicator(m.taken, w.X, smallest)
	w.Forward(ctx, m.r, w.X)
	m.r.QueueAddNorm2(-1, w.B, &m.rr)
	w.Reduce(ctx)
	return m.norms(), w.Err()
}

// smallest is below what counts as an element that is not zero.
const smallest = 1e-30

// indicator sets v to 1, up to rounding, where |x| > t and to 0 elsewhere.
func (m *OMP[D, R]) indicator(v, x *Vector[D], t float64) {
	v.shrink(device.Shrinkage{Kind: device.ShrinkKeep, T: t}, x)
	v.shrink(device.Shrinkage{Kind: device.ShrinkClip, T: t}, v) // its modulus is t
	v.shrink(device.Shrinkage{Kind: device.ShrinkPower, U: 1}, v)
	v.Scale(1 / t)
}

// Step implements Method.
func (m *OMP[D, R]) Step(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	if math.Sqrt(m.rr) <= m.Sigma {
		w.End(Converged, "‖b - A·x‖ is %g, which is not above Sigma", math.Sqrt(m.rr))
	}
	w.Adjoint(ctx, m.g, m.r)
	m.next.Copy(m.g)
	if m.by != nil {
		m.next.mul(m.g, m.by)
	}
	m.next.queueNorm(math.Inf(1), &m.most)
	w.Reduce(ctx)
	w.Finite("the largest element of Aᴴ(b - A·x)", m.most)
	if m.most == 0 && w.err == nil {
		w.End(Converged, "Aᴴ(b - A·x) is zero: no column fits what is left")
	}
	m.indicator(m.new, m.next, m.most*(1-4*epsilon[D, R]()))
	if m.Matching {
		m.match(ctx, w)
	} else {
		m.taken.Add(1, m.new)
		m.indicator(m.taken, m.taken, 0.5)
		m.next.Copy(w.X)
		m.in.solve(ctx, &w.shared)
	}
	w.Forward(ctx, m.r, m.next)
	m.r.QueueAddNorm2(-1, w.B, &m.rr)
	m.g.Set(1, m.next, -1, w.X)
	m.g.QueueNorm2(&m.dd)
	w.Reduce(ctx)
	w.Finite("‖b - A·x‖²", m.rr)
	w.X.Copy(m.next)
	return m.norms(), w.Err()
}

// match sets next to the best multiple of the column that was taken.
func (m *OMP[D, R]) match(ctx context.Context, w *Workspace[D, R]) {
	m.next.mul(m.g, m.new)
	w.Forward(ctx, m.q, m.next)
	m.next.QueueNorm2(&m.gg)
	m.q.QueueNorm2(&m.qq)
	w.Reduce(ctx)
	m.next.Combine(-m.gg/w.Positive("‖A·g‖²", m.qq, nullSpace), 1, w.X)
}

func (m *OMP[D, R]) norms() Norms {
	return Norms{Resid: math.Sqrt(m.rr), Grad: math.NaN(), Cost: m.rr / 2, Step: math.Sqrt(m.dd)}
}
