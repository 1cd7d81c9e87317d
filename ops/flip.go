package ops

import (
	"context"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Flip reverses an axis: y[i] = x[n-1-i].
func Flip[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int) (linop.Operator[T], error) {
	m, err := along[T](x, axis)
	m.add(0, m.cols, m.cols-1, -1, 1)
	return newAxisOperator(ctx, "ops: flip", x, m, nil, err)
}
