package solve_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/fakegpu"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/solve"
)

// A run gives back all the device memory that it has taken, the room of its
// reductions too. What it left to the garbage collector, the next run would have to
// ask the driver for.
func TestRunGivesMemoryBack(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		err := testdevices.On(t.Context(), "hidden", ranks, func(ctx context.Context, r dist.Proc) error {
			d := r.Device.(*fakegpu.Device)
			return each(ctx, r, 11, func(m maker[complex64], p problem[complex64], x dist.Array[complex64]) error {
				before := d.Live
				_, err := p.run(ctx, m.method(), x, solve.Config{MaxIter: 3})
				if err == nil && d.Live > before { // fewer: the collector has found an earlier problem
					err = fmt.Errorf("%d blocks of memory are left", d.Live-before)
				}
				return err
			})
		})
		if err != nil {
			t.Errorf("ranks=%d: %v", ranks, err)
		}
	}
}
