package solve

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"

	"github.com/golops/golops/scalar"
)

// GMRES makes ‖b - A·x‖ smallest in a space that grows by one vector per step, for
// a square A, which need not be Hermitian. It does not apply Aᴴ. The vectors are
// those of Arnoldi,
//
//	h = Vᴴ·A·v,  v_new = (A·v - V·h) / ‖A·v - V·h‖,
//
// made orthogonal twice, and plane rotations make the Hessenberg matrix of all h a
// triangular one. After Restart steps it forgets all vectors and starts anew from
// b - A·x. x is up to date after each step. The residual never grows.
//
// Y. Saad and M. H. Schultz, GMRES: A Generalized Minimal Residual Algorithm for
// Solving Nonsymmetric Linear Systems, 1986.
type GMRES[T scalar.Scalar] struct {
	Restart int // vectors at most, from 1; 20 suits most

	basis orthonormal[T]
	tri   []parts   // R by columns
	turn  []parts   // s of the rotations
	cos   []float64 // and c
	g     []parts   // ‖r₀‖·e₁, rotated
	d     []complex128
	k     float64 // vectors so far, less one
	resid float64
	norm  float64 // ‖A‖, from below
	large float64 // of the diagonal of R in this cycle
	least float64
}

// Name implements Method.
func (m *GMRES[T]) Name() string { return fmt.Sprintf("GMRES(%d)", m.Restart) }

// Init implements Method.
func (m *GMRES[T]) Init(ctx context.Context, w *Workspace[T, T]) (Norms, error) {
	w.Square()
	n := m.Restart
	if n < 1 || n > 1000 {
		w.Fail(fmt.Errorf("the Restart of GMRES is %d, must be from 1 to 1000: 20 suits most", n))
		return Norms{}, w.Err()
	}
	m.basis = newOrthonormal[T](&w.shared, n+1)
	m.tri, m.turn, m.cos, m.g, m.d = make([]parts, n*(n+1)/2), make([]parts, n), make([]float64, n), make([]parts, n+1), make([]complex128, n)
	w.roomFor(w.X.Space(), n+2)
	for i := range n + 1 {
		m.basis.v = append(m.basis.v, w.Domain(fmt.Sprint("v ", i)))
		w.name(m.g[i].named(fmt.Sprint("g ", i))...)
	}
	for i := range n {
		w.name(append(m.turn[i].named(fmt.Sprint("s ", i)), NamedNumber{fmt.Sprint("c ", i), &m.cos[i]})...)
	}
	for i := range m.tri {
		w.name(m.tri[i].named(fmt.Sprint("R ", i))...)
	}
	w.name(NamedNumber{"vectors", &m.k}, NamedNumber{"‖r‖", &m.resid}, NamedNumber{"‖A‖", &m.norm}, NamedNumber{"largest pivot", &m.large}, NamedNumber{"least pivot", &m.least})
	m.cycle(ctx, w)
	return m.norms(w), w.Err()
}

// cycle starts from the true residual.
func (m *GMRES[T]) cycle(ctx context.Context, w *Workspace[T, T]) {
	r := m.basis.v[0]
	w.Forward(ctx, r, w.X)
	r.Combine(-1, 1, w.B)
	m.resid = math.Sqrt(r.Norm2(ctx))
	if m.resid > 0 {
		r.Scale(1 / m.resid)
	}
	m.g[0].set(complex(m.resid, 0))
	m.k, m.large, m.least = 0, 0, math.Inf(1)
}

// column returns column j of R.
func (m *GMRES[T]) column(j int) []parts { return m.tri[j*(j+1)/2 : (j+1)*(j+2)/2] }

// Step implements Method.
func (m *GMRES[T]) Step(ctx context.Context, w *Workspace[T, T]) (Norms, error) {
	if int(m.k) == m.Restart {
		m.cycle(ctx, w)
	}
	if m.resid == 0 {
		return m.norms(w), w.Err() // x is the solution
	}
	k, b := int(m.k), &m.basis
	w.Forward(ctx, b.v[k+1], b.v[k])
	left := w.Finite("the length of A·v", b.orthogonalize(ctx, b.v[k+1], k+1))
	m.norm = max(m.norm, math.Sqrt(b.before))
	pivot := cmplx.Abs(m.rotate(k, left))
	if pivot <= 10*epsilon[T, T]()*m.norm {
		w.End(IllConditioned, "the pivot is %.2g where ‖A‖ is %.2g or more: the operator is singular to rounding: use CGLS or LSQR", pivot, m.norm)
	}
	m.large, m.least = max(m.large, pivot), min(m.least, pivot)
	m.substitute(k)
	for i, v := range b.v[:k+1] {
		w.X.AddComplex(m.d[i], v) // x += V·(y - y_old)
	}
	if left > 0 {
		b.v[k+1].Scale(1 / left)
	}
	m.k++
	m.resid = cmplx.Abs(m.g[k+1].value())
	return m.norms(w), w.Err()
}

// rotate makes h column k of R, and returns its last element.
func (m *GMRES[T]) rotate(k int, left float64) complex128 {
	r := m.column(k)
	copy(r, m.basis.h[:k+1])
	for i := range k {
		c, s, a, b := complex(m.cos[i], 0), m.turn[i].value(), r[i].value(), r[i+1].value()
		r[i].set(c*a + s*b)
		r[i+1].set(c*b - cmplx.Conj(s)*a)
	}
	a := r[k].value()
	phase, size := complex(1, 0), cmplx.Abs(a)
	if size > 0 {
		phase = a / complex(size, 0)
	}
	whole := math.Hypot(size, left)
	c, s := size/whole, phase*complex(left/whole, 0)
	m.cos[k] = c
	m.turn[k].set(s)
	r[k].set(phase * complex(whole, 0))
	g := m.g[k].value()
	m.g[k].set(complex(c, 0) * g)
	m.g[k+1].set(-cmplx.Conj(s) * g)
	return r[k].value()
}

// substitute sets d = y - y_old: R·y = g, of which y_old is without column k.
func (m *GMRES[T]) substitute(k int) {
	last := m.column(k)
	m.d[k] = m.g[k].value() / last[k].value()
	for i := k - 1; i >= 0; i-- {
		v := last[i].value() * m.d[k]
		for j := i + 1; j < k; j++ {
			v += m.column(j)[i].value() * m.d[j]
		}
		m.d[i] = -v / m.column(i)[i].value()
	}
}

// norms also tells what is seen of the operator.
func (m *GMRES[T]) norms(w *Workspace[T, T]) Norms {
	w.Seen(m.norm, max(m.large/m.least, 1))
	return Norms{Resid: m.resid, Grad: math.NaN()}
}
