package dist_test

import (
	"context"
	"errors"
	"fmt"
	"math/cmplx"
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

// Normal numbers have the mean and the deviation they should have, and are the same on any
// number of ranks. Other seeds and the parts of a stack have others.
func TestNormal(t *testing.T) {
	const n = 20000
	var want []complex128
	for _, ranks := range []int{1, 3} {
		err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
			s, err := dist.NewSpace(ctx, r, dist.Layout{}, n/4, 4)
			if err != nil {
				return err
			}
			all := make([][]complex128, 2)
			for seed := range all {
				a, err := dist.Normal[complex128](ctx, s, 3, uint64(seed))
				if err != nil {
					return err
				}
				if all[seed], err = dist.AllGather(ctx, a); err != nil {
					return err
				}
			}
			var mean, square, mixed complex128
			for i, x := range all[0] {
				mean += x / n
				square += complex(real(x)*real(x), imag(x)*imag(x)) / n
				mixed += x * cmplx.Conj(all[1][i]) / n
			}
			if cmplx.Abs(mean) > 0.1 || cmplx.Abs(square-(9+9i)) > 0.5 || cmplx.Abs(mixed) > 0.5 {
				return fmt.Errorf("mean %.3f, squares %.3f, with the next seed %.3f", mean, square, mixed)
			}
			if r.Rank() == 0 {
				if want == nil {
					want = all[0]
				}
				if !slices.Equal(want, all[0]) {
					return errors.New("they depend on the number of ranks")
				}
			}
			one, err := dist.Normal[float64](ctx, s, 3, 0)
			if err != nil {
				return err
			}
			real64, err := dist.AllGather(ctx, one)
			if err == nil && real64[5] != real(all[0][5]) {
				err = fmt.Errorf("a real element is %g, the real part of a complex one %g", real64[5], real(all[0][5]))
			}
			return err
		})
		if err != nil {
			t.Errorf("%d ranks: %v", ranks, err)
		}
	}
}
