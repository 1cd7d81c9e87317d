package ops_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/golops/golops/array"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/fakegpu"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/shape"
)

// Where the memory of a device ends while an operator is made, on one rank, that
// rank gets an error and none is left waiting; and memory of operators that
// nobody has any more comes back.
func TestNoMemory(t *testing.T) {
	for ranks := 1; ranks <= 2; ranks++ {
		err := testdevices.On(t.Context(), "hidden", ranks, func(ctx context.Context, r dist.Proc) error {
			d := r.Device.(*fakegpu.Device)
			x, err := dist.NewSpace(ctx, r, dist.Layout{}, 7, 5)
			if err != nil {
				return err
			}
			for _, m := range forms[float32]() {
				if err := short(ctx, x, d, m); err != nil {
					return fmt.Errorf("%s: %w", m.name, err)
				}
			}
			for tries := 0; tries < 10_000 && d.Live > 0; tries++ {
				runtime.GC()
				runtime.Gosched()
				a, err := array.New[float32](d, shape.Of(1)) // which is when memory comes back
				if err != nil {
					return err
				}
				a.Free()
			}
			if d.Live > 0 {
				return fmt.Errorf("%d blocks of memory are left", d.Live)
			}
			return nil
		})
		if err != nil {
			t.Errorf("ranks=%d: %v", ranks, err)
		}
	}
}

// short makes an operator with memory that ends after more and more allocations
// on the last rank, until it can be made.
func short(ctx context.Context, x *dist.Space, d *fakegpu.Device, m form[float32]) error {
	c := x.Comm()
	for n := 1; ; n++ {
		d.Spare = 0
		if c.Rank() == c.Size()-1 {
			d.Spare = n
		}
		_, err := m.make(ctx, x)
		enough := d.Spare > 0
		d.Spare = 0
		if c.Rank() == c.Size()-1 && !enough && !errors.Is(err, device.ErrMemory) {
			return fmt.Errorf("allocation %d fails: got error %v", n, err)
		}
		if err := comm.BroadcastObject(ctx, c, &enough, c.Size()-1); err != nil || enough {
			return err
		}
	}
}
