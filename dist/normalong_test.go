package dist_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// alongCase takes norms along each axis, with a mask in some cases.
func alongCase[T scalar.Scalar](ctx context.Context, r dist.Proc, g gen) error {
	dims := g.dims()
	l := g.layout(dims, r.Size())
	mask := make([]int, r.Size())
	if g.IntN(3) == 0 {
		for i := range mask {
			mask[i] = g.IntN(2)
		}
		l.Mask = mask
	}
	s, err := dist.NewSpace(ctx, r, l, dims...)
	if err != nil {
		return err
	}
	x, err := filled[T](ctx, s, 1)
	if err != nil {
		return err
	}
	for axis := range dims {
		for _, p := range orders {
			if err := along(ctx, x, mask, p, axis); err != nil {
				return fmt.Errorf("norm %v along axis %d of %v: %w", p, axis, s, err)
			}
		}
	}
	return nil
}

func along[T scalar.Scalar](ctx context.Context, x dist.Array[T], mask []int, p float64, axis int) error {
	s := x.Space()
	got, err := dist.NormAlong(ctx, x, p, axis-s.Shape().NDim()*(axis%2)) // odd axes from the end
	if err != nil {
		return err
	}
	if want := s.Shape().Without(axis); got.Space().Shape() != want {
		return fmt.Errorf("shape is %v, want %v", got.Space().Shape(), want)
	}
	rows := rowsOfColor(s, mask, axis)
	dims := s.Shape().Dims()
	var worst error
	err = holds(got, func(i []int) float64 {
		at := make([]int, 0, len(dims))
		at = append(append(append(at, i[:axis]...), 0), i[axis:]...)
		var line []T
		for k, mine := range rows {
			if at[axis] = k; mine {
				line = append(line, value[T](1, flat(dims, at)))
			}
		}
		b := got.Space().Box(s.Proc().Rank())
		host, err := got.Host()
		k := 0
		for a, j := range i {
			k = k*(b.Hi[a]-b.Lo[a]) + j - b.Lo[a]
		}
		if want := serialNorm(line, p); err != nil || !near[T](host[k], want) {
			worst = fmt.Errorf("element %v is %v, want %v: %w", i, host[k], want, err)
		}
		return host[k]
	})
	if worst != nil {
		return worst
	}
	return err
}

// rowsOfColor returns which rows of an axis count for this rank: those that ranks
// of its color hold, among the ranks that share its rows of all other axes.
func rowsOfColor(s *dist.Space, mask []int, axis int) []bool {
	rows := make([]bool, s.Shape().Dim(axis))
	me := s.Proc().Rank()
	g, _ := s.SplitBy(axis)
	for r, color := range mask {
		same := color == mask[me]
		for i, c := range s.Coords(r) {
			same = same && (i == g || c == s.Coords(me)[i])
		}
		if b := s.Box(r); same {
			for k := b.Lo[axis]; k < b.Hi[axis]; k++ {
				rows[k] = true
			}
		}
	}
	return rows
}

// TestLine looks for the neighbours of each rank of a grid, and that asking
// again makes no new group.
func TestLine(t *testing.T) {
	onRanks(t, 6, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{Grid: []int{2, 3}, Axes: []int{2, 0}}, 4, 5, 6)
		if err != nil {
			return err
		}
		for _, k := range []struct{ axis, size, rank int }{{0, 3, r.Rank() % 3}, {1, 1, 0}, {-1, 2, r.Rank() / 3}} {
			c, err := s.AxisGroup(ctx, k.axis)
			if err != nil {
				return err
			}
			if c.Size() != k.size || c.Rank() != k.rank {
				return fmt.Errorf("axis %d: rank %d of %d, want %d of %d", k.axis, c.Rank(), c.Size(), k.rank, k.size)
			}
			again, err := s.AxisGroup(ctx, k.axis)
			if err != nil || again != c {
				return fmt.Errorf("axis %d: another group the second time: %w", k.axis, err)
			}
		}
		if _, err := s.AxisGroup(ctx, 3); err == nil {
			return fmt.Errorf("axis 3: no error")
		}
		return nil
	})
}
