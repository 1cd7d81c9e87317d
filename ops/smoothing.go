package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Smoothing1D replaces each sample by the mean of the n samples around it, with zeros
// beyond the ends. An even n counts as n+1, as in PyLops.
func Smoothing1D[T scalar.Scalar](ctx context.Context, x *dist.Space, axis, n int) (linop.Operator[T], error) {
	m, err := along[T](x, axis)
	h, e := meanFilter[T](n, m.rows)
	m.filter(h, len(h)/2)
	return newAxisOperator(ctx, "ops: smoothing", x, m, nil, errors.Join(err, e), "length ", n)
}

// Smoothing2D replaces each sample by the mean of the n[0] × n[1] samples around it
// along two axes.
func Smoothing2D[T scalar.Scalar](ctx context.Context, x *dist.Space, axes, n [2]int) (linop.Operator[T], error) {
	first, err := Smoothing1D[T](ctx, x, axes[0], n[0])
	if err != nil {
		return nil, err
	}
	second, err := Smoothing1D[T](ctx, x, axes[1], n[1])
	return compose(second, first, err)
}

// meanFilter returns the filter of a mean over n samples, or n+1 if n is even. It is
// cut to the samples that can reach from one row to another.
func meanFilter[T scalar.Scalar](n, rows int) ([]T, error) {
	if n < 1 {
		return nil, fmt.Errorf("length %d: must be at least 1", n)
	}
	n |= 1
	half := min(n/2, max(rows-1, 0))
	const perSample = 256 // bytes that the matrix of a filter takes, about
	if err := device.CheckHostMemory(half, perSample); err != nil {
		return nil, fmt.Errorf("length %d: %w", n, err)
	}
	h := make([]T, 2*half+1)
	for i := range h {
		h[i] = scalar.From[T](complex(1/float64(n), 0))
	}
	return h, nil
}
