package linop

import (
	"context"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/trace"
)

// H returns the adjoint aᴴ: Forward and Adjoint change places. H(H(a)) is a. H of
// a nil operator is nil, because H returns no error. Every function that returns
// one, T included, refuses a nil operator.
func H[D, R scalar.Scalar](a Map[D, R]) Map[R, D] {
	if isNil(a) {
		return nil
	}
	if h, ok := a.(*adjoint[R, D]); ok {
		return h.a
	}
	return &adjoint[D, R]{a}
}

type adjoint[D, R scalar.Scalar] struct{ a Map[D, R] }

func (h *adjoint[D, R]) Domain() *dist.Space { return h.a.Range() }
func (h *adjoint[D, R]) Range() *dist.Space  { return h.a.Domain() }

func (h *adjoint[D, R]) Forward(ctx context.Context, dst dist.Array[D], src dist.Array[R]) error {
	return h.a.Adjoint(ctx, dst, src)
}

func (h *adjoint[D, R]) Adjoint(ctx context.Context, dst dist.Array[R], src dist.Array[D]) error {
	return h.a.Forward(ctx, dst, src)
}

// SetAdjoint implements Directed.
func (h *adjoint[D, R]) SetAdjoint(adjoint bool) { setAdjoint(h.a, adjoint) }

// T returns the transpose aᵀ = conj(aᴴ). For real elements it is H(a).
func T[E scalar.Scalar](a Operator[E]) (Operator[E], error) {
	if err := valid(a); err != nil {
		return nil, fmt.Errorf("linop: transpose: %w", err)
	}
	if !scalar.Of[E]().IsComplex() {
		return H(a), nil
	}
	return Conj(H(a))
}

// Conj returns the operator with conjugated elements: conj(a)·x = conj(a·conj(x)).
// For real elements it is a itself, and Conj of a Conj is what that was made of.
func Conj[E scalar.Scalar](a Operator[E]) (Operator[E], error) {
	if err := valid(a); err != nil {
		return nil, fmt.Errorf("linop: conjugate: %w", err)
	}
	if !scalar.Of[E]().IsComplex() {
		return a, nil
	}
	if c, ok := a.(*conjugate[E]); ok {
		return c.a, nil
	}
	c := &conjugate[E]{Spaces: Spaces{a.Domain(), a.Range()}, a: a}
	var err error
	if c.x, err = dist.New[E](a.Domain()); err == nil {
		c.y, err = dist.New[E](a.Range())
	}
	if err != nil {
		return nil, fmt.Errorf("linop: conjugate: %w", err)
	}
	return c, nil
}

type conjugate[E scalar.Scalar] struct {
	Spaces
	a    Operator[E]
	x, y dist.Array[E] // arguments, conjugated: src must be left alone
}

func (c *conjugate[E]) Forward(ctx context.Context, dst, src dist.Array[E]) error {
	if err := dist.Check("linop: conjugate", "forward", &dst, c.Rng, &src, c.Dom); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, "linop: conjugate", "forward").End()
	dist.Conj(c.x, src)
	if err := c.a.Forward(ctx, dst, c.x); err != nil {
		return err
	}
	dist.Conj(dst, dst)
	return nil
}

func (c *conjugate[E]) Adjoint(ctx context.Context, dst, src dist.Array[E]) error {
	if err := dist.Check("linop: conjugate", "adjoint", &dst, c.Dom, &src, c.Rng); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, "linop: conjugate", "adjoint").End()
	dist.Conj(c.y, src)
	if err := c.a.Adjoint(ctx, dst, c.y); err != nil {
		return err
	}
	dist.Conj(dst, dst)
	return nil
}
