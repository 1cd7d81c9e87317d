package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// NewPad puts zeros around: before[a] rows in front of each axis a, after[a]
// behind it. Rows stay on their rank; the zeros are on the first and last.
func NewPad[T scalar.Scalar](ctx context.Context, x *dist.Space, before, after []int) (linop.Operator[T], error) {
	if x == nil {
		return nil, errors.New("ops: pad: no space given")
	}
	r := x.Shape().Rank()
	var err error
	if len(before) != r || len(after) != r {
		err = fmt.Errorf("%d and %d paddings for an array of %d axes", len(before), len(after), r)
	}
	for a := 0; err == nil && a < r; a++ {
		if before[a] < 0 || after[a] < 0 {
			err = fmt.Errorf("paddings %d and %d of axis %d must not be negative", before[a], after[a], a)
		}
	}
	if err := dist.Agree(ctx, x.Comm(), "ops: pad", err, before, after); err != nil {
		return nil, err
	}
	parts := []linop.Operator[T]{}
	y := x
	for a := range r {
		n := y.Shape().Dim(a)
		if before[a]+after[a] == 0 {
			continue
		}
		m := matrix[T]{rows: n + before[a] + after[a], cols: n}
		m.add(before[a], before[a]+n, tap[T]{0, 1, 1})
		_, counts := y.SplitBy(a)
		if counts != nil {
			counts = append([]int(nil), counts...)
			counts[0] += before[a]
			counts[len(counts)-1] += after[a]
		}
		p, err := newAlong(ctx, "ops: pad", y, a, m, counts, nil)
		if err != nil {
			return nil, err
		}
		parts, y = append(parts, p), p.Range()
	}
	if len(parts) == 0 {
		return NewIdentity[T](x)
	}
	op := parts[0]
	for _, p := range parts[1:] {
		if op, err = linop.Compose(p, op); err != nil {
			return nil, err
		}
	}
	return op, nil
}
