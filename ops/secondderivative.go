package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// SecondDerivative returns the second derivative along an axis of x:
//
//	y[i] = (x[i+k-1] - 2x[i+k] + x[i+k+1]) / Δ²
//
// with k = 0 centered, 1 forward, -1 backward. Rows whose formula reaches beyond
// the axis are zero. With Edge the centered kind uses the nearest formula there.
func SecondDerivative[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int, o DerivativeOptions) (linop.Operator[T], error) {
	m, err := secondDerivative[T](x, axis, o, 1)
	return newAxisOperator(ctx, "ops: second derivative", x, m, nil, err, o)
}

func secondDerivative[T scalar.Scalar](x *dist.Space, axis int, o DerivativeOptions, weight float64) (m matrix[T], err error) {
	m, err = along[T](x, axis)
	if err = errors.Join(err, o.Validate()); err != nil {
		return m, err
	}
	n, c := m.rows, weight/(o.Sampling*o.Sampling)
	if o.Kind == DerivativeCentered5 {
		return m, errors.New("the kind is DerivativeCentered5: second derivatives have three points only")
	}
	if o.Edge && n < 3 {
		return m, fmt.Errorf("edge needs at least 3 samples, the axis has %d", n)
	}
	row := func(lo, hi, first int) { m.stencil(lo, hi, first, c, -2*c, c) }
	switch o.Kind {
	case DerivativeForward:
		row(0, n-2, 0)
	case DerivativeBackward:
		row(2, n, -2)
	default:
		if o.Edge {
			row(0, 1, 0)
		}
		row(1, n-1, -1)
		if o.Edge {
			row(n-1, n, -2)
		}
	}
	return m, nil
}
