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
	m, err := along[T](x, axis)
	if n < 0 {
		err = errors.Join(err, fmt.Errorf("the new extent is %d, must not be negative", n))
	}
	m.rows = n
	m.add(0, min(n, m.cols), 0, 1, 1)
	return newAxisOperator(ctx, "ops: resize", x, m, nil, err, "to ", n)
}
