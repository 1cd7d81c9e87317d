package ops_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
)

// Bad input, on all ranks or on rank 1 only, is an error on every rank that says
// what is wrong. A rank that went on alone would wait for ever.
func TestBadInput(t *testing.T) {
	for _, o := range operators[float64]() {
		for _, c := range o.bad {
			t.Run(c.name, func(t *testing.T) { checkBad(t, c) })
		}
	}
}

func checkBad(t *testing.T, c badCase[float64]) {
	err := testdevices.Local(t.Context(), 3, func(ctx context.Context, r dist.Proc) error {
		x, err := dist.NewSpace(ctx, r, dist.Layout{}, 7, 5)
		if err != nil {
			return err
		}
		if _, err = c.make(ctx, x, r.Rank()); err == nil {
			t.Errorf("rank %d: got no error", r.Rank())
			return nil
		}
		text := fmt.Sprintf("rank %d: %v", r.Rank(), err) // a rank's own error need not name it
		for _, w := range c.want {
			if !strings.Contains(text, w) {
				t.Errorf("rank %d: error %q does not say %q", r.Rank(), err, w)
			}
		}
		return r.Barrier(ctx) // nobody is left behind
	})
	if err != nil {
		t.Error(err)
	}
}

// Every operator refuses a space that is missing, and every one along an axis an
// axis that is, also if that is so on one rank only.
func TestNoSpaceNoAxis(t *testing.T) {
	for _, o := range operators[float64]() {
		err := testdevices.Local(t.Context(), 3, func(ctx context.Context, r dist.Proc) error {
			x, err := dist.NewSpace(ctx, r, dist.Layout{}, 7, 5)
			if err != nil {
				return err
			}
			return refusesMissing(ctx, r, x, o)
		})
		if err != nil {
			t.Errorf("%s: %v", o.forms[0].name, err)
		}
	}
}

func refusesMissing(ctx context.Context, r dist.Proc, x *dist.Space, o operatorTest[float64]) error {
	nowhere := o.nowhere
	if nowhere == nil {
		nowhere = func(ctx context.Context) (op[float64], error) { return o.along(ctx, nil, 0) }
	}
	if _, err := nowhere(ctx); err == nil {
		return errors.New("got no error without a space")
	}
	if o.along == nil {
		return nil
	}
	if _, err := o.along(ctx, x, 1); err != nil {
		return fmt.Errorf("an axis that exists: %w", err)
	}
	for _, axis := range [][]int{{9, 9, 9}, {1, -7, 1}} { // of each rank
		if _, err := o.along(ctx, x, axis[r.Rank()]); err == nil {
			return fmt.Errorf("got no error for axis %v", axis)
		}
	}
	return r.Barrier(ctx)
}
