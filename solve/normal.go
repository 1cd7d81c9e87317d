package solve

import (
	"context"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// normal is Aᴴ·A + damp²·I with one vector between.
type normal[T scalar.Scalar] struct {
	linop.Spaces
	a    linop.Operator[T]
	damp T // damp²
	y    dist.Array[T]
}

// Normal returns the normal equations of a least-squares problem, for CG:
//
//	(AᴴA + damp²·I)·x = Aᴴb
//
// CGLS solves the same with less rounding and shows the residual of A·x = b; CG
// on these takes less memory where there are more data than unknowns, because
// it keeps one vector of data instead of two. It is collective.
func Normal[T scalar.Scalar](ctx context.Context, p Problem[T]) (Problem[T], error) {
	n := &normal[T]{a: p.A, damp: num[T](p.Damp * p.Damp)}
	if linop.H(p.A) != nil {
		n.Dom, n.Rng = p.A.Domain(), p.A.Domain()
	}
	var b dist.Array[T]
	err := p.ready(ctx, n.Dom, false, []*dist.Array[T]{&b}, []*dist.Array[T]{&n.y})
	if err == nil {
		err = p.A.Adjoint(ctx, b, p.B)
	}
	if err != nil {
		return p, fmt.Errorf("solve: normal equations: %w", err)
	}
	return Problem[T]{A: n, B: b}, nil
}

// Forward implements linop.Operator.
func (n *normal[T]) Forward(ctx context.Context, dst, src dist.Array[T]) error {
	if err := dist.Check("solve: normal equations", "forward", &dst, n.Rng, &src, n.Dom); err != nil {
		return err
	}
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

// Adjoint is Forward: the operator is Hermitian.
func (n *normal[T]) Adjoint(ctx context.Context, dst, src dist.Array[T]) error {
	return n.Forward(ctx, dst, src)
}
