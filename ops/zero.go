package ops

import (
	"context"
	"errors"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

type zero[D, R scalar.Scalar] struct{ linop.Spaces }

// NewZero returns y = 0 for every x. It does not communicate.
func NewZero[D, R scalar.Scalar](x, y *dist.Space) (linop.Map[D, R], error) {
	if x == nil || y == nil {
		return nil, errors.New("ops: zero: no space given")
	}
	return zero[D, R]{linop.Spaces{Dom: x, Rng: y}}, nil
}

func (zero[D, R]) Forward(_ context.Context, dst dist.Array[R], _ dist.Array[D]) error {
	dist.Zero(dst)
	return nil
}

func (zero[D, R]) Adjoint(_ context.Context, dst dist.Array[D], _ dist.Array[R]) error {
	dist.Zero(dst)
	return nil
}
