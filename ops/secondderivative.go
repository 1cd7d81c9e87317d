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
// the axis are zero; with Edge the centered kind uses the nearest formula there.
func SecondDerivative[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int, d DerivativeOptions) (linop.Operator[T], error) {
	a, n, err := axisOf(x, axis)
	err = errors.Join(err, d.Validate())
	var m matrix[T]
	if err == nil {
		m, err = secondDerivative[T](n, d, 1)
	}
	return newAlong(ctx, "ops: second derivative", x, a, m, nil, err, d)
}

func secondDerivative[T scalar.Scalar](n int, d DerivativeOptions, weight float64) (matrix[T], error) {
	m := matrix[T]{rows: n, cols: n}
	c := weight / (d.sampling() * d.sampling())
	if d.Order == 5 {
		return m, errors.New("order is 5: the second derivative has order 3 only")
	}
	if d.Edge && d.Kind == DerivativeCentered && n < 3 {
		return m, fmt.Errorf("edge needs at least 3 samples, the axis has %d", n)
	}
	row := func(lo, hi, first int) { m.add(lo, hi, stencil[T](lo, first, c, -2*c, c)...) }
	switch d.Kind {
	case DerivativeForward:
		row(0, n-2, 0)
	case DerivativeBackward:
		row(2, n, -2)
	default:
		if d.Edge {
			row(0, 1, 0)
		}
		row(1, n-1, -1)
		if d.Edge {
			row(n-1, n, -2)
		}
	}
	return m, nil
}
