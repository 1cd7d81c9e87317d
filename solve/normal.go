package solve

import (
	"context"
	"fmt"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/trace"
)

// normal is Aᴴ·A + damp²·I with one vector between.
type normal[D, R scalar.Scalar] struct {
	linop.Spaces
	a    linop.Map[D, R]
	damp D // damp²
	y    dist.Array[R]
}

// Normal returns the normal equations of a least-squares problem, for CG:
//
//	(AᴴA + damp²·I)·x = Aᴴb
//
// CGLS solves the same with less rounding and shows the residual of A·x = b; CG
// on these takes less memory where there are more data than unknowns, because
// it keeps one vector of data instead of two. It is collective.
func Normal[D, R scalar.Scalar](ctx context.Context, p Problem[D, R], damp float64) (Problem[D, D], error) {
	n := &normal[D, R]{a: p.A, damp: fromFloat[D](damp * damp)}
	if linop.H(p.A) != nil {
		n.Dom, n.Rng = p.A.Domain(), p.A.Domain()
	}
	var b dist.Array[D]
	err := p.check(n.Dom, damp)
	if err == nil {
		if b, err = dist.New[D](n.Dom); err == nil {
			n.y, err = dist.New[R](p.A.Range())
		}
	}
	if g := p.group(n.Dom); g != nil {
		err = comm.Agree(ctx, g, err)
	}
	if err == nil {
		err = p.A.Adjoint(ctx, b, p.B)
	}
	if err != nil {
		return Problem[D, D]{}, fmt.Errorf("solve: normal equations: %w", err)
	}
	return Problem[D, D]{A: n, B: b}, nil
}

// Forward implements linop.Operator.
func (n *normal[D, R]) Forward(ctx context.Context, dst, src dist.Array[D]) error {
	if err := dist.Check("solve: normal equations", "forward", &dst, n.Rng, &src, n.Dom); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, "solve: normal equations", "forward").End()
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
func (n *normal[D, R]) Adjoint(ctx context.Context, dst, src dist.Array[D]) error {
	return n.Forward(ctx, dst, src)
}
