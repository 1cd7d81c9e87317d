package solve

import (
	"context"
	"errors"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// parts is a complex number whose parts a message fills and a checkpoint saves.
type parts struct{ re, im float64 }

func (p parts) value() complex128 { return complex(p.re, p.im) }

func (p *parts) set(v complex128) { p.re, p.im = real(v), imag(v) }

// named are the two numbers as checkpoints know them.
func (p *parts) named(name string) []NamedNumber {
	return []NamedNumber{{"real part of " + name, &p.re}, {"imaginary part of " + name, &p.im}}
}

// AddComplex sets v = v + a·x. Where the elements are real, it takes the real part
// of a.
func (v *Vector[T]) AddComplex(a complex128, x *Vector[T]) { v.CombineComplex(1, a, x) }

// CombineComplex sets v = b·v + a·x, as AddComplex does.
func (v *Vector[T]) CombineComplex(b, a complex128, x *Vector[T]) {
	if v.writable() {
		dist.Axpby(scalar.From[T](a), x.Array, scalar.From[T](b), v.Array)
	}
}

// queueAddNorm2 sets v = v + a·x, in one pass over memory, and has the next Reduce
// set to to ‖v‖².
func (v *Vector[T]) queueAddNorm2(a complex128, x *Vector[T], to *float64) {
	v.writable()
	if to := v.w.enqueue(to, nil); to != nil {
		*to = dist.AddAxpyNorm2(v.w.several, scalar.From[T](a), x.Array, v.Array)
	}
}

// roomFor makes room for n numbers in one message, so that no step allocates. It
// must be called in Init.
func (s *shared) roomFor(x *dist.Space, n int) {
	if cap(s.queue) >= n {
		return
	}
	s.several.Free()
	s.queue, s.several = make([]queued, 0, n), dist.NewReduction(x, n+numVotes)
}

// Square says that the method needs an operator that maps a space to itself. The
// problem is refused if it does not, or if there is damping. It must be called in
// Init.
func (w *Workspace[D, R]) Square() {
	w.Hermitian() // the same refusals
	w.hermitian = false
}

// orthonormal holds orthonormal vectors, one more after each step.
type orthonormal[T scalar.Scalar] struct {
	s      *shared
	v      []*Vector[T]
	h      []parts // coefficients of the last vector that was made orthogonal
	again  []parts // what the second round found
	before float64 // ‖y‖² before the first round
	yy     float64 // ‖y‖² before the second
}

// newOrthonormal is one that needs no memory for the coefficients of n vectors.
func newOrthonormal[T scalar.Scalar](s *shared, n int) orthonormal[T] {
	return orthonormal[T]{s: s, h: make([]parts, n), again: make([]parts, n)}
}

// orthogonalize sets y = y - V·(Vᴴy) with the first n vectors, twice, and leaves the
// coefficients in h. It returns the length of y. It is collective: two messages.
func (b *orthonormal[T]) orthogonalize(ctx context.Context, y *Vector[T], n int) float64 {
	b.round(ctx, y, n, b.h, &b.before)
	b.round(ctx, y, n, b.again, &b.yy)
	left := b.yy
	for i, c := range b.again[:n] {
		b.h[i].re += c.re
		b.h[i].im += c.im
		left -= c.re*c.re + c.im*c.im
	}
	if left < 0.5*b.yy { // y was in the span: the difference is rounding
		left = y.Norm2(ctx)
	}
	return math.Sqrt(left)
}

// round measures y and its products with n vectors in one message, and subtracts.
func (b *orthonormal[T]) round(ctx context.Context, y *Vector[T], n int, h []parts, yy *float64) {
	for i, v := range b.v[:n] {
		v.QueueComplexDot(y, &h[i].re, &h[i].im)
	}
	y.QueueNorm2(yy)
	b.s.Reduce(ctx)
	for i, v := range b.v[:n] {
		y.AddComplex(-h[i].value(), v)
	}
}

// make returns a new vector, which free gives back.
func (b *orthonormal[T]) make(x *dist.Space) *Vector[T] {
	v := &Vector[T]{w: b.s}
	if b.s.err == nil {
		v.Array, b.s.err = dist.New[T](x)
		b.s.unagreed = true
	}
	b.s.vectors = append(b.s.vectors, v)
	return v
}

// errFull means that a basis spans its whole space.
var errFull = errors.New("the basis is full")

// grow makes y the next vector, and returns its length before it was scaled. Where
// nothing is left of y beside rounding, of numbers as large as scale, that length is
// 0 and the next vector is a random one. It returns errFull if there is none. It is
// collective: two messages.
func (b *orthonormal[T]) grow(ctx context.Context, y *Vector[T], scale float64) (float64, error) {
	n := len(b.v)
	b.room(n + 1)
	size := b.s.Finite("the length of a vector", b.orthogonalize(ctx, y, n))
	scale = max(scale, math.Sqrt(b.before)) // of the first vector too, when nothing else is known
	if size <= 10*epsilon[T, T]()*scale && b.s.err == nil {
		size = 0
		random, err := dist.Random[T](ctx, y.Space(), uint64(n)+2)
		if err != nil {
			return 0, err
		}
		dist.Copy(y.Array, random)
		random.Free()
		h := b.h // the coefficients of y, which the caller wants
		b.h = make([]parts, len(h))
		left := b.orthogonalize(ctx, y, n)
		b.h = h
		if left <= math.Sqrt(epsilon[T, T]()) { // of a vector of about √N
			return 0, errFull
		}
		y.Scale(1 / left)
	} else {
		y.Scale(1 / size)
	}
	b.v = append(b.v, y)
	return size, b.s.Err()
}

// room makes room for the coefficients of n vectors.
func (b *orthonormal[T]) room(n int) {
	for len(b.h) < n {
		b.h, b.again = append(b.h, parts{}), append(b.again, parts{})
	}
}
