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

// NewResize cuts an axis off after n rows or fills it up with zeros: y[i] = x[i].
// It is the identity of PyLops with two sizes.
func NewResize[T scalar.Scalar](ctx context.Context, x *dist.Space, axis, n int) (linop.Operator[T], error) {
	a, have, err := axisOf(x, axis)
	if n < 0 {
		err = errors.Join(err, errors.New("the new extent is negative"))
	}
	m := matrix[T]{rows: n, cols: have}
	m.add(0, min(n, have), tap[T]{0, 1, 1})
	return newAlong(ctx, "ops: resize", x, a, m, nil, err, "to ", n)
}

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
