package ops

import (
	"context"
	"fmt"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

type sumAxis[T scalar.Scalar] struct {
	linop.Spaces
	group           dist.AxisGroup // ranks that share the axis
	outer, n, inner int
	spread          device.Strided
}

// Sum adds up the rows of an axis: y[.., ..] = Σᵢ x[.., i, ..]. The result does not
// have that axis. Where the axis is split, all its ranks get the sum, in one message.
// The adjoint copies a row to all rows.
func Sum[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int) (linop.Operator[T], error) {
	a, _, err := axisOf(x, axis)
	if x == nil {
		return nil, fmt.Errorf("ops: sum: %w", err)
	}
	o := &sumAxis[T]{Spaces: linop.Spaces{Dom: x}}
	if err == nil {
		o.Rng, err = x.DropAxis(a)
	}
	if err := dist.Agree(ctx, x.Comm(), "ops: sum", err, "axis ", axis, " of ", x.Shape()); err != nil {
		return nil, err
	}
	o.outer, o.n, o.inner = x.LocalShape().Around(a)
	o.spread = device.Strided{Shape: shape.Of(o.outer, o.n, o.inner)}
	o.spread.Dst = o.spread.Shape.Strides()
	o.spread.Src[0], o.spread.Src[2] = o.inner, 1
	if o.group, err = x.AxisGroup(ctx, a); err != nil {
		return nil, err
	}
	return o, nil
}

func (o *sumAxis[T]) Forward(ctx context.Context, dst, src dist.Array[T]) error {
	if err := dist.Check("ops: sum", "forward", &dst, o.Rng, &src, o.Dom); err != nil {
		return err
	}
	y := dst.Local()
	array.SumAxis(y, src.Local(), o.outer, o.n, o.inner)
	return dist.SumOver(ctx, o.group, y, dist.LabelForward)
}

func (o *sumAxis[T]) Adjoint(_ context.Context, dst, src dist.Array[T]) error {
	if err := dist.Check("ops: sum", "adjoint", &dst, o.Dom, &src, o.Rng); err != nil {
		return err
	}
	array.CopyND(dst.Local(), src.Local(), &o.spread, false)
	return nil
}
