package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Restriction selects rows of an axis: y[k] = x[index[k]]. With a sorted index rows
// stay on their ranks. In any other order the result is split evenly, and rows are
// sent.
func Restriction[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int, index []int) (linop.Operator[T], error) {
	m, err := along[T](x, axis)
	m.rows = len(index)
	var counts []int
	sorted := true
	for k, i := range index {
		if i < 0 || i >= m.cols {
			err = errors.Join(err, fmt.Errorf("index %d is %d: rows are 0 to %d", k, i, m.cols-1))
			break
		}
		sorted = sorted && (k == 0 || index[k-1] <= i)
		if e := len(m.taps) - 1; e >= 0 && m.taps[e].last()+1 == i {
			m.taps[e].hi++
		} else {
			m.add(k, k+1, i, 1, 1)
		}
	}
	if err == nil && sorted {
		counts = countsOf(x, m.axis, m.rows, func(k int) int { return index[k] })
	}
	return newAxisOperator(ctx, "ops: restriction", x, m, counts, err, "index ", index)
}
