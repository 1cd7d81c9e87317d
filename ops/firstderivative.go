package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// FirstDerivative returns the first derivative along an axis of x, with step
// Δ = Sampling:
//
//	forward        y[i] = (x[i+1] - x[i]) / Δ
//	backward       y[i] = (x[i] - x[i-1]) / Δ
//	centered, 3    y[i] = (x[i+1] - x[i-1]) / 2Δ
//	centered, 5    y[i] = (x[i-2] - 8x[i-1] + 8x[i+1] - x[i+2]) / 12Δ
//
// Rows whose formula reaches beyond the axis are zero. With Edge the centered
// kinds use shorter formulas there.
func FirstDerivative[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int, o DerivativeOptions) (linop.Operator[T], error) {
	m, err := firstDerivative[T](x, axis, o)
	return newAxisOperator(ctx, "ops: first derivative", x, m, nil, err, o)
}

func firstDerivative[T scalar.Scalar](x *dist.Space, axis int, o DerivativeOptions) (m matrix[T], err error) {
	m, err = along[T](x, axis)
	if err = errors.Join(err, o.Validate()); err != nil {
		return m, err
	}
	n := m.rows
	if o.Edge && n < 2 {
		return m, fmt.Errorf("edge needs at least 2 samples, the axis has %d", n)
	}
	row := func(lo, hi, first int, c ...float64) {
		for i := range c {
			c[i] /= o.Sampling
		}
		m.stencil(lo, hi, first, c...)
	}
	switch o.Kind {
	case DerivativeForward:
		row(0, n-1, 0, -1, 1)
	case DerivativeBackward:
		row(1, n, -1, -1, 1)
	case DerivativeCentered:
		if o.Edge {
			row(0, 1, 0, -1, 1)
		}
		row(1, n-1, -1, -0.5, 0, 0.5)
		if o.Edge {
			row(n-1, n, -1, -1, 1)
		}
	case DerivativeCentered5:
		if o.Edge {
			row(0, 1, 0, -1, 1)
			row(1, min(2, n-1), -1, -0.5, 0, 0.5)
		}
		row(2, n-2, -2, 1./12, -2./3, 0, 2./3, -1./12)
		if o.Edge {
			row(max(2, n-2), n-1, -1, -0.5, 0, 0.5)
			row(n-1, n, -1, -1, 1)
		}
	}
	return m, nil
}
