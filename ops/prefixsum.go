package ops

import (
	"context"

	"github.com/golops/golops/array"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// prefixSum computes running sums along an axis. Where the axis is split, ranks
// exchange the sums of their blocks.
type prefixSum[T scalar.Scalar] struct {
	outer, n, inner int
	group           dist.AxisGroup
	all, start      array.Array[T] // sums of the blocks of all ranks, and of those before this one
}

func newPrefixSum[T scalar.Scalar](ctx context.Context, name string, x *dist.Space, axis int) (linop.Operator[T], error) {
	o := &prefixSum[T]{}
	var err error
	if o.group, err = x.AxisGroup(ctx, axis); err != nil {
		return nil, err
	}
	o.outer, o.n, o.inner = x.LocalShape().Around(axis)
	if o.all, err = array.New[T](x.Device(), shape.Of(o.group.Size()*o.outer*o.inner)); err == nil {
		o.start, err = array.New[T](x.Device(), shape.Of(o.outer*o.inner))
	}
	if err := dist.Agree(ctx, x.Comm(), name, err); err != nil {
		return nil, err
	}
	return linop.Func(name, x, x, o.forward, o.adjoint)
}

func (o *prefixSum[T]) forward(ctx context.Context, dst, src dist.Array[T]) error {
	return o.apply(ctx, dst.Local(), src.Local(), false)
}

func (o *prefixSum[T]) adjoint(ctx context.Context, dst, src dist.Array[T]) error {
	return o.apply(ctx, dst.Local(), src.Local(), true)
}

// apply sets dst to the running sums of src over all ranks of the axis.
func (o *prefixSum[T]) apply(ctx context.Context, dst, src array.Array[T], reverse bool) error {
	n, start := o.start.Len(), o.start
	if o.group.Size() == 1 {
		start = o.start.Slice(0, 0)
	} else {
		me := o.group.Rank()
		mine := o.all.Slice(me*n, (me+1)*n)
		array.SumAxis(mine, src, o.outer, o.n, o.inner)
		label := dist.LabelForward
		if reverse {
			label = dist.LabelAdjoint
		}
		if err := dist.GatherOver(ctx, o.group, o.all, nil, mine, label); err != nil {
			return err
		}
		lo, hi := 0, me
		if reverse {
			lo, hi = me+1, o.group.Size()
		}
		array.Fill(start, 0)
		for p := lo; p < hi; p++ {
			array.Axpby(1, o.all.Slice(p*n, (p+1)*n), 1, start)
		}
	}
	array.ScanAxis(dst, src, start, o.outer, o.n, o.inner, reverse)
	return nil
}
