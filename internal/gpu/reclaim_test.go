package gpu

import (
	"errors"
	"runtime"
	"testing"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/shape"
)

// TestReclaimUnreachable allocates more than the GPU has in arrays that nobody frees.
func TestReclaimUnreachable(t *testing.T) {
	settings(t, "GPUSIM_MEMORY", "67108864")
	d := simulated(t, CUDA)
	for i := range 20 {
		if _, err := array.New[float32](d, shape.Of(3<<20)); err != nil {
			t.Fatalf("array %d of 12 MiB: %v", i, err)
		}
	}
	kept := make([]array.Array[float32], 0, 10)
	for len(kept) < 10 {
		a, err := array.New[float32](d, shape.Of(3<<20))
		if errors.Is(err, device.ErrMemory) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, a)
	}
	if len(kept) != 5 {
		t.Errorf("%d arrays of 12 MiB fit into 64 MiB", len(kept))
	}
	runtime.KeepAlive(kept)
}
