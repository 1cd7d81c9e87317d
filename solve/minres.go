package solve

import (
	"context"
	"math"

	"github.com/golops/golops/scalar"
)

// MINRES solves A·x = b with a Hermitian A, which need not be definite. The
// residual is the smallest in the space searched so far and never grows. Where A is
// singular and b out of its reach, x is one that makes ‖A·x - b‖ smallest. It is
// the recurrence of Lanczos
//
//	δ = vᴴAv,  γ·v_new = A·v - δ·v - γ_old·v_old
//
// and a plane rotation (c, s) that takes γ out of the tridiagonal matrix. Lanczos
// is one vector ahead of x, so that ‖A·r‖ is known.
//
// C. C. Paige and M. A. Saunders, Solution of Sparse Indefinite Systems of Linear
// Equations, 1975.
//
// The first step also sees, with one product of vectors more, whether A is Hermitian.
type MINRES[T scalar.Scalar] struct {
	v, vold, av  *Vector[T] // vectors of Lanczos: this one, the one before, the next
	w, wold      *Vector[T] // directions of x: this one and the one before
	delta        float64    // vᴴAv of the vector before this one
	gamma, gold  float64    // lengths of this vector and of the one before, before they were scaled
	c, s         float64    // the last rotation
	cold, sold   float64    // the one before
	eta          float64    // ±‖r‖
	norm         float64    // ‖A‖², from below
	large, least float64    // of the pivots
	steps        float64
	re, im       float64 // v_oldᴴAv in the first step
}

// Name implements Method.
func (m *MINRES[T]) Name() string { return "MINRES" }

// Init implements Method.
func (m *MINRES[T]) Init(ctx context.Context, w *Workspace[T, T]) (Norms, error) {
	w.Hermitian()
	m.v, m.vold, m.av = w.Domain("v"), w.Domain("v_old"), w.DomainScratch("A·v")
	m.w, m.wold = w.Domain("direction"), w.Domain("direction_old")
	w.name([]NamedNumber{{"δ", &m.delta}, {"γ", &m.gamma}, {"γ_old", &m.gold}, {"c", &m.c}, {"s", &m.s}, {"c_old", &m.cold}, {"s_old", &m.sold},
		{"η", &m.eta}, {"‖A‖²", &m.norm}, {"largest pivot", &m.large}, {"least pivot", &m.least}, {"steps", &m.steps}}...)
	m.c, m.cold, m.least = 1, 1, math.Inf(1)
	w.Forward(ctx, m.v, w.X)
	m.av.Copy(w.B)
	m.next(ctx, -1) // v = b - A·x
	m.vold.Zero()
	if m.eta = m.gamma; m.eta == 0 {
		return Norms{}, w.Err()
	}
	m.gamma = 0 // there is no vector before the first
	m.lanczos(ctx, w)
	return m.norms(w), w.Err()
}

// next sets γ·v_new = A·v + a·v.
func (m *MINRES[T]) next(ctx context.Context, a float64) {
	vv := m.av.AddNorm2(ctx, a, m.v)
	m.vold.Swap(m.v)
	m.v.Swap(m.av)
	if m.gold, m.gamma = m.gamma, math.Sqrt(vv); m.gamma > 0 {
		m.v.Scale(1 / m.gamma)
	}
}

// lanczos goes on from v to the next vector.
func (m *MINRES[T]) lanczos(ctx context.Context, w *Workspace[T, T]) {
	w.Forward(ctx, m.av, m.v)
	m.av.Add(-m.gamma, m.vold)
	if m.steps == 1 {
		m.symmetry(ctx, w)
	} else {
		m.delta = m.v.Dot(ctx, m.av)
	}
	gamma := m.gamma
	m.next(ctx, -m.delta)
	m.norm = max(m.norm, m.delta*m.delta+gamma*gamma+m.gamma*m.gamma) // ‖A·v‖²
}

// symmetry sets δ and refuses an operator that is not Hermitian: v_oldᴴ·A·v is γ if
// it is, so that nothing is left of it.
func (m *MINRES[T]) symmetry(ctx context.Context, w *Workspace[T, T]) {
	m.v.QueueDot(m.av, &m.delta)
	m.vold.QueueComplexDot(m.av, &m.re, &m.im)
	w.Reduce(ctx)
	left, norm := math.Hypot(m.re, m.im), math.Sqrt(m.norm)
	if !math.IsInf(left, 0) && left > math.Cbrt(epsilon[T, T]())*norm && m.gamma > math.Sqrt(epsilon[T, T]())*norm {
		w.End(NotSymmetric, "uᴴAv and (vᴴAu)* differ by %.2g where ‖A·v‖ is %.2g: the operator is not Hermitian: use CGLS or LSQR", left, norm)
	}
}

// Step implements Method.
func (m *MINRES[T]) Step(ctx context.Context, w *Workspace[T, T]) (Norms, error) {
	if m.eta == 0 {
		return m.norms(w), nil // x is the solution
	}
	a0 := m.pivot()
	a1 := w.Positive("the pivot", math.Hypot(a0, m.gamma), "the operator is singular and b is not in its range: use CGLS or LSQR")
	a2 := m.s*m.delta + m.cold*m.c*m.gold
	a3 := m.sold * m.gold
	m.large, m.least = max(m.large, a1), min(m.least, a1)
	m.cold, m.sold, m.c, m.s = m.c, m.s, a0/a1, m.gamma/a1
	m.wold.Combine(-a3/a1, 1/a1, m.vold) // w_new = (v - α₃·w_old - α₂·w)/α₁
	m.wold.Add(-a2/a1, m.w)
	m.w.Swap(m.wold)
	along := m.c * m.eta
	m.eta *= -m.s
	m.steps++
	if m.eta != 0 {
		m.lanczos(ctx, w)
	}
	w.X.Add(along, m.w)
	return m.norms(w), w.Err()
}

// pivot is that of the next step before γ is rotated into it.
func (m *MINRES[T]) pivot() float64 { return m.c*m.delta - m.cold*m.s*m.gold }

// norms has ‖A·r‖ = ‖r‖·√(pivot² + (c·γ)²). It also tells what is seen of the
// operator.
func (m *MINRES[T]) norms(w *Workspace[T, T]) Norms {
	w.Seen(math.Sqrt(m.norm), m.large/m.least)
	r, p, g := math.Abs(m.eta), m.pivot(), m.c*m.gamma
	return Norms{Resid: r, Grad: r * math.Sqrt(p*p+g*g)}
}
