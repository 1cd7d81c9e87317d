package ops

import (
	"context"

	"github.com/golops/golops/array"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// runner makes running sums along an axis that ranks of a line share. They
// exchange the sums of their blocks.
type runner[T scalar.Scalar] struct {
	outer, n, inner int
	line            comm.Comm
	all, start      array.Array[T] // sums of all ranks' blocks, and of those before this one
}

// build takes memory; line is there.
func (o *runner[T]) build(x *dist.Space, axis int) (err error) {
	o.outer, o.n, o.inner = x.LocalShape().Around(axis)
	if o.all, err = array.New[T](x.Device(), shape.Of(o.line.Size()*o.outer*o.inner)); err == nil {
		o.start, err = array.New[T](x.Device(), shape.Of(o.outer*o.inner))
	}
	return err
}

// sums sets dst to the running sums of src over all ranks of the axis.
func (o *runner[T]) sums(ctx context.Context, dst, src array.Array[T], reverse bool) error {
	k, n, start := dst.Kernels(), o.start.Len(), o.start
	if o.line.Size() == 1 {
		start = o.start.Slice(0, 0)
	} else {
		me := o.line.Rank()
		mine := o.all.Slice(me*n, (me+1)*n)
		k.SumAxis(mine.Mem(), src.Mem(), o.outer, o.n, o.inner)
		label := labelForward
		if reverse {
			label = labelAdjoint
		}
		if err := o.line.AllGather(ctx, comm.OfMem(o.all.Mem()), comm.OfMem(mine.Mem()).Labelled(label)); err != nil {
			return err
		}
		lo, hi := 0, me
		if reverse {
			lo, hi = me+1, o.line.Size()
		}
		k.Fill(start.Mem(), 0)
		for p := lo; p < hi; p++ {
			k.Axpby(1, o.all.Slice(p*n, (p+1)*n).Mem(), 1, start.Mem())
		}
	}
	k.ScanAxis(dst.Mem(), src.Mem(), start.Mem(), o.outer, o.n, o.inner, reverse)
	return nil
}
