package ops

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Pad adds zeros at the ends of axes: before[a] rows in front of axis a, after[a]
// behind it. Rows stay on their rank, and the zeros lie on the first and the last
// rank, so nothing is sent. The adjoint removes them.
func Pad[T scalar.Scalar](ctx context.Context, x *dist.Space, before, after []int) (linop.Operator[T], error) {
	if x == nil || x.Parts() != nil {
		return nil, errors.New("ops: pad: no space given, or a stack")
	}
	y, c, err := padded(x, before, after)
	if err := dist.Agree(ctx, x.Comm(), "ops: pad", err, before, after); err != nil {
		return nil, err
	}
	return linop.Func("ops: pad", x, y, stridedCopy[T](c, true), stridedCopy[T](c.Flipped(), false))
}

// padded returns the space with more rows, and the copy of a block to it.
func padded(x *dist.Space, before, after []int) (y *dist.Space, c device.Strided, err error) {
	r := x.Shape().NDim()
	if len(before) != r || len(after) != r {
		return nil, c, fmt.Errorf("%d and %d paddings for an array of %d axes", len(before), len(after), r)
	}
	y = x
	for a := range r {
		if before[a] < 0 || after[a] < 0 {
			return nil, c, fmt.Errorf("paddings %d and %d of axis %d must not be negative", before[a], after[a], a)
		}
		if n := x.Shape().Dim(a); before[a] > math.MaxInt-n || after[a] > math.MaxInt-n-before[a] {
			return nil, c, fmt.Errorf("paddings %d and %d of axis %d, which has %d rows: the sum is more than an int can count", before[a], after[a], a, n)
		}
		_, counts := x.SplitBy(a)
		if counts = slices.Clone(counts); counts != nil {
			counts[0] += before[a]
			counts[len(counts)-1] += after[a]
		}
		if y, err = resized(y, a, x.Shape().Dim(a)+before[a]+after[a], counts); err != nil {
			return nil, c, err
		}
	}
	me := x.Comm().Rank()
	from, to := x.Box(me), y.Box(me)
	c = device.Strided{Shape: x.LocalShape(), Dst: y.LocalShape().Strides(), Src: x.LocalShape().Strides()}
	for a := range r {
		c.DstAt += (from.Lo[a] + before[a] - to.Lo[a]) * c.Dst[a]
	}
	return y, c, nil
}
