package gpu

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/device/devicetest"
	"github.com/golops/golops/internal/gpusim"
)

// simulator returns the folder of the simulator.
func simulator(t testing.TB) string {
	t.Helper()
	dir, err := gpusim.Build()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// simulated opens a device of the simulator, whose compiled kernels are kept
// beside it.
func simulated(t testing.TB, p *Platform) *Device {
	t.Helper()
	dir := simulator(t)
	d, err := New(p, Config{Folder: dir, Cache: filepath.Join(dir, "kernels")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// settings changes the simulator for one test.
func settings(t testing.TB, pairs ...string) {
	t.Helper()
	simulator(t)
	for i := 0; i < len(pairs); i += 2 {
		gpusim.Set(pairs[i], pairs[i+1])
	}
	t.Cleanup(gpusim.Reset)
}

func TestCUDA(t *testing.T) {
	devicetest.Run(t, func(t *testing.T) device.Device { return simulated(t, CUDA) })
}

func write(t testing.TB, file, text string) string {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}
