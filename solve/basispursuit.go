package solve

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// BasisPursuit finds the x of least ‖x‖₁ with ‖A·x - b‖ ≤ Sigma, the level of noise. A
// step is one of projected gradients for the least ‖A·x - b‖ with ‖x‖₁ ≤ τ, of spectral
// length and with an exact line search. Where the duality gap of that is small, τ rises
// to what ‖x‖₁ is at least, which the gap tells: nearly a step of Newton along the curve
// of the least ‖A·x - b‖ over τ.
//
// It keeps 2 vectors of the domain and 2 of the range. With p trials of the projection, a
// few as a rule, a step sends 2 + p messages, applies A and Aᴴ once, and makes 9 + p passes
// over the domain and 4 over the range.
//
// E. van den Berg and M. P. Friedlander, Probing the Pareto Frontier for Basis Pursuit
// Solutions, 2008.
type BasisPursuit[D, R scalar.Scalar] struct {
	Sigma float64
	Tol   float64 // of Sigma and of the gap, relative to ‖b‖; 0 means 1e-6

	g, next  *Vector[D] // gradient, the x that is tried, then its difference
	q, s     *Vector[R] // A·x - b, and A times the difference
	tau      float64
	length   float64 // of the next step along the gradient
	bb, qq   float64 // ‖b‖², ‖A·x - b‖²
	most     float64 // the largest element of the gradient
	gx       float64 // gᴴx
	one      float64 // ‖x‖₁
	dd       float64 // ‖x - x_old‖²
	ss, sq   float64 // ‖A·d‖², (A·d)ᴴ(A·x - b)
	sum, num float64 // of a projection
	still    float64 // steps in a row that have left x alone
	first    float64 // the largest element of the first gradient
}

// Name implements Method.
func (m *BasisPursuit[D, R]) Name() string { return "basis pursuit" }

// Minimises implements Minimiser.
func (m *BasisPursuit[D, R]) Minimises() string {
	return fmt.Sprintf("‖x‖₁ with ‖A·x - b‖ ≤ %g", m.Sigma)
}

// Init implements Method.
func (m *BasisPursuit[D, R]) Init(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	w.NeedB()
	w.Parameter("Sigma", m.Sigma)
	w.Parameter("Tol", m.Tol)
	m.g, m.next = w.Domain("gradient"), w.DomainScratch("next x")
	m.q, m.s = w.Range("A·x - b"), w.RangeScratch("A·d")
	w.name(NamedNumber{"τ", &m.tau}, NamedNumber{"length", &m.length}, NamedNumber{"‖b‖²", &m.bb}, NamedNumber{"‖q‖²", &m.qq}, NamedNumber{"‖g‖∞", &m.most},
		NamedNumber{"gᴴx", &m.gx}, NamedNumber{"‖x‖₁", &m.one}, NamedNumber{"steps without change", &m.still}, NamedNumber{"first ‖g‖∞", &m.first})
	w.Forward(ctx, m.q, w.X)
	m.q.Add(-1, w.B)
	w.Adjoint(ctx, m.g, m.q)
	m.bb = w.B.Norm2(ctx)
	m.measure(ctx, w, w.X)
	m.tau, m.dd, m.first = m.bound(), 0, m.most
	if m.length = 1; m.most > 0 && w.err == nil {
		m.length = 1 / m.most
	}
	return m.norms(), w.Err()
}

// bound is what ‖x‖₁ is at least, by the duality with the residual r = b - A·x:
// (bᴴr - Sigma·‖r‖)/‖Aᴴr‖∞. It is the step of Newton's method less what the gap may
// have added, so that τ never goes past the solution.
func (m *BasisPursuit[D, R]) bound() float64 {
	if m.most == 0 {
		return 0
	}
	return max((m.qq-m.gx-m.Sigma*math.Sqrt(m.qq))/m.most, 0)
}

// measure works out the numbers of x, whose gradient and residual are known, in one
// message.
func (m *BasisPursuit[D, R]) measure(ctx context.Context, w *Workspace[D, R], x *Vector[D]) {
	m.q.QueueNorm2(&m.qq)
	m.g.queueNorm(math.Inf(1), &m.most)
	m.g.QueueDot(x, &m.gx)
	x.QueueNorm1(&m.one)
	w.Reduce(ctx)
	w.Finite("‖A·x - b‖² + ‖x‖₁ + the largest element of the gradient", m.qq+m.one+m.most)
}

