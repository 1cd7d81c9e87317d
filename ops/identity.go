package ops

import (
	"context"
	"errors"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

type identity[T scalar.Scalar] struct{ linop.Spaces }

// Identity returns y = x. It does not communicate.
func Identity[T scalar.Scalar](x *dist.Space) (linop.Operator[T], error) {
	if x == nil {
		return nil, errors.New("ops: identity: no space given")
	}
	return identity[T]{linop.Spaces{Dom: x, Rng: x}}, nil
}

func (o identity[T]) Forward(_ context.Context, dst, src dist.Array[T]) error {
	if err := dist.Check("ops: identity", "forward", &dst, o.Rng, &src, o.Dom); err != nil {
		return err
	}
	dist.Copy(dst, src)
	return nil
}

func (o identity[T]) Adjoint(_ context.Context, dst, src dist.Array[T]) error {
	if err := dist.Check("ops: identity", "adjoint", &dst, o.Dom, &src, o.Rng); err != nil {
		return err
	}
	dist.Copy(dst, src)
	return nil
}
