package perf

import (
	"context"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
)

// TestDeviceMemory measures buffers in fake GPU memory. A benchmark that reads them
// without the device gets wrong data or crashes.
func TestDeviceMemory(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		cfg := quick(ranks)
		cfg.Root, cfg.DType, cfg.Reduction, cfg.Device = ranks-1, All, All, "cuda"
		err := testdevices.On(t.Context(), "hidden", ranks, func(ctx context.Context, r dist.Proc) error {
			tables, err := Sweep(ctx, r.Comm, r.Device, driver.Auto, cfg, nil)
			if err != nil {
				return err
			}
			if len(tables) != len(operations)-3 { // there are no windows over such memory
				t.Errorf("%d tables", len(tables))
			}
			for _, tab := range tables {
				if tab.Memory != GPUMemory || tab.Device == "" || tab.Wrong != 0 || len(tab.Rows) == 0 {
					t.Errorf("got %+v", tab)
				}
			}
			cfg := Defaults()
			cfg.Min, cfg.Max, cfg.Iters, cfg.LoopTime = 64, 64, 1, 0
			tables, err = Sweep(ctx, comm.New(idle{r.Comm.Conn()}), r.Device, driver.Auto, cfg, nil)
			if err == nil && tables[0].Wrong == 0 {
				t.Error("a communicator that does nothing was found right")
			}
			return err
		})
		if err != nil {
			t.Errorf("%d ranks: %v", ranks, err)
		}
	}
}
