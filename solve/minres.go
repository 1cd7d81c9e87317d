package solve

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// MINRES solves A·x = b with a Hermitian A, which need not be definite, by the
// method of Lanczos, after Paige and Saunders: the residual is the smallest in
// the space searched so far and never grows. Where A is singular and b out of its
// reach, x is one that makes ‖A·x - b‖ smallest. Two messages per step,
//
//	δ = vᴴAv,  γ·v_new = A·v - δ·v - γ_old·v_old
//
// and a plane rotation (c, s) that takes γ out of the tridiagonal matrix. A step
// applies A once: Lanczos is one vector ahead of x, so that ‖A·r‖ is known. A
// check of residual and gradient applies A twice. The first step also sees, with
// one product of vectors more, whether A is Hermitian.
type MINRES[T scalar.Scalar] struct {
	p            Problem[T, T]
	x            dist.Array[T]
	v, old, av   dist.Array[T] // vectors of Lanczos: this one, the one before, room for the next
	w, wold      dist.Array[T] // directions of x: this one and the one before
	room         dist.Array[T]
	delta        float64 // vᴴAv of the vector before this one
	gamma, gold  float64 // lengths of this vector and of the one before, before they were scaled
	c, s         float64 // the last rotation
	cold, sold   float64 // the one before
	eta          float64 // ±‖r‖
	norm         float64 // ‖A‖², from below
	large, least float64 // of the pivots
	steps        float64
	sums         *dist.Sums
	both         *dist.Sums // of the first step
}

// Name implements Method.
func (m *MINRES[T]) Name() string { return "MINRES" }

// State implements Method.
func (m *MINRES[T]) State() State[T, T] {
	return State[T, T]{[]dist.Array[T]{m.v, m.old, m.w, m.wold}, nil,
		[]*float64{&m.delta, &m.gamma, &m.gold, &m.c, &m.s, &m.cold, &m.sold, &m.eta, &m.norm, &m.large, &m.least, &m.steps}}
}

// Outlook implements Method.
func (m *MINRES[T]) Outlook() Outlook { return Outlook{math.Sqrt(m.norm), m.large / m.least} }

// Room implements Method.
func (m *MINRES[T]) Room() (dom, rng dist.Array[T]) { return m.room, m.av }

func (m *MINRES[T]) hermitian() {}

// Init implements Method.
func (m *MINRES[T]) Init(ctx context.Context, p Problem[T, T], damp float64, x dist.Array[T]) (Norms, error) {
	if err := p.ready(ctx, x.Space(), damp, true, []*dist.Array[T]{&m.v, &m.old, &m.av, &m.w, &m.wold, &m.room}, nil); err != nil {
		return Norms{}, err
	}
	m.p, m.x, m.sums = p, x, dist.NewSums(x.Space(), 1)
	m.both = dist.NewSums(x.Space(), 3)
	m.c, m.s, m.cold, m.sold, m.gamma, m.steps = 1, 0, 1, 0, 0, 0
	m.norm, m.large, m.least = 0, 0, math.Inf(1)
	if err := p.A.Forward(ctx, m.v, x); err != nil {
		return Norms{}, err
	}
	dist.Copy(m.av, p.B)
	if err := m.next(ctx, -1); err != nil { // v = b - A·x
		return Norms{}, err
	}
	dist.Zero(m.old)
	if m.eta = m.gamma; m.eta == 0 {
		return Norms{}, nil
	}
	m.gamma = 0 // there is no vector before the first
	err := m.lanczos(ctx)
	return m.norms(), err
}

// next sets γ·v_new = av + a·v.
func (m *MINRES[T]) next(ctx context.Context, a float64) error {
	m.sums.Reset()
	if err := dist.AddAxpyNorm(m.sums, num[T](a), m.v, m.av); err != nil {
		return err
	}
	if err := m.sums.Reduce(ctx); err != nil {
		return err
	}
	m.old, m.v, m.av = m.v, m.av, m.old
	if m.gold, m.gamma = m.gamma, math.Sqrt(m.sums.Value(0)); m.gamma > 0 {
		dist.Scale(m.v, num[T](1/m.gamma), m.v)
	}
	return nil
}

// lanczos goes on from v to the next vector.
func (m *MINRES[T]) lanczos(ctx context.Context) error {
	if err := m.p.A.Forward(ctx, m.av, m.v); err != nil {
		return err
	}
	dist.Axpby(num[T](-m.gamma), m.old, 1, m.av)
	sums := m.sums
	if m.steps == 1 {
		sums = m.both
	}
	sums.Reset()
	if err := dist.AddDot(sums, m.v, m.av); err != nil {
		return err
	}
	if m.steps == 1 { // v_oldᴴ·A·v is γ if A is Hermitian: nothing is left
		if err := dist.AddComplexDot(sums, m.old, m.av); err != nil {
			return err
		}
	}
	if err := sums.Reduce(ctx); err != nil {
		return err
	}
	m.delta = sums.Value(0)
	if m.steps == 1 {
		left, norm := math.Hypot(sums.Value(1), sums.Value(2)), math.Sqrt(m.norm)
		if !math.IsInf(left, 0) && left > math.Cbrt(epsilon[T, T]())*norm && m.gamma > math.Sqrt(epsilon[T, T]())*norm {
			return &unfit{NotSymmetric, fmt.Sprintf("uᴴAv and (vᴴAu)* differ by %.2g where ‖A·v‖ is %.2g: the operator is not Hermitian: use CGLS or LSQR", left, norm)}
		}
	}
	gamma := m.gamma
	if err := m.next(ctx, -m.delta); err != nil {
		return err
	}
	m.norm = max(m.norm, m.delta*m.delta+gamma*gamma+m.gamma*m.gamma) // ‖A·v‖²
	return nil
}

// Step implements Method.
func (m *MINRES[T]) Step(ctx context.Context) (Norms, error) {
	if m.eta == 0 {
		return m.norms(), nil // x is the solution
	}
	a0 := m.pivot()
	a1 := math.Hypot(a0, m.gamma)
	a2 := m.s*m.delta + m.cold*m.c*m.gold
	a3 := m.sold * m.gold
	if err := positive("the pivot", a1, "the operator is singular and b is not in its range: use CGLS or LSQR"); err != nil {
		return Norms{}, err
	}
	m.large, m.least = max(m.large, a1), min(m.least, a1)
	m.cold, m.sold, m.c, m.s = m.c, m.s, a0/a1, m.gamma/a1
	dist.Axpby(num[T](1/a1), m.old, num[T](-a3/a1), m.wold) // w_new = (v - α₃·w_old - α₂·w)/α₁
	dist.Axpby(num[T](-a2/a1), m.w, 1, m.wold)
	m.w, m.wold = m.wold, m.w
	dist.Axpby(num[T](m.c*m.eta), m.w, 1, m.x)
	m.eta *= -m.s
	m.steps++
	if m.eta == 0 {
		return m.norms(), nil
	}
	err := m.lanczos(ctx)
	return m.norms(), err
}

// pivot is that of the next step before γ is rotated into it.
func (m *MINRES[T]) pivot() float64 { return m.c*m.delta - m.cold*m.s*m.gold }

// norms has ‖A·r‖ = ‖r‖·√(pivot² + (c·γ)²).
func (m *MINRES[T]) norms() Norms {
	r, p, g := math.Abs(m.eta), m.pivot(), m.c*m.gamma
	return Norms{r, r * math.Sqrt(p*p+g*g)}
}
