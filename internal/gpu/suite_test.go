package gpu

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/device/devicetest"
	"github.com/golops/golops/internal/gpusim"
	"github.com/golops/golops/internal/soak"
	"github.com/golops/golops/scalar"
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

// simulated opens a device of the simulator. Compiled kernels are cached in the
// simulator's folder.
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

// TestCUDA runs the kernels of all types, except for float32, which TestHIP runs. make
// soak runs all.
func TestCUDA(t *testing.T) {
	types := soak.Or([]scalar.DType{scalar.Float64, scalar.Complex64, scalar.Complex128}, nil) // nil is all
	devicetest.Run(t, func(t *testing.T) device.Device { return simulated(t, CUDA) }, types...)
}

func write(t testing.TB, file, text string) string {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestHIP runs the same code through AMD's names, on waves of 64 threads. Types differ from
// those of TestCUDA in nothing else, so make test runs one.
func TestHIP(t *testing.T) {
	types := soak.Or([]scalar.DType{scalar.Float32}, nil) // nil is all
	devicetest.Run(t, func(t *testing.T) device.Device { return simulated(t, HIP) }, types...)
}

// TestInfo reads the properties of devices of both platforms.
func TestInfo(t *testing.T) {
	for p, arch := range map[*Platform]string{CUDA: "sm_", HIP: "gfx"} {
		t.Setenv(p.Env, simulator(t))
		r := Detect(p)
		if len(r.Devices) != 4 || r.Cache == "" {
			t.Fatalf("%s: %+v", p.Name, r)
		}
		for _, l := range r.Libraries {
			if l.Err != nil || !strings.HasPrefix(l.Path, simulator(t)) {
				t.Errorf("%s: %+v", p.Name, l)
			}
		}
		for i, in := range r.Devices {
			if in.Index != i || in.Name == "" || in.Memory == 0 || in.Processors == 0 || !strings.HasPrefix(in.Arch, arch) {
				t.Errorf("%s: device %d is %+v", p.Name, i, in)
			}
		}
		if n, err := Count(p); n != 4 || err != nil {
			t.Errorf("%s: %d devices, %v", p.Name, n, err)
		}
		d := simulated(t, p)
		if d.Platform() != p.Name || d.Index() != 0 || !strings.HasPrefix(d.String(), p.Name+":0") {
			t.Errorf("a device of %s is %v, %s, %d", p.Name, d, d.Platform(), d.Index())
		}
	}
}
