package ops

import (
	"context"
	"errors"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// HaloOptions are the options of Halo. The zero value leaves blocks as they are.
type HaloOptions struct {
	Front, Back []int // cells along each axis; nil means none
	Edges       bool  // widen also beyond the ends of the array, by cells that are zero
}

// Halo widens each rank's block by copies of the cells around it, corners included,
// over any grid of ranks. A halo may be wider than the neighbour's block. The adjoint
// adds each copy to the cell that it came from.
func Halo[T scalar.Scalar](ctx context.Context, x *dist.Space, h HaloOptions) (linop.Operator[T], error) {
	if x == nil {
		return nil, errors.New("ops: halo: no space given")
	}
	if h.Front == nil {
		h.Front = make([]int, x.Shape().NDim())
	}
	if h.Back == nil {
		h.Back = make([]int, x.Shape().NDim())
	}
	o, err := dist.NewHalo[T](x, h.Front, h.Back, h.Edges)
	if err := dist.Agree(ctx, x.Comm(), "ops: halo", err, h); err != nil {
		return nil, err
	}
	return o, nil
}
