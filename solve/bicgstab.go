package solve

import (
	"context"
	"math"
	"math/cmplx"

	"github.com/golops/golops/scalar"
)

// BiCGStab is the method of stabilised biconjugate gradients for A·x = b with a
// square A, which need not be Hermitian. It does not apply Aᴴ.
//
//	v = A·p,  α = ρ / r̂ᴴv,  s = r - α·v,  t = A·s,  ω = tᴴs / ‖t‖²
//	x += α·p + ω·s,  r = s - ω·t,  β = (r̂ᴴr/ρ)·(α/ω),  ρ = r̂ᴴr,  p = r + β·(p - ω·v)
//
// The shadow r̂ is the first residual. Where r has become orthogonal to it, the
// method takes the present one and starts anew. Residuals go up and down. An A that
// turns every vector by a right angle, as a skew-symmetric one, is a breakdown.
//
// H. A. van der Vorst, Bi-CGSTAB: A Fast and Smoothly Converging Variant of Bi-CG
// for the Solution of Nonsymmetric Linear Systems, 1992.
type BiCGStab[T scalar.Scalar] struct {
	r, shadow, p *Vector[T] // residual, its shadow r̂, direction
	v, t         *Vector[T] // A·p and A·s
	rho, rv, ts  parts      // r̂ᴴr, r̂ᴴv, tᴴs
	rr, ss, tt   float64    // squares of the lengths of r, s and t
	vv, shadow2  float64    // and of v and the shadow
	norm         float64    // ‖A‖, from below
}

// Name implements Method.
func (m *BiCGStab[T]) Name() string { return "BiCGStab" }

// Init implements Method.
func (m *BiCGStab[T]) Init(ctx context.Context, w *Workspace[T, T]) (Norms, error) {
	w.Square()
	m.r, m.shadow, m.p = w.Domain("residual"), w.Domain("shadow"), w.Domain("direction")
	m.v, m.t = w.DomainScratch("A·direction"), w.DomainScratch("A·s")
	w.name(append(m.rho.named("ρ"), NamedNumber{"‖r‖²", &m.rr}, NamedNumber{"‖shadow‖²", &m.shadow2}, NamedNumber{"‖A‖", &m.norm})...)
	w.Forward(ctx, m.t, w.X)
	m.r.Copy(w.B)
	m.rr = m.r.AddNorm2(ctx, -1, m.t) // r = b - A·x
	m.anew()
	return m.norms(w), w.Err()
}

// anew makes the residual its own shadow and the direction.
func (m *BiCGStab[T]) anew() {
	m.shadow.Copy(m.r)
	m.p.Copy(m.r)
	m.rho, m.shadow2 = parts{m.rr, 0}, m.rr
}

// Step implements Method.
func (m *BiCGStab[T]) Step(ctx context.Context, w *Workspace[T, T]) (Norms, error) {
	if m.rr == 0 {
		return m.norms(w), nil // x is the solution
	}
	eps := epsilon[T, T]()
	if m.image(ctx, w); cmplx.Abs(m.rv.value()) <= eps*math.Sqrt(m.shadow2*m.vv) || cmplx.Abs(m.rho.value()) <= eps*math.Sqrt(m.shadow2*m.rr) {
		m.anew()
		m.image(ctx, w)
		if rv, size := cmplx.Abs(m.rv.value()), math.Sqrt(m.rr*m.vv); rv <= eps*size {
			w.End(Breakdown, "rᴴAr is %.2g where ‖r‖·‖A·r‖ is %.2g: the operator turns the residual by a right angle: use GMRES, CGLS or LSQR", rv, size)
		}
	}
	alpha := m.rho.value() / m.rv.value()
	m.r.queueAddNorm2(-alpha, m.v, &m.ss) // s = r - α·v
	w.Forward(ctx, m.t, m.r)              // t = A·s
	m.t.QueueComplexDot(m.r, &m.ts.re, &m.ts.im)
	m.t.QueueNorm2(&m.tt)
	w.Reduce(ctx)
	w.Finite("‖A·s‖²", m.tt)
	omega := 0i
	if m.tt > 0 {
		omega = m.ts.value() / complex(m.tt, 0)
		m.norm = max(m.norm, math.Sqrt(m.tt/m.ss))
	}
	w.X.AddComplex(alpha, m.p)
	w.X.AddComplex(omega, m.r)
	old := m.rho.value()
	m.r.queueAddNorm2(-omega, m.t, &m.rr) // r = s - ω·t
	m.shadow.QueueComplexDot(m.r, &m.rho.re, &m.rho.im)
	w.Reduce(ctx)
	if omega == 0 {
		m.rho = parts{} // the next step starts anew
		return m.norms(w), w.Err()
	}
	m.p.AddComplex(-omega, m.v)
	m.p.CombineComplex(m.rho.value()/old*alpha/omega, 1, m.r) // p = r + β·(p - ω·v)
	return m.norms(w), w.Err()
}

// image sets v = A·p and measures it in one message.
func (m *BiCGStab[T]) image(ctx context.Context, w *Workspace[T, T]) {
	w.Forward(ctx, m.v, m.p)
	m.shadow.QueueComplexDot(m.v, &m.rv.re, &m.rv.im)
	m.v.QueueNorm2(&m.vv)
	w.Reduce(ctx)
	w.Finite("‖A·p‖²", m.vv)
}

func (m *BiCGStab[T]) norms(w *Workspace[T, T]) Norms {
	w.Seen(m.norm, 1)
	return Norms{Resid: math.Sqrt(m.rr), Grad: math.NaN()}
}
