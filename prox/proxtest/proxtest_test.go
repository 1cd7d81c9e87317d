package proxtest_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/prox"
	"github.com/golops/golops/prox/proxtest"
	"github.com/golops/golops/solve"
)

type (
	block    = dist.Array[float64]
	function = solve.Function[float64]
)

// right is the L1 norm, as an author would write it.
type right struct{ x *dist.Space }

func (f right) check(tau float64, a ...block) error {
	for _, a := range a {
		if a.Space() == nil || !a.Space().Equal(f.x) {
			return fmt.Errorf("an array is not of %v", f.x)
		}
	}
	if !(tau > 0) || math.IsInf(tau, 0) {
		return fmt.Errorf("tau is %g", tau)
	}
	return nil
}

func (f right) Value(ctx context.Context, x block) (float64, error) {
	if err := f.check(1, x); err != nil {
		return 0, err
	}
	return dist.Norm(ctx, x, 1)
}

func (f right) Prox(_ context.Context, y block, tau float64, x block) error {
	if err := f.check(tau, y, x); err != nil {
		return err
	}
	dist.Threshold(y, x, device.SoftThreshold, tau)
	return nil
}

// Each type below has one fault.
type (
	wrongStep   struct{ right }
	wrongValue  struct{ right }
	wrongDual   struct{ right }
	wrongGrad   struct{ right }
	lastMissing struct{ right }
	spoils      struct{ right }
	needsOther  struct{ right }
	allocates   struct{ right }
	ownValue    struct{ right }
	takesAny    struct{ right }
	giveNaN     struct{ right }
	jumps       struct{ right }
	remembers   struct {
		right
		calls *float64
	}
)

func (f wrongStep) Prox(ctx context.Context, y block, tau float64, x block) error {
	return f.right.Prox(ctx, y, 2*tau, x)
}

func (f wrongValue) Value(ctx context.Context, x block) (float64, error) {
	v, err := f.right.Value(ctx, x)
	return 3 * v, err
}

func (f wrongDual) DualProx(_ context.Context, y block, sigma float64, x block) error {
	if err := f.check(sigma, y, x); err != nil {
		return err
	}
	dist.Shrink(y, x, device.Shrinkage{Kind: device.ShrinkClip, T: sigma})
	return nil
}

func (f wrongGrad) Gradient(_ context.Context, g, x block) error {
	dist.Scale(g, 2, x)
	return f.check(1, g, x)
}

func (f lastMissing) Prox(ctx context.Context, y block, tau float64, x block) error {
	if err := f.check(tau, y, x); err != nil {
		return err
	}
	if n := x.Local().Len() - 1; n >= 0 && x.Space().Comm().Rank() == x.Space().Comm().Size()-1 {
		array.Threshold(y.Local().Slice(0, n), x.Local().Slice(0, n), device.SoftThreshold, tau)
		return nil
	}
	return f.right.Prox(ctx, y, tau, x)
}

func (f spoils) Prox(ctx context.Context, y block, tau float64, x block) error {
	err := f.right.Prox(ctx, y, tau, x)
	if to, from := y.Local(), x.Local(); err == nil && !array.Overlap(&to, &from) {
		dist.Scale(x, 2, x)
	}
	return err
}

// needsOther reads x after it has written y.
func (f needsOther) Prox(ctx context.Context, y block, tau float64, x block) error {
	if err := f.check(tau, y, x); err != nil {
		return err
	}
	dist.Shrink(y, x, device.Shrinkage{Kind: device.ShrinkClip, T: tau})
	dist.Sub(y, x, y)
	return nil
}

var sink []byte

func (f allocates) Prox(ctx context.Context, y block, tau float64, x block) error {
	sink = make([]byte, 100)
	return f.right.Prox(ctx, y, tau, x)
}

func (f ownValue) Value(ctx context.Context, x block) (float64, error) {
	v, err := f.right.Value(ctx, x)
	return v + 1e-12*float64(x.Space().Comm().Rank()), err
}

func (f takesAny) Prox(_ context.Context, y block, tau float64, x block) error {
	dist.Threshold(y, x, device.SoftThreshold, math.Abs(tau))
	return nil
}

func (f giveNaN) Prox(ctx context.Context, y block, tau float64, x block) error {
	err := f.right.Prox(ctx, y, tau, x)
	if err == nil {
		dist.Fill(y, math.NaN())
	}
	return err
}

// remembers depends on the number of calls, which no State tells.
func (f remembers) Prox(ctx context.Context, y block, tau float64, x block) error {
	err := f.right.Prox(ctx, y, tau, x)
	if *f.calls++; err == nil {
		dist.Scale(y, 1+1e-14**f.calls, y)
	}
	return err
}

// jumps is a set of points that is not convex: elements are 0 or at least 1.
func (f jumps) Value(ctx context.Context, x block) (float64, error) {
	if err := f.check(1, x); err != nil {
		return 0, err
	}
	return dist.Norm(ctx, x, 0)
}

func (f jumps) Prox(_ context.Context, y block, tau float64, x block) error {
	if err := f.check(tau, y, x); err != nil {
		return err
	}
	dist.Threshold(y, x, device.HardThreshold, tau)
	return nil
}

// TestEveryFaultIsFound wants the suite to pass a right function and to refuse every
// wrong one, with a word on what is wrong.
func TestEveryFaultIsFound(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
			x, err := dist.NewSpace(ctx, r, dist.Layout{}, 11)
			if err != nil {
				return err
			}
			ok := right{x}
			if err := proxtest.All[float64](ctx, ok, x); err != nil {
				return fmt.Errorf("a right function: %w", err)
			}
			for _, c := range []struct {
				f    function
				want string
			}{
				{wrongStep{ok}, "definition"}, {wrongValue{ok}, "definition"}, {wrongDual{ok}, "Moreau"}, {wrongGrad{ok}, "gradient"},
				{lastMissing{ok}, "write all of it"}, {spoils{ok}, "x changed"}, {needsOther{ok}, "in the place of x"}, {allocates{ok}, "allocations"},
				{ownValue{ok}, "on rank"}, {takesAny{ok}, "refusing"}, {giveNaN{ok}, "is NaN"}, {jumps{ok}, "too far apart"}, {remembers{ok, new(float64)}, "a State must have all"}, {nil, "no function"},
			} {
				if _, is := c.f.(ownValue); is && ranks == 1 {
					continue
				}
				if err := proxtest.All(ctx, c.f, x); err == nil || !strings.Contains(err.Error(), c.want) {
					return fmt.Errorf("%T: error %v, want %q", c.f, err, c.want)
				}
			}
			return proxtest.AllWith[float64](ctx, proxtest.Config{NotConvex: true}, jumps{ok}, x)
		})
		if err != nil {
			t.Errorf("%d ranks: %v", ranks, err)
		}
	}
}

// A Definition becomes a function with all checks of arguments.
func TestDefinition(t *testing.T) {
	err := testdevices.Local(t.Context(), 2, func(ctx context.Context, r dist.Proc) error {
		x, err := dist.NewSpace(ctx, r, dist.Layout{}, 5)
		if err != nil {
			return err
		}
		f, err := prox.New("mine", x, prox.Definition[float64]{
			Value: func(ctx context.Context, x block) (float64, error) { return dist.Norm(ctx, x, 1) },
			Prox: func(_ context.Context, y block, tau float64, x block) error {
				dist.Threshold(y, x, device.SoftThreshold, tau)
				return nil
			},
		})
		if err != nil {
			return err
		}
		return proxtest.All[float64](ctx, f, x)
	})
	if err != nil {
		t.Error(err)
	}
}
