package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Convolve1D filters along an axis of x with a compact filter whose sample
// offset lies at time zero:
//
//	y[i] = Σₖ h[k]·x[i+offset-k]
//
// with zeros beyond the ends. y has the length of x or of h, whichever is longer.
// Where the axis is split, ranks exchange as many rows as the filter has samples.
func Convolve1D[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int, h []T, offset int) (linop.Operator[T], error) {
	m, err := along[T](x, axis)
	if len(h) == 0 {
		err = errors.Join(err, errors.New("the filter has no samples"))
	} else if offset < 0 || offset >= len(h) {
		err = errors.Join(err, fmt.Errorf("offset is %d: samples of the filter are 0 to %d", offset, len(h)-1))
	}
	m.rows = max(m.cols, len(h))
	m.filter(h, offset)
	return newAxisOperator(ctx, "ops: convolve", x, m, nil, err, "filter ", h, " offset ", offset)
}

// filter adds the taps of a convolution.
func (m *matrix[T]) filter(h []T, offset int) {
	for k, c := range h {
		lo := max(k-offset, 0)
		m.add(lo, min(m.cols+k-offset, m.rows), lo+offset-k, 1, c)
	}
}
