package solve

import (
	"context"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// bidiag is the bidiagonalisation of Golub and Kahan of Ā, which is A with
// damp·I below it, so that a start x that is not zero is damped as it should:
//
//	β·u = Ā·v - α·u,  α·v = Āᴴu - β·v,  ‖u‖ = ‖v‖ = 1
type bidiag[D, R scalar.Scalar] struct {
	p           Problem[D, R]
	damp        float64
	x           dist.Array[D]
	u, au       dist.Array[R] // left vector, room for its successor
	v, av       dist.Array[D] // right vector, room for its successor
	u2          dist.Array[D] // the part of u in the rows of damp·I, if there is damping
	alpha, beta float64
	norm        float64 // ‖Ā‖, from below
	sums        *dist.Sums
}

// start sets β·u = [b - A·x; -damp·x] and α·v = Āᴴu, and gives a method its own
// vectors too.
func (m *bidiag[D, R]) start(ctx context.Context, p Problem[D, R], damp float64, x dist.Array[D], dom []*dist.Array[D], rng []*dist.Array[R]) error {
	dom, rng = append(dom, &m.v, &m.av), append(rng, &m.u, &m.au)
	if damp != 0 {
		dom = append(dom, &m.u2)
	}
	if err := p.ready(ctx, x.Space(), damp, false, dom, rng); err != nil {
		return err
	}
	m.p, m.damp, m.x, m.sums, m.alpha = p, damp, x, dist.NewSums(x.Space(), 3), 0
	if err := p.A.Forward(ctx, m.au, x); err != nil {
		return err
	}
	dist.Sub(m.u, p.B, m.au)
	if damp != 0 {
		dist.Scale(m.u2, num[D](-damp), x)
	}
	return m.scaleLeft(ctx)
}

// left sets β·u = Ā·v - α·u.
func (m *bidiag[D, R]) left(ctx context.Context) error {
	if err := m.p.A.Forward(ctx, m.au, m.v); err != nil {
		return err
	}
	dist.Axpby(1, m.au, num[R](-m.alpha), m.u)
	if m.damp != 0 {
		dist.Axpby(num[D](m.damp), m.v, num[D](-m.alpha), m.u2)
	}
	return m.scaleLeft(ctx)
}

// scaleLeft scales u to length 1 and sets β to what it was.
func (m *bidiag[D, R]) scaleLeft(ctx context.Context) error {
	m.sums.Reset()
	if err := dist.AddDot(m.sums, m.u, m.u); err != nil {
		return err
	}
	if m.damp != 0 {
		if err := dist.AddDot(m.sums, m.u2, m.u2); err != nil {
			return err
		}
	}
	if err := m.sums.Reduce(ctx); err != nil {
		return err
	}
	uu := m.sums.Value(0)
	if m.damp != 0 {
		uu += m.sums.Value(1)
	}
	if m.beta = math.Sqrt(uu); m.beta > 0 {
		dist.Scale(m.u, num[R](1/m.beta), m.u)
		if m.damp != 0 {
			dist.Scale(m.u2, num[D](1/m.beta), m.u2)
		}
	}
	return nil
}

// right sets α·v = Āᴴu - β·v. Sums that were added before travel along; that
// of v is the last.
func (m *bidiag[D, R]) right(ctx context.Context, beta float64) error {
	if err := m.p.A.Adjoint(ctx, m.av, m.u); err != nil {
		return err
	}
	if m.damp != 0 {
		dist.Axpby(num[D](m.damp), m.u2, 1, m.av)
	}
	if err := dist.AddAxpyNorm(m.sums, num[D](-beta), m.v, m.av); err != nil {
		return err
	}
	if err := m.sums.Reduce(ctx); err != nil {
		return err
	}
	m.v, m.av = m.av, m.v
	if m.alpha = math.Sqrt(m.sums.Last()); m.alpha > 0 {
		dist.Scale(m.v, num[D](1/m.alpha), m.v)
	}
	return nil
}
