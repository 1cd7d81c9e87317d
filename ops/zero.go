package ops

import (
	"context"
	"errors"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

type zero[D, R scalar.Scalar] struct{ linop.Spaces }

// Zero returns y = 0 for every x. It does not communicate.
func Zero[D, R scalar.Scalar](x, y *dist.Space) (linop.Map[D, R], error) {
	if x == nil || y == nil {
		return nil, errors.New("ops: zero: no space given")
	}
	return zero[D, R]{linop.Spaces{Dom: x, Rng: y}}, nil
}

func (o zero[D, R]) Forward(_ context.Context, dst dist.Array[R], src dist.Array[D]) error {
	if err := dist.Check("ops: zero", "forward", &dst, o.Rng, &src, o.Dom); err != nil {
		return err
	}
	dist.Zero(dst)
	return nil
}

func (o zero[D, R]) Adjoint(_ context.Context, dst dist.Array[D], src dist.Array[R]) error {
	if err := dist.Check("ops: zero", "adjoint", &dst, o.Dom, &src, o.Rng); err != nil {
		return err
	}
	dist.Zero(dst)
	return nil
}
