package dist_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
)

// Random vectors do not depend on ranks, layout or the bits of the elements.
func TestRandom(t *testing.T) {
	var mu sync.Mutex
	var first []float64
	for _, n := range []int{1, 2, 3, 7} {
		for name, l := range map[string]dist.Layout{"split": {}, "columns": dist.Split(1), "replicated": dist.Replicated, "checked": {Replicate: dist.Checked}} {
			err := testdevices.Local(t.Context(), n, func(ctx context.Context, r dist.Proc) error {
				s, err := dist.NewSpace(ctx, r, l, 5, 4)
				if err != nil {
					return err
				}
				x, err := dist.Random[float64](ctx, s, 3)
				if err != nil {
					return err
				}
				all, err := dist.AllGather(ctx, x)
				if err != nil {
					return err
				}
				c, err := dist.Random[complex64](ctx, s, 3)
				if err != nil {
					return err
				}
				narrow, err := dist.AllGather(ctx, c)
				if err != nil {
					return err
				}
				mu.Lock()
				defer mu.Unlock()
				if first == nil {
					first = all
				}
				if !slices.Equal(all, first) {
					return fmt.Errorf("%s: %v, want %v", name, all, first)
				}
				for i, v := range narrow {
					if float64(real(v)) != all[i] || imag(v) == 0 || real(v) == imag(v) {
						return fmt.Errorf("%s: element %d is %v in complex64, %v in float64", name, i, v, all[i])
					}
				}
				return nil
			})
			if err != nil {
				t.Errorf("ranks=%d: %v", n, err)
			}
		}
	}
	lo, hi := slices.Min(first), slices.Max(first)
	if lo < -1 || hi > 1 || lo > -0.5 || hi < 0.5 {
		t.Errorf("%d numbers go from %v to %v, want about -1 to 1", len(first), lo, hi)
	}
	slices.Sort(first)
	if n := len(slices.Compact(first)); n != 20 {
		t.Errorf("%d different numbers among 20", n)
	}
}

// The parts of a stack differ, however deep they lie.
func TestRandomStack(t *testing.T) {
	err := testdevices.Local(t.Context(), 3, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{}, 4)
		if err != nil {
			return err
		}
		two, err := dist.Stack(s, s)
		if err != nil {
			return err
		}
		deep, err := dist.Stack(two, s, two)
		if err != nil {
			return err
		}
		x, err := dist.Random[float64](ctx, deep, 1)
		if err != nil {
			return err
		}
		all, err := dist.AllGather(ctx, x)
		if err != nil {
			return err
		}
		slices.Sort(all)
		if n := len(slices.Compact(all)); n != 20 {
			return fmt.Errorf("%d different numbers among 20", n)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
