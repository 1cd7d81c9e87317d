package ops

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

type pad[T scalar.Scalar] struct {
	linop.Spaces
	forward, adjoint device.Strided
}

// Pad adds zeros at the ends of axes: before[a] rows in front of axis a, after[a]
// behind it. Rows stay on their rank, and the zeros lie on the first and the last
// rank, so nothing is sent. The adjoint removes them.
func Pad[T scalar.Scalar](ctx context.Context, x *dist.Space, before, after []int) (linop.Operator[T], error) {
	if x == nil || x.Parts() != nil {
		return nil, errors.New("ops: pad: no space given, or a stack")
	}
	o := &pad[T]{Spaces: linop.Spaces{Dom: x}}
	err := o.build(x, before, after)
	if err := dist.Agree(ctx, x.Comm(), "ops: pad", err, before, after); err != nil {
		return nil, err
	}
	return o, nil
}

func (o *pad[T]) build(x *dist.Space, before, after []int) error {
	r := x.Shape().NDim()
	if len(before) != r || len(after) != r {
		return fmt.Errorf("%d and %d paddings for an array of %d axes", len(before), len(after), r)
	}
	y := x
	for a := range r {
		if before[a] < 0 || after[a] < 0 {
			return fmt.Errorf("paddings %d and %d of axis %d must not be negative", before[a], after[a], a)
		}
		if n := x.Shape().Dim(a); before[a] > math.MaxInt-n || after[a] > math.MaxInt-n-before[a] {
			return fmt.Errorf("paddings %d and %d of axis %d, which has %d rows: the sum is more than an int can count", before[a], after[a], a, n)
		}
		_, counts := x.SplitBy(a)
		if counts = slices.Clone(counts); counts != nil {
			counts[0] += before[a]
			counts[len(counts)-1] += after[a]
		}
		var err error
		if y, err = resized(y, a, x.Shape().Dim(a)+before[a]+after[a], counts); err != nil {
			return err
		}
	}
	o.Rng = y
	me := x.Comm().Rank()
	from, to := x.Box(me), y.Box(me)
	o.forward = device.Strided{Shape: x.LocalShape(), Dst: y.LocalShape().Strides(), Src: x.LocalShape().Strides()}
	for a := range r {
		o.forward.DstAt += (from.Lo[a] + before[a] - to.Lo[a]) * o.forward.Dst[a]
	}
	o.adjoint = o.forward
	o.adjoint.Dst, o.adjoint.Src, o.adjoint.DstAt, o.adjoint.SrcAt = o.forward.Src, o.forward.Dst, o.forward.SrcAt, o.forward.DstAt
	return nil
}

func (o *pad[T]) Forward(_ context.Context, dst, src dist.Array[T]) error {
	if err := dist.Check("ops: pad", "forward", &dst, o.Rng, &src, o.Dom); err != nil {
		return err
	}
	y := dst.Local()
	array.Fill(y, 0)
	array.CopyND(y, src.Local(), &o.forward, false)
	return nil
}

func (o *pad[T]) Adjoint(_ context.Context, dst, src dist.Array[T]) error {
	if err := dist.Check("ops: pad", "adjoint", &dst, o.Dom, &src, o.Rng); err != nil {
		return err
	}
	x := dst.Local()
	array.CopyND(x, src.Local(), &o.adjoint, false)
	return nil
}
