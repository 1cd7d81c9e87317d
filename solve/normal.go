package solve

import (
	"context"
	"fmt"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Normal returns the normal equations of a least-squares problem, for CG:
//
//	(AᴴA + damp²·I)·x = Aᴴb
//
// CGLS solves the same with less rounding and shows the residual of A·x = b; CG
// on these takes less memory where there are more data than unknowns, because
// it keeps one vector of data instead of two. It is collective.
func Normal[D, R scalar.Scalar](ctx context.Context, p Problem[D, R], damp float64) (n Problem[D, D], err error) {
	var x *dist.Space
	if linop.H(p.A) != nil {
		x = p.A.Domain()
	}
	var y dist.Array[R]
	if err = p.check(x, damp, false); err == nil {
		if n.B, err = dist.New[D](x); err == nil {
			y, err = dist.New[R](p.A.Range())
		}
	}
	if g := p.group(x); g != nil {
		err = comm.Agree(ctx, g, err)
	}
	if err == nil {
		err = p.A.Adjoint(ctx, n.B, p.B)
	}
	if err != nil {
		return Problem[D, D]{}, fmt.Errorf("solve: normal equations: %w", err)
	}
	apply := func(ctx context.Context, dst, src dist.Array[D]) error {
		if err := p.A.Forward(ctx, y, src); err != nil {
			return err
		}
		err := p.A.Adjoint(ctx, dst, y)
		if err == nil && damp != 0 {
			dist.Axpby(fromFloat[D](damp*damp), src, 1, dst)
		}
		return err
	}
	n.A, err = linop.Func("solve: normal equations", x, x, apply, apply)
	return n, err
}
