package ops

import (
	"context"
	"errors"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

type identity[T scalar.Scalar] struct{ linop.Spaces }

// NewIdentity returns y = x. It does not communicate.
func NewIdentity[T scalar.Scalar](x *dist.Space) (linop.Operator[T], error) {
	if x == nil {
		return nil, errors.New("ops: identity: no space given")
	}
	return identity[T]{linop.Spaces{Dom: x, Rng: x}}, nil
}

func (identity[T]) Forward(_ context.Context, dst, src dist.Array[T]) error {
	dist.Copy(dst, src)
	return nil
}

func (identity[T]) Adjoint(_ context.Context, dst, src dist.Array[T]) error {
	dist.Copy(dst, src)
	return nil
}
