package gpu_test

import (
	"path/filepath"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/device/devicetest"
	"github.com/golops/golops/internal/gpu"
	"github.com/golops/golops/internal/gpusim"
)

// simulated opens a device of the simulator, whose compiled kernels are kept
// beside it.
func simulated(t testing.TB, p *gpu.Platform) *gpu.Device {
	t.Helper()
	dir, err := gpusim.Build()
	if err != nil {
		t.Fatal(err)
	}
	d, err := gpu.New(p, gpu.Config{Folder: dir, Cache: filepath.Join(dir, "kernels")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestCUDA(t *testing.T) {
	devicetest.Run(t, func(t *testing.T) device.Device { return simulated(t, gpu.CUDA) })
}
