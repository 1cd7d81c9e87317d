package solve

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// normal is Aᴴ·A + damp²·I with one vector between.
type normal[T scalar.Scalar] struct {
	linop.Spaces
	a    linop.Operator[T]
	damp T
	y    dist.Array[T]
}

// Normal returns the normal equations of a least-squares problem, for CG:
//
//	(AᴴA + damp²·I)·x = Aᴴb
//
// CGLS solves the same with less rounding; a few more unknowns than data, or an
// A whose square is cheaper than A, are where this wins.
func Normal[T scalar.Scalar](ctx context.Context, p Problem[T]) (Problem[T], error) {
	if p.A == nil {
		return p, errors.New("solve: normal equations: no operator given")
	}
	b, err := dist.New[T](p.A.Domain())
	if err != nil {
		return p, err
	}
	if err := p.check(b, false); err != nil {
		return p, fmt.Errorf("solve: normal equations: %w", err)
	}
	n := &normal[T]{Spaces: linop.Spaces{Dom: p.A.Domain(), Rng: p.A.Domain()}, a: p.A, damp: num[T](p.Damp * p.Damp)}
	if n.y, err = dist.New[T](p.A.Range()); err != nil {
		return p, err
	}
	return Problem[T]{A: n, B: b}, p.A.Adjoint(ctx, b, p.B)
}

func (n *normal[T]) Forward(ctx context.Context, dst, src dist.Array[T]) error {
	if err := n.a.Forward(ctx, n.y, src); err != nil {
		return err
	}
	if err := n.a.Adjoint(ctx, dst, n.y); err != nil {
		return err
	}
	if n.damp != 0 {
		dist.Axpby(n.damp, src, 1, dst)
	}
	return nil
}

func (n *normal[T]) Adjoint(ctx context.Context, dst, src dist.Array[T]) error {
	return n.Forward(ctx, dst, src)
}
