package dist_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/dist"
)

// TestEqual compares spaces on six ranks that were made in different ways.
func TestEqual(t *testing.T) {
	a := dist.Layout{Grid: []int{2, 3}}
	for _, c := range []struct {
		l, m dist.Layout
		want bool
	}{
		{dist.Layout{}, dist.Split(0), true},
		{dist.Split(-1), dist.Split(1), true},
		{dist.Split(0), dist.Split(1), false},
		{dist.Layout{}, dist.Layout{Grid: []int{1, 6, 1}, Axes: []int{1, 0, dist.NoAxis}}, true},
		{dist.Layout{}, dist.Layout{Counts: [][]int{{1, 1, 1, 1, 1, 1}}}, true},
		{dist.Layout{}, dist.Layout{Counts: [][]int{{2, 0, 1, 1, 1, 1}}}, false},
		{a, dist.Layout{Grid: []int{3, 2}}, false},
		{a, dist.Layout{Grid: []int{2, 3}, Axes: []int{1, 0}}, false},
		{a, dist.Layout{Grid: []int{2, 1, 3}, Axes: []int{0, dist.NoAxis, 1}}, true},
		{dist.Layout{Grid: []int{2, 3}, Axes: []int{0, dist.NoAxis}}, dist.Layout{Grid: []int{3, 2}, Axes: []int{dist.NoAxis, 0}}, false},
		{dist.Replicated, dist.Layout{Replicate: dist.Checked}, true},
		{dist.Replicated, dist.Layout{Grid: []int{2, 3}, Axes: []int{dist.NoAxis, dist.NoAxis}}, true},
		{dist.Replicated, dist.Layout{}, false},
		{dist.Layout{Mask: []int{0, 0, 0, 1, 1, 1}}, dist.Layout{}, false},
		{dist.Layout{Mask: []int{0, 0, 0, 1, 1, 1}}, dist.Layout{Mask: []int{0, 0, 0, 1, 1, 1}}, true},
	} {
		onRanks(t, 6, func(ctx context.Context, r dist.Proc) error {
			s, err := dist.NewSpace(ctx, r, c.l, 6, 6)
			if err != nil {
				return err
			}
			u, err := dist.NewSpace(ctx, r, c.m, 6, 6)
			if err != nil {
				return err
			}
			if s.Equal(u) != c.want || u.Equal(s) != c.want {
				return fmt.Errorf("%v equal %v: want %v", s, u, c.want)
			}
			return nil
		})
	}
}

// TestOneRank: on one rank all layouts of a shape are one.
func TestOneRank(t *testing.T) {
	onRanks(t, 1, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{}, 3, 4)
		if err != nil {
			return err
		}
		for _, l := range []dist.Layout{dist.Split(1), dist.Replicated, {Grid: []int{}}, {Grid: []int{1, 1}}, {Replicate: dist.Checked, Debug: true}} {
			u, err := dist.NewSpace(ctx, r, l, 3, 4)
			if err != nil {
				return err
			}
			if !s.Equal(u) || !u.Replicated() {
				return fmt.Errorf("%v is not %v", u, s)
			}
		}
		return nil
	})
}

// TestSpaceIsItsOwn: what a caller does to slices later changes no space.
func TestSpaceIsItsOwn(t *testing.T) {
	onRanks(t, 2, func(ctx context.Context, r dist.Proc) error {
		l := dist.Layout{Grid: []int{2, 1}, Axes: []int{1, 0}, Counts: [][]int{{1, 3}, nil}, Mask: []int{0, 1}}
		s, err := dist.NewSpace(ctx, r, l, 3, 4)
		if err != nil {
			return err
		}
		want := s.String()
		_, counts := s.SplitBy(1)
		for _, l := range []dist.Layout{l, s.Layout()} {
			l.Grid[0], l.Axes[0], l.Counts[0][0], l.Mask[0] = 9, 9, 9, 9
		}
		counts[0] = 9
		if got := s.String(); got != want {
			return fmt.Errorf("%s became %s", want, got)
		}
		return nil
	})
}

