package main

import (
	"context"
	"math"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
)

// TestSidesMultiplyTheSame compares the norm of the product on a grid with that of one
// rank alone.
func TestSidesMultiplyTheSame(t *testing.T) {
	const n = 24
	norm := func(kind string, ranks int) (norm float64) {
		err := launch.Config{Ranks: ranks, Threads: 1}.Local(t.Context(), func(ctx context.Context, r dist.Proc) error {
			op, err := build(ctx, r, kind, n)
			if err != nil {
				return err
			}
			x, err := filled(ctx, op.Domain(), n, 1)
			if err != nil {
				return err
			}
			y, err := dist.New[float64](op.Range())
			if err != nil {
				return err
			}
			if err := op.Forward(ctx, y, x); err != nil {
				return err
			}
			of, err := dist.Norm(ctx, y, 2)
			if r.Rank() == 0 {
				norm = of
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return norm
	}
	want := norm("local", 1)
	for _, kind := range []string{"summa", "onesided"} {
		for _, ranks := range []int{2, 4} {
			if got := norm(kind, ranks); math.Abs(got-want) > 1e-12*want {
				t.Errorf("%s on %d ranks: norm %g, want %g", kind, ranks, got, want)
			}
		}
	}
}
