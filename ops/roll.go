package ops

import (
	"context"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Roll shifts the rows of an axis cyclically: y[(i+shift) mod n] = x[i].
func Roll[T scalar.Scalar](ctx context.Context, x *dist.Space, axis, shift int) (linop.Operator[T], error) {
	m, err := along[T](x, axis)
	if n := m.cols; n > 0 {
		s := shift % n
		if s < 0 {
			s += n
		}
		m.add(0, s, n-s, 1, 1)
		m.add(s, n, 0, 1, 1)
	}
	return newAxisOperator(ctx, "ops: roll", x, m, nil, err, "shift ", shift)
}
