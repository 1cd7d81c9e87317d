package dist_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
)

// Sums of checked arrays send nothing; copies are made equal when the user
// writes, not when the library does. (Limit 2 of PyLops-MPI.)
func TestCheckedArraysAddInSilence(t *testing.T) {
	err := testdevices.Local(t.Context(), 3, func(ctx context.Context, r dist.Proc) error {
		count := commtest.NewCounter(r.Comm)
		counted, err := dist.NewProc(ctx, count.Comm, r.Device)
		if err != nil {
			return err
		}
		s, err := dist.NewSpace(ctx, counted, dist.Layout{Replicate: dist.Checked}, 5)
		if err != nil {
			return err
		}
		x, err := dist.FromFunc(ctx, s, func(i []int) float64 { return float64(i[0]) })
		if err != nil {
			return err
		}
		y, err := dist.New[float64](s)
		if err != nil {
			return err
		}
		count.Reset()
		dist.Add(y, x, x)
		dist.Sub(y, y, x)
		dist.Scale(y, 2, y)
		if count.Total() != 0 {
			return fmt.Errorf("messages: %v", count)
		}
		if _, err := dist.Norm(ctx, y, 2); err != nil {
			return err
		}
		if count.Total() != 1 || count.Calls("AllReduce") != 1 {
			return fmt.Errorf("messages of a norm: %v, want one AllReduce", count)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// What AllGather returns is the caller's own. (Limit 11.)
func TestAllGatherCopies(t *testing.T) {
	for _, l := range []dist.Layout{{}, dist.Replicated} {
		err := testdevices.Local(t.Context(), 2, func(ctx context.Context, r dist.Proc) error {
			s, err := dist.NewSpace(ctx, r, l, 4)
			if err != nil {
				return err
			}
			x, err := dist.FromFunc(ctx, s, func(i []int) float64 { return float64(i[0]) })
			if err != nil {
				return err
			}
			all, err := dist.AllGather(ctx, x)
			if err != nil {
				return err
			}
			clear(all)
			if sum, err := dist.Sum(ctx, x); err != nil || sum != 6 {
				return errors.Join(err, fmt.Errorf("the array has changed: its sum is %g", sum))
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// Stacks live in the group they were made in. (Limit 16.)
func TestStacksInSubGroups(t *testing.T) {
	err := testdevices.Local(t.Context(), 4, func(ctx context.Context, r dist.Proc) error {
		sub, err := r.Subgroup(ctx, r.Rank()/3, 0) // ranks 0 to 2, and rank 3
		if err != nil {
			return err
		}
		a, err := dist.NewSpace(ctx, sub, dist.Layout{}, 5)
		if err != nil {
			return err
		}
		b, err := dist.NewSpace(ctx, sub, dist.Replicated, 2)
		if err != nil {
			return err
		}
		s, err := dist.Stack(a, b)
		if err != nil {
			return err
		}
		x, err := dist.New[float64](s)
		if err != nil {
			return err
		}
		y, err := dist.New[float64](x.Space())
		if err != nil {
			return err
		}
		dist.Fill(x, 2)
		dist.Copy(y, x)
		if y.Space().Comm() != sub.Comm {
			return errors.New("the copy is on another group")
		}
		if v, err := dist.Dot(ctx, x, y); err != nil || v != 28 {
			return errors.Join(err, fmt.Errorf("dot is %g, want 28", v))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
