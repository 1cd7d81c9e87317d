package dist_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// other draws dims of the same size: neighbours are joined and extents cut.
func (g gen) other(dims []int) []int {
	d := slices.Clone(dims)
	for range 1 + g.IntN(3) {
		switch i := g.IntN(len(d) + 1); {
		case g.IntN(3) == 0:
			d = slices.Insert(d, i, 1)
		case i+1 < len(d) && g.IntN(2) == 0:
			d[i] *= d[i+1]
			d = slices.Delete(d, i+1, i+2)
		case i < len(d) && d[i] > 1:
			for f := 2; f <= d[i]; f++ {
				if d[i]%f == 0 {
					d[i] /= f
					d = slices.Insert(d, i+g.IntN(2), f)
					break
				}
			}
		}
	}
	return d
}

// reshapeCase looks at an array under another shape: either every element stays
// at its place in the global order, or the error says what to do.
func reshapeCase[T scalar.Scalar](ctx context.Context, r dist.Proc, g gen) error {
	dims := g.dims()
	s, err := g.space(ctx, r, dims)
	if err != nil {
		return err
	}
	x, err := filled[T](ctx, s, 1)
	if err != nil {
		return err
	}
	to := g.other(dims)
	y, err := x.Reshape(to...)
	switch {
	case err == nil:
		err = holdsValues(y, 1)
	case s.Replicated():
		return fmt.Errorf("%v to %v: %w", s, to, err)
	case strings.Contains(err.Error(), "Redistribute first"):
		return nil
	}
	if err != nil {
		return fmt.Errorf("%v to %v: %w", s, to, err)
	}
	back, err := y.Reshape(dims...)
	if err == nil {
		err = holdsValues(back, 1)
	}
	if err != nil {
		return fmt.Errorf("%v to %v and back: %w", s, to, err)
	}
	return nil
}

// TestReshape tells what can be reshaped on three ranks and what cannot.
func TestReshape(t *testing.T) {
	for _, c := range []struct {
		layout   dist.Layout
		from, to []int
		counts   []int  // of the new split axis
		fails    string // or what the error says
	}{
		{dist.Split(0), []int{6, 4}, []int{24}, []int{8, 8, 8}, ""},
		{dist.Split(0), []int{7, 4}, []int{28}, []int{12, 8, 8}, ""},
		{dist.Split(0), []int{24}, []int{6, 4}, []int{2, 2, 2}, ""},
		{dist.Split(0), []int{6, 4}, []int{1, 6, 2, 2}, []int{2, 2, 2}, ""},
		{dist.Split(1), []int{2, 6, 4}, []int{2, 24}, []int{8, 8, 8}, ""},
		{dist.Split(1), []int{2, 6, 4}, []int{2, 3, 8}, []int{1, 1, 1}, ""},
		{dist.Split(-1), []int{2, 3, 6}, []int{6, 6}, []int{2, 2, 2}, ""},
		{dist.Split(0), []int{7, 4}, []int{4, 7}, nil, "block 0 of axis 0 has 12 elements in a row, not a multiple of the 7 behind axis 0"},
		{dist.Split(1), []int{2, 6}, []int{12}, nil, "the blocks of axis 1 are not ranges of rows"},
		{dist.Split(0), []int{6, 4}, []int{5, 5}, nil, "24 elements are not 25"},
		{dist.Split(0), []int{6, 4}, []int{-6, -4}, nil, "axis 0 of [-6 -4] is negative"},
		{dist.Replicated, []int{6, 4}, []int{3, 8}, nil, ""},
	} {
		onRanks(t, 3, func(ctx context.Context, r dist.Proc) error {
			s, err := dist.NewSpace(ctx, r, c.layout, c.from...)
			if err != nil {
				return err
			}
			x, err := filled[float64](ctx, s, 1)
			if err != nil {
				return err
			}
			y, err := x.Reshape(c.to...)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					return fmt.Errorf("%v to %v: %v, want an error that says %q", s, c.to, err, c.fails)
				}
				return nil
			}
			if err != nil {
				return err
			}
			if err := holdsValues(y, 1); err != nil {
				return err
			}
			if err := y.Local().Slice(0, 1).CopyIn([]float64{99}); err != nil { // the same memory
				return err
			}
			if h, err := x.Host(); err != nil || h[0] != 99 {
				return fmt.Errorf("%v to %v: the elements were copied", s, c.to)
			}
			for axis := range c.to {
				if _, counts := y.Space().SplitBy(axis); counts != nil && !slices.Equal(counts, c.counts) {
					return fmt.Errorf("%v to %v: split %v, want %v", s, c.to, counts, c.counts)
				}
			}
			return nil
		})
	}
}
