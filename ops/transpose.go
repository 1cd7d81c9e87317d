package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

type transpose[T scalar.Scalar] struct {
	linop.Spaces
	forward, adjoint device.Strided
}

// Transpose reorders the axes of x: axis k of y is axis order[k] of x. Each axis keeps
// its layout, so nothing is sent.
func Transpose[T scalar.Scalar](ctx context.Context, x *dist.Space, order ...int) (linop.Operator[T], error) {
	if x == nil {
		return nil, errors.New("ops: transpose: no space given")
	}
	o := &transpose[T]{}
	err := o.build(x, slices.Clone(order))
	if err := dist.Agree(ctx, x.Comm(), "ops: transpose", err, order); err != nil {
		return nil, err
	}
	return o, nil
}

func (o *transpose[T]) build(x *dist.Space, order []int) error {
	r := x.Shape().NDim()
	to := slices.Repeat([]int{-1}, r) // where each axis of x goes
	if len(order) != r {
		return fmt.Errorf("order %v has %d axes, the array has %d", order, len(order), r)
	}
	dims := make([]int, r)
	for k, axis := range order {
		a, _, err := axisOf(x, axis)
		if err != nil {
			return err
		}
		if to[a] >= 0 {
			return fmt.Errorf("order %v has axis %d twice", order, axis)
		}
		to[a], dims[k] = k, x.Shape().Dim(a)
	}
	l := x.Layout()
	l.Mask = nil
	if l.Replicate != dist.Scattered {
		l.Grid, l.Axes, l.Counts = nil, nil, nil
	} else {
		l.Axes = slices.Clone(l.Axes)
		for g, a := range l.Axes {
			if a != dist.NoAxis {
				l.Axes[g] = to[a]
			}
		}
	}
	y, err := x.Like(l, dims...)
	if err != nil {
		return err
	}
	o.Spaces = linop.Spaces{Dom: x, Rng: y}
	o.forward.Shape, o.forward.Dst = y.LocalShape(), y.LocalShape().Strides()
	st := x.LocalShape().Strides()
	for a, k := range to {
		o.forward.Src[k] = st[a]
	}
	o.adjoint = o.forward
	o.adjoint.Dst, o.adjoint.Src = o.forward.Src, o.forward.Dst
	return nil
}

func (o *transpose[T]) Forward(_ context.Context, dst, src dist.Array[T]) error {
	if err := dist.Check("ops: transpose", "forward", &dst, o.Rng, &src, o.Dom); err != nil {
		return err
	}
	array.CopyND(dst.Local(), src.Local(), &o.forward, false)
	return nil
}

func (o *transpose[T]) Adjoint(_ context.Context, dst, src dist.Array[T]) error {
	if err := dist.Check("ops: transpose", "adjoint", &dst, o.Dom, &src, o.Rng); err != nil {
		return err
	}
	array.CopyND(dst.Local(), src.Local(), &o.adjoint, false)
	return nil
}
