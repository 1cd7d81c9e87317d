package cuda_test

import (
	"strings"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/device/cuda"
	"github.com/golops/golops/device/devicetest"
)

// TestKernels runs the suite on the first GPU. Without one the simulator has to do: the
// tests of internal/gpu.
func TestKernels(t *testing.T) {
	if n, err := cuda.Count(); n == 0 {
		t.Skipf("no GPU: %v", err)
	}
	devicetest.Run(t, func(t *testing.T) device.Device {
		d, err := cuda.New(cuda.Config{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	})
}

// TestMemory steps a million times on the first GPU.
func TestMemory(t *testing.T) {
	if n, err := cuda.Count(); n == 0 {
		t.Skipf("no GPU: %v", err)
	}
	d, err := cuda.New(cuda.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	k, err := device.KernelsFor[float32](d)
	if err != nil {
		t.Fatal(err)
	}
	least, most := 0, 0
	for i := range 1_000_000 {
		m, err := k.Alloc(1 + i%1000)
		if err != nil {
			t.Fatal(err)
		}
		k.Free(m)
		if i%100_000 == 99_999 {
			if err := d.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
			free, _ := d.Memory()
			if least == 0 {
				least, most = free, free
			}
			least, most = min(least, free), max(most, free)
		}
	}
	if most-least > 1<<20 { // others may use the GPU too
		t.Errorf("between %d and %d bytes were free", least, most)
	}
}

// TestDetect lists libraries and GPUs. Without a driver it wants the reason.
func TestDetect(t *testing.T) {
	r := cuda.Detect()
	if len(r.Libraries) == 0 || r.Libraries[0].What != "driver" {
		t.Fatalf("the report begins with %+v", r.Libraries)
	}
	n, err := cuda.Count()
	if len(r.Devices) != n {
		t.Errorf("%d devices, and a report of %d", n, len(r.Devices))
	}
	if err != nil && (r.Libraries[0].Err == nil || !strings.Contains(err.Error(), "libcuda.so.1")) {
		t.Errorf("devices cannot be counted, %v; the report says %v", err, r.Libraries[0].Err)
	}
	for _, d := range r.Devices {
		if d.Name == "" || d.Memory == 0 || !strings.HasPrefix(d.Arch, "sm_") {
			t.Errorf("a device is %+v", d)
		}
	}
}
