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

// Where memory is not the host's, a step waits for the device as often as it
// sends a message: several sums come in one wait, and nothing else is copied.
func TestWaits(t *testing.T) {
	for ranks := 1; ranks <= 2; ranks++ {
		err := testdevices.On(t.Context(), "hidden", ranks, func(ctx context.Context, r dist.Proc) error {
			d := r.Device.(*fakegpu.Device)
			return each(ctx, r, 40, func(m maker[float32], p problem[float32], x dist.Array[float32]) error {
				damps := []float64{0}
				if m.ls {
					damps = append(damps, 0.5)
				}
				for _, damp := range damps {
					p.damp = damp
					before, last := 0, 0
					_, err := p.run(ctx, m.method(), x, solve.Config{MaxIter: 5, OnIter: func(it solve.Iteration) error {
						if it.K == 1 {
							before = d.Waits
						}
						last = d.Waits
						return nil
					}})
					if err != nil {
						return err
					}
					if got := last - before; got != 4*m.messages {
						return fmt.Errorf("damp %g: %d waits in 4 steps, want %d", damp, got, 4*m.messages)
					}
				}
				return nil
			})
		})
		if err != nil {
			t.Errorf("ranks=%d: %v", ranks, err)
		}
	}
}
