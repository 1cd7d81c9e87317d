package ops_test

import (
	"context"
	"errors"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/ops"
)

// Every operator refuses arrays of other spaces and arrays that share memory.
func TestRefuses(t *testing.T) {
	for _, h := range homes {
		if h.ranks > 2 {
			continue
		}
		err := testdevices.Local(t.Context(), h.ranks, func(ctx context.Context, r dist.Proc) error {
			x, err := dist.NewSpace(ctx, r, h.layout, h.dims...)
			if err != nil {
				return err
			}
			re, err := ops.Real[complex64, float32](x)
			if err != nil {
				return err
			}
			return errors.Join(check(ctx, x, optest.Refuses[float64, float64]), check(ctx, x, optest.Refuses[complex64, complex64]), optest.Refuses(ctx, re))
		})
		if err != nil {
			t.Errorf("ranks=%d/shape=%v: %v", h.ranks, h.dims, err)
		}
	}
}
