package hip_test

import (
	"strings"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/device/devicetest"
	"github.com/golops/golops/device/hip"
)

// TestKernels runs the suite on the first GPU. Without one the simulator has to do: the
// tests of internal/gpu.
func TestKernels(t *testing.T) {
	if n, err := hip.Count(); n == 0 {
		t.Skipf("no GPU: %v", err)
	}
	devicetest.Run(t, func(t *testing.T) device.Device {
		d, err := hip.New(hip.Config{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	})
}

// TestDetect lists libraries and GPUs. Without a driver it wants the reason.
func TestDetect(t *testing.T) {
	r := hip.Detect()
	if len(r.Libraries) == 0 || r.Libraries[0].What != "driver" {
		t.Fatalf("the report begins with %+v", r.Libraries)
	}
	n, err := hip.Count()
	if len(r.Devices) != n {
		t.Errorf("%d devices, and a report of %d", n, len(r.Devices))
	}
	if err != nil && (r.Libraries[0].Err == nil || !strings.Contains(err.Error(), "libamdhip64")) {
		t.Errorf("devices cannot be counted, %v; the report says %v", err, r.Libraries[0].Err)
	}
	for _, d := range r.Devices {
		if d.Name == "" || d.Memory == 0 || !strings.HasPrefix(d.Arch, "gfx") {
			t.Errorf("a device is %+v", d)
		}
	}
}
