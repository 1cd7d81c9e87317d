package dist

import (
	"context"
	"fmt"

	"github.com/golops/golops/array"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// AxisGroup is the ranks that share an array axis with this one, in the order of
// their rows. They hold the same rows of all other axes. A rank that holds the axis
// alone is a group of one, which sends nothing.
type AxisGroup struct{ *comm.Comm }

// AxisGroup returns the group of an array axis, negative from the end. Masks play no
// part. It is collective.
func (s *Space) AxisGroup(ctx context.Context, axis int) (AxisGroup, error) {
	if s.parts != nil {
		return AxisGroup{}, fmt.Errorf("dist: axis group: a stack has no axes")
	}
	a, err := s.shape.Axis(axis)
	if err != nil {
		return AxisGroup{}, fmt.Errorf("dist: axis group: %w", err)
	}
	c, err := s.proc.subgroup(ctx, s.axisColors(a))
	if err != nil {
		return AxisGroup{}, fmt.Errorf("dist: group of axis %d: %w", axis, err)
	}
	return AxisGroup{c}, nil
}

// GridGroup returns the ranks that differ from this one only in their places along
// the given axes of the grid, in the order of ranks. It is collective.
func (s *Space) GridGroup(ctx context.Context, axes ...int) (AxisGroup, error) {
	colors := make([]int, s.proc.Size())
	for r := range colors {
		c := s.Coords(r)
		for _, g := range axes {
			c[g] = 0
		}
		colors[r] = s.RankAt(c)
	}
	c, err := s.proc.subgroup(ctx, colors)
	if err != nil {
		return AxisGroup{}, fmt.Errorf("dist: group of grid axes %v: %w", axes, err)
	}
	return AxisGroup{c}, nil
}

// SumOver replaces a by its sum over the group.
func SumOver[T scalar.Scalar](ctx context.Context, g AxisGroup, a array.Array[T], l comm.Label) error {
	if g.Size() == 1 {
		return nil
	}
	b := buf(a).Labelled(l)
	return g.AllReduce(ctx, b, b, comm.Sum)
}

// GatherOver sets all to the elements of each rank of the group, counts[r] from
// rank r. No counts mean the same number from each.
func GatherOver[T scalar.Scalar](ctx context.Context, g AxisGroup, all array.Array[T], counts []int, mine array.Array[T], l comm.Label) error {
	if counts == nil {
		return g.AllGather(ctx, buf(all), buf(mine).Labelled(l))
	}
	return g.AllGatherV(ctx, buf(all), counts, buf(mine).Labelled(l))
}

// SumScatterOver sums all over the group and sets mine to this rank's elements of
// the sum, counts[r] for rank r. It is the adjoint of GatherOver.
func SumScatterOver[T scalar.Scalar](ctx context.Context, g AxisGroup, mine, all array.Array[T], counts []int, l comm.Label) error {
	return g.ReduceScatterV(ctx, buf(mine), buf(all).Labelled(l), counts, comm.Sum)
}

// Request is a message under way.
type Request = comm.Request

// StartBroadcast starts to copy a of the rank at place root to all ranks of the group.
func StartBroadcast[T scalar.Scalar](ctx context.Context, g AxisGroup, a array.Array[T], root int, l comm.Label) (Request, error) {
	return g.IBroadcast(ctx, buf(a).Labelled(l), root)
}

// StartSumTo starts to set dst of the rank at place root to the sum of src over the group.
func StartSumTo[T scalar.Scalar](ctx context.Context, g AxisGroup, dst, src array.Array[T], root int, l comm.Label) (Request, error) {
	return g.IReduce(ctx, buf(dst), buf(src).Labelled(l), comm.Sum, root)
}
