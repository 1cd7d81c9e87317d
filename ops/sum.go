package ops

import (
	"context"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// Sum adds up the rows of an axis: y[.., ..] = Σᵢ x[.., i, ..]. The result does not
// have that axis. Where the axis is split, all its ranks get the sum, in one message.
// The adjoint copies a row to all rows.
func Sum[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int) (linop.Operator[T], error) {
	a, _, err := axisOf(x, axis)
	var y *dist.Space
	if err == nil {
		y, err = x.DropAxis(a)
	}
	if err := agree(ctx, "ops: sum", x, err, "axis ", axis); err != nil {
		return nil, err
	}
	group, err := x.AxisGroup(ctx, a)
	if err != nil {
		return nil, err
	}
	outer, n, inner := x.LocalShape().Around(a)
	forward := func(ctx context.Context, dst, src dist.Array[T]) error {
		array.SumAxis(dst.Local(), src.Local(), outer, n, inner)
		return dist.SumOver(ctx, group, dst.Local(), dist.LabelForward)
	}
	rows := device.Strided{Shape: shape.Of(outer, n, inner)}
	rows.Dst = rows.Shape.Strides()
	rows.Src[0], rows.Src[2] = inner, 1
	return linop.Func("ops: sum", x, y, forward, stridedCopy[T](rows, false))
}
