package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Resize cuts an axis off after n rows, or adds rows of zeros up to n: y[i] = x[i]. It
// is the identity of PyLops with two sizes.
func Resize[T scalar.Scalar](ctx context.Context, x *dist.Space, axis, n int) (linop.Operator[T], error) {
	a, have, err := axisOf(x, axis)
	if n < 0 {
		err = errors.Join(err, fmt.Errorf("the new extent is %d, must not be negative", n))
	}
	m := matrix[T]{rows: n, cols: have}
	m.add(0, min(n, have), 0, 1, 1)
	return newAxisOperator(ctx, "ops: resize", x, a, m, nil, err, "to ", n)
}
