package ops

import (
	"context"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Flip reverses an axis: y[i] = x[n-1-i].
func Flip[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int) (linop.Operator[T], error) {
	a, n, err := axisOf(x, axis)
	m := matrix[T]{rows: n, cols: n}
	m.add(0, n, n-1, -1, 1)
	return newAxisOperator(ctx, "ops: flip", x, a, m, nil, err)
}