// Step implements Method.
func (m *BasisPursuit[D, R]) Step(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	tol := or(m.Tol, 1e-6) * math.Sqrt(m.bb)
	resid := math.Sqrt(m.qq)
	switch gap := m.gx + m.tau*m.most; {
	case m.one <= m.tau+tol && resid <= m.Sigma+tol && (m.tau == 0 || resid >= m.Sigma-tol && gap <= tol*math.Sqrt(m.bb)):
		w.End(Converged, "‖A·x - b‖ is %g for a Sigma of %g, and the duality gap %g", resid, m.Sigma, gap)
	case m.most <= 1000*epsilon[D, R]()*m.first && resid > m.Sigma+tol:
		w.End(AtRounding, "‖A·x - b‖ is %g, which is the least that there is: a Sigma of %g is out of reach: take a larger one", resid, m.Sigma)
	case m.still >= 50:
		w.End(AtRounding, "no step makes ‖A·x - b‖ less, with ‖A·x - b‖ = %g for a Sigma of %g and a duality gap of %g: rounding allows no less: take a larger Tol, which is %g", resid, m.Sigma, gap, or(m.Tol, 1e-6))
	case gap <= max(0.1*math.Abs(m.qq-m.Sigma*m.Sigma), tol*math.Sqrt(m.bb)):
		if low := m.bound(); low > m.tau || resid < m.Sigma {
			m.tau = low
		}
	}
	m.next.Set(1, w.X, -m.length, m.g)
	m.project(ctx, w)
	m.next.Add(-1, w.X)
	w.Forward(ctx, m.s, m.next) // A·next - A·x would lose the last digits of a short step
	m.next.QueueNorm2(&m.dd)
	m.s.QueueNorm2(&m.ss)
	m.s.QueueDot(m.q, &m.sq)
	w.Reduce(ctx)
	w.Finite("‖A·d‖²", m.ss)
	// d holds the rounding of x, so that the gain of a very short step cannot be told. Such
	// steps are made whole: x still improves, though ‖A·x - b‖ does not show it.
	rounding := 4 * epsilon[D, R]() * m.most * m.one
	told := math.Abs(m.sq) > rounding
	step := 1.0 // where τ has changed, x must follow it
	if m.one <= m.tau && m.ss > 0 && told {
		if m.sq > 0.01*math.Sqrt(m.ss*m.qq)+math.Sqrt(epsilon[D, R]())*(m.most*m.one+m.qq) { // more than rounding
			w.End(Breakdown, "‖A·x - b‖ rises along a step against its gradient: Aᴴ is not the adjoint of A: optest.Dot tells")
		}
		step = min(max(-m.sq/m.ss, 0), 1)
	}
	if m.still++; step > 0 && m.ss > 0 && told {
		m.still = 0
	}
	m.length *= 2
	if m.ss > 0 {
		m.length = m.dd / m.ss
	}
	m.next.Combine(step, 1, w.X)
	m.q.Add(step, m.s)
	w.Adjoint(ctx, m.g, m.q)
	m.measure(ctx, w, m.next)
	m.dd *= step * step
	w.X.Copy(m.next)
	return m.norms(), w.Err()
}

// project moves next into ‖x‖₁ ≤ τ, by the threshold that Newton's method finds from
// below: a message for each of its few steps.
func (m *BasisPursuit[D, R]) project(ctx context.Context, w *Workspace[D, R]) {
	t := 0.0
	for range 100 {
		m.next.queueShrinkSum(t, &m.sum, &m.num)
		w.Reduce(ctx)
		if w.err != nil || m.num == 0 || m.sum-m.tau <= 4*epsilon[D, R]()*m.tau {
			break
		}
		t += (m.sum - m.tau) / m.num
	}
	if t > 0 {
		m.next.Threshold(Soft, t, m.next)
	}
}

// queueShrinkSum has the next Reduce set sum to Σ max(|v| - t, 0) and num to how many
// |v| exceed t.
func (v *Vector[T]) queueShrinkSum(t float64, sum, num *float64) {
	a, b := v.w.enqueue(sum, nil), v.w.enqueue(num, nil)
	if a != nil && b != nil {
		n := len(v.w.queue)
		v.w.queue[n-2].slot, v.w.queue[n-1].slot = dist.AddShrinkSum(v.w.several, v.Array, device.Shrinkage{Kind: device.ShrinkSoft, T: t})
	}
}

func (m *BasisPursuit[D, R]) norms() Norms {
	return Norms{Resid: math.Sqrt(m.qq), Grad: math.NaN(), Cost: m.one, Step: math.Sqrt(m.dd)}
}
