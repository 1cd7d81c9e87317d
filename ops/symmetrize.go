package ops

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Symmetrize mirrors an axis about its first sample: y has 2n-1 rows, y[n-1+i] = y[n-1-i] = x[i].
func Symmetrize[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int) (linop.Operator[T], error) {
	m, err := along[T](x, axis)
	if n := m.cols; n > math.MaxInt/2 {
		err = fmt.Errorf("an axis of %d rows becomes longer than an int can count", n)
	} else {
		m.rows = max(2*n-1, 0)
		m.add(0, n-1, n-1, -1, 1)
		m.add(max(n-1, 0), 2*n-1, 0, 1, 1)
	}
	return newAxisOperator(ctx, "ops: symmetrize", x, m, nil, err)
}
