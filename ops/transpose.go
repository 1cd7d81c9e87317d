package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Transpose reorders the axes of x: axis k of y is axis order[k] of x. Each axis keeps
// its layout, so nothing is sent.
func Transpose[T scalar.Scalar](ctx context.Context, x *dist.Space, order ...int) (linop.Operator[T], error) {
	if x == nil {
		return nil, errors.New("ops: transpose: no space given")
	}
	y, c, err := transposed(x, order)
	if err := dist.Agree(ctx, x.Comm(), "ops: transpose", err, order); err != nil {
		return nil, err
	}
	return linop.Func("ops: transpose", x, y, stridedCopy[T](c, false), stridedCopy[T](c.Flipped(), false))
}

// transposed returns the space with its axes in another order, and the copy of a
// block to it.
func transposed(x *dist.Space, order []int) (y *dist.Space, c device.Strided, err error) {
	r := x.Shape().NDim()
	to := slices.Repeat([]int{-1}, r) // where each axis of x goes
	if len(order) != r {
		return nil, c, fmt.Errorf("order %v has %d axes, the array has %d", order, len(order), r)
	}
	dims := make([]int, r)
	for k, axis := range order {
		a, _, err := axisOf(x, axis)
		if err != nil {
			return nil, c, err
		}
		if to[a] >= 0 {
			return nil, c, fmt.Errorf("order %v has axis %d twice", order, axis)
		}
		to[a], dims[k] = k, x.Shape().Dim(a)
	}
	l := x.Layout()
	for g, a := range l.Axes {
		if a != dist.NoAxis {
			l.Axes[g] = to[a]
		}
	}
	if y, err = x.Like(l, dims...); err != nil {
		return nil, c, err
	}
	c.Shape, c.Dst = y.LocalShape(), y.LocalShape().Strides()
	st := x.LocalShape().Strides()
	for a, k := range to {
		c.Src[k] = st[a]
	}
	return y, c, nil
}