// TestGroupsAreKept: masks and lines make a group once, and Close ends it.
func TestGroupsAreKept(t *testing.T) {
	onRanks(t, 4, func(ctx context.Context, r dist.Proc) error {
		c := commtest.NewCounter(r.Comm)
		cr, err := dist.NewProc(ctx, c.Comm, r.Device)
		if err != nil {
			return err
		}
		l := dist.Layout{Grid: []int{2, 2}}
		for i := range 3 {
			s, err := dist.NewSpace(ctx, cr, l, 4, 4)
			if err != nil {
				return err
			}
			for axis := range 2 {
				if _, err := s.AxisGroup(ctx, axis); err != nil {
					return err
				}
			}
			l.Mask = []int{i, i, 7, 7} // the same groups whatever the colors, and those of axis 1
		}
		if n := c.Calls("Split"); n != 3 { // alone, and two lines
			return fmt.Errorf("%d groups were made, want 3: %v", n, c)
		}
		if err := cr.Close(); err != nil {
			return err
		}
		if n := c.Calls("Close"); n != 3 {
			return fmt.Errorf("%d groups were closed, want 3", n)
		}
		if err := cr.Close(); err != nil || c.Calls("Close") != 3 {
			return fmt.Errorf("closed twice: %v: %w", c, err)
		}
		return r.Barrier(ctx) // the communicator is still there
	})
}

// TestSub works inside groups of two of five ranks; one rank is in none.
func TestSub(t *testing.T) {
	onRanks(t, 5, func(ctx context.Context, r dist.Proc) error {
		color := r.Rank() / 2
		if color == 2 {
			color = comm.NoColor
		}
		sub, err := r.Subgroup(ctx, color, -r.Rank())
		if err != nil {
			return err
		}
		if color == comm.NoColor {
			if sub.Comm != nil {
				return fmt.Errorf("a group for a rank without color")
			}
			return sub.Close()
		}
		s, err := dist.NewSpace(ctx, sub, dist.Layout{}, 5)
		if err != nil {
			return err
		}
		x, err := filled[float64](ctx, s, 1)
		if err != nil {
			return err
		}
		got, err := dist.AllGather(ctx, x)
		if want := valuesOf[float64](1, 5); err != nil || !slices.Equal(got, want) {
			return fmt.Errorf("got %v, want %v: %w", got, want, err)
		}
		one := s.Alone()
		if one.Comm().Size() != 1 || one.Proc().Alone().Comm != one.Comm() {
			return fmt.Errorf("alone is %v", one)
		}
		return sub.Close()
	})
}

// TestSync writes different copies and lets rank 0 win, unless nobody checks.
func TestSync(t *testing.T) {
	onRanks(t, 3, func(ctx context.Context, r dist.Proc) error {
		mine := []float32{float32(r.Rank()), float32(math.NaN())}
		for _, k := range []struct {
			l    dist.Layout
			want float32
		}{{dist.Layout{Replicate: dist.Checked}, 0}, {dist.Replicated, mine[0]}} {
			s, err := dist.NewSpace(ctx, r, k.l, 2)
			if err != nil {
				return err
			}
			x, err := dist.FromBlock(ctx, s, mine)
			if err != nil {
				return err
			}
			y, err := dist.FromFunc(ctx, s, func(i []int) float32 { return mine[i[0]] })
			if err != nil {
				return err
			}
			z, err := dist.New[float32](s)
			if err != nil {
				return err
			}
			dist.Fill(z, mine[0])
			nested, err := dist.StackOf(x, z)
			if err != nil {
				return err
			}
			if err := nested.Sync(ctx); err != nil {
				return err
			}
			for _, a := range []dist.Array[float32]{x, y, z} {
				if h, err := a.Host(); err != nil || h[0] != k.want {
					return fmt.Errorf("%v: got %v, want %v: %w", s, h, k.want, err)
				}
			}
		}
		return nil
	})
}

// The layout of any space makes a space like it again.
func TestLayoutMakesTheSpaceAgain(t *testing.T) {
	onRanks(t, 3, func(ctx context.Context, r dist.Proc) error {
		for _, l := range []dist.Layout{{}, dist.Split(1), dist.Replicated, {Replicate: dist.Checked}, {Replicate: dist.Unchecked, Mask: []int{0, 1, 0}}} {
			s, err := dist.NewSpace(ctx, r, l, 4, 5)
			if err != nil {
				return err
			}
			again, err := dist.NewSpace(ctx, r, s.Layout(), 4, 5)
			if err != nil || !again.Equal(s) {
				return fmt.Errorf("NewSpace with the layout of %v gives %v: %w", s, again, err)
			}
			if again, err = s.Like(s.Layout(), 4, 5); err != nil || !again.Equal(s) {
				return fmt.Errorf("Like with the layout of %v gives %v: %w", s, again, err)
			}
		}
		return nil
	})
}
