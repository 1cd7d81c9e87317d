package solve

import (
	"context"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// MINRES solves A·x = b with a Hermitian A, which need not be definite, by the
// method of Lanczos, after Paige and Saunders: the residual is the smallest in
// the space searched so far and never grows. Two messages per step,
//
//	δ = vᴴAv,  γ·v_new = A·v - δ·v - γ_old·v_old
//
// and a plane rotation (c, s) that takes γ out of the tridiagonal matrix.
type MINRES[T scalar.Scalar] struct {
	p          Problem[T]
	x          dist.Array[T]
	v, old, av dist.Array[T] // vectors of Lanczos: this one, the one before, room for the next
	w, wold    dist.Array[T] // directions of x: this one and the one before
	gamma      float64       // length of v before it was scaled
	c, s       float64       // the last rotation
	cold, sold float64       // the one before
	eta        float64       // ±‖r‖
	sums       *dist.Sums
}

// Name implements Method.
func (m *MINRES[T]) Name() string { return "MINRES" }

// State implements Method.
func (m *MINRES[T]) State() State[T] {
	return State[T]{[]dist.Array[T]{m.v, m.old, m.w, m.wold}, []*float64{&m.gamma, &m.c, &m.s, &m.cold, &m.sold, &m.eta}}
}

// Init implements Method.
func (m *MINRES[T]) Init(ctx context.Context, p Problem[T], x dist.Array[T]) (Norms, error) {
	if err := p.ready(ctx, x.Space(), true, []*dist.Array[T]{&m.v, &m.old, &m.av, &m.w, &m.wold}, nil); err != nil {
		return Norms{}, err
	}
	m.p, m.x, m.sums = p, x, dist.NewSums(x.Space(), 1)
	m.c, m.s, m.cold, m.sold, m.gamma = 1, 0, 1, 0, 0
	if err := p.A.Forward(ctx, m.v, x); err != nil {
		return Norms{}, err
	}
	dist.Copy(m.av, p.B)
	err := m.next(ctx, -1) // v = b - A·x
	dist.Zero(m.old)
	m.eta = m.gamma
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
	if m.gamma = math.Sqrt(m.sums.Value(0)); m.gamma > 0 {
		dist.Scale(m.v, num[T](1/m.gamma), m.v)
	}
	return nil
}

// Step implements Method.
func (m *MINRES[T]) Step(ctx context.Context) (Norms, error) {
	if m.eta == 0 {
		return m.norms(), nil // x is the solution
	}
	if err := m.p.A.Forward(ctx, m.av, m.v); err != nil {
		return Norms{}, err
	}
	dist.Axpby(num[T](-m.gamma), m.old, 1, m.av)
	m.sums.Reset()
	if err := dist.AddDot(m.sums, m.v, m.av); err != nil {
		return Norms{}, err
	}
	if err := m.sums.Reduce(ctx); err != nil {
		return Norms{}, err
	}
	delta, gamma := m.sums.Value(0), m.gamma
	if err := m.next(ctx, -delta); err != nil {
		return Norms{}, err
	}
	a0 := m.c*delta - m.cold*m.s*gamma
	a1 := math.Hypot(a0, m.gamma)
	a2 := m.s*delta + m.cold*m.c*gamma
	a3 := m.sold * gamma
	if err := positive("the pivot", a1, "the operator is singular and b is not in its range: use CGLS or LSQR"); err != nil {
		return Norms{}, err
	}
	m.cold, m.sold, m.c, m.s = m.c, m.s, a0/a1, m.gamma/a1
	dist.Axpby(num[T](1/a1), m.old, num[T](-a3/a1), m.wold) // w_new = (v - α₃·w_old - α₂·w)/α₁
	dist.Axpby(num[T](-a2/a1), m.w, 1, m.wold)
	m.w, m.wold = m.wold, m.w
	dist.Axpby(num[T](m.c*m.eta), m.w, 1, m.x)
	m.eta *= -m.s
	return m.norms(), nil
}

func (m *MINRES[T]) norms() Norms { return Norms{math.Abs(m.eta), math.NaN()} }
