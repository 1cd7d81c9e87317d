package gpu

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/gpusim"
)

// wants checks that an error names what a user must know.
func wants(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("the error does not say %q: %v", p, err)
		}
	}
}

func TestNoDriver(t *testing.T) {
	p := *CUDA
	p.driver = []library{{"libno_such_driver.so.1", 0}}
	_, err := New(&p, Config{})
	wants(t, err, "cuda", "libno_such_driver.so.1 not found", "GOLOPS_CUDA", "CUDA_HOME")
	if _, err := Count(&p); err == nil {
		t.Error("devices were counted without a driver")
	}
	if r := Detect(&p); len(r.Libraries) == 0 || r.Libraries[0].Err == nil || r.Devices != nil {
		t.Errorf("without a driver there is %+v", r)
	}
}

// TestOldDriver opens libraries that lack functions. All functions of the driver are
// required. Some of the compiler are optional.
func TestOldDriver(t *testing.T) {
	dir := t.TempDir()
	stub(t, dir, "libcuda.so.1", "int cuInit(unsigned f) { return 0; }")
	_, err := New(CUDA, Config{Folder: dir})
	wants(t, err, filepath.Join(dir, "libcuda.so.1"), "lacks", "cuDriverGetVersion", "cuLaunchKernel", "CUDA 11.8")

	stub(t, dir, "libamdhip64.so.6", "int hipInit(unsigned f) { return 0; }")
	_, err = New(HIP, Config{Folder: dir})
	wants(t, err, filepath.Join(dir, "libamdhip64.so.6"), "lacks", "hipGetDeviceCount", "hipModuleLaunchKernel", "ROCm")

	stub(t, dir, "libnvrtc.so.12", `
		#define F(name) int name() { return 0; }
		int nvrtcVersion(int *a, int *b) { *a = 11; *b = 0; return 0; }
		F(nvrtcCreateProgram) F(nvrtcDestroyProgram) F(nvrtcCompileProgram) F(nvrtcGetProgramLogSize) F(nvrtcGetProgramLog)
		F(nvrtcGetPTXSize) F(nvrtcGetPTX)`)
	c, err := openCompiler(CUDA, 12, dir)
	if err != nil {
		t.Fatal(err)
	}
	if option, binary, err := c.archOption("sm_90"); option != "--gpu-architecture=compute_90" || binary || err != nil {
		t.Errorf("without machine code the option is %q, %v, %v", option, binary, err)
	}
}

// TestVersions wants libraries of the driver's version to be preferred.
func TestVersions(t *testing.T) {
	dir := t.TempDir()
	stub(t, dir, "libnvrtc.so.13", "int one() { return 1; }")
	stub(t, dir, "libnvrtc.so.12", "int two() { return 2; }")
	for major, want := range map[int]string{0: "libnvrtc.so.13", 11: "libnvrtc.so.13", 12: "libnvrtc.so.12", 13: "libnvrtc.so.13", 14: "libnvrtc.so.13"} {
		lib, err := CUDA.open(CUDA.compiler, major, dir)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(lib.Path) != want {
			t.Errorf("with a driver of version %d: %s, want %s", major, lib.Path, want)
		}
	}
}

// TestOldest binds libraries that have only what CUDA 11.8 has. The list has the
// functions of cuda.h and the symbols of the other libraries.
func TestOldest(t *testing.T) {
	list, err := os.ReadFile("testdata/cuda-11.8.txt")
	if err != nil {
		t.Fatal(err)
	}
	dir, name := t.TempDir(), ""
	code := map[string]*strings.Builder{}
	for word := range strings.FieldsSeq(string(list)) {
		if lib, ok := strings.CutSuffix(word, ":"); ok {
			name, code[lib] = lib, new(strings.Builder)
			continue
		}
		code[name].WriteString("int " + word + "() { return 0; }\n")
	}
	for _, k := range []struct {
		file  string
		libs  []library
		table any
	}{
		{"libcuda.so.1", CUDA.driver, new(driver)}, {"libnvrtc.so.11.2", CUDA.compiler, new(compiler)},
		{"libcublas.so.11", CUDA.blas, new(blas)}, {"libcufft.so.10", CUDA.fft, new(fft)},
	} {
		so := stub(t, dir, k.file, code[k.file].String())
		lib, err := CUDA.open(k.libs, 11, dir)
		if err != nil || lib.Path != so {
			t.Fatalf("%s: opened %v, %v", k.file, lib, err)
		}
		if err := CUDA.bind(lib, k.table); err != nil {
			t.Error(err)
		}
	}
}

// TestEnvironment finds libraries of a toolkit and of pip in the folders that a
// variable names, or beside a file that it names.
func TestEnvironment(t *testing.T) {
	root := t.TempDir()
	for _, k := range []struct{ name, from, to string }{
		{"libnvrtc.so.11.2", "toolkit", "lib64"},
		{"libnvrtc.so.12", "env/lib/python3.12/site-packages/nvidia/cuda_nvrtc", "lib"},
		{"libnvrtc.so.13", "env/lib/python3.12/site-packages", "nvidia/cu13/lib"},
		{"libcublas.so.12", "env/lib/python3.12/site-packages/nvidia", "cublas/lib"},
		{"libcufft.so.12", "env", "lib/python3.12/site-packages/nvidia/cu13/lib"},
	} {
		dir := filepath.Join(root, k.from)
		if err := os.MkdirAll(filepath.Join(dir, k.to), 0o755); err != nil {
			t.Fatal(err)
		}
		lib := stub(t, filepath.Join(dir, k.to), k.name, "int three() { return 3; }")
		for _, value := range []string{dir, lib, "/no/such/folder:" + dir} {
			t.Setenv("GOLOPS_CUDA", value)
			l, err := CUDA.open([]library{{k.name, 0}}, 0, "")
			if err != nil || l.Path != lib {
				t.Errorf("GOLOPS_CUDA=%s: %+v, %v", value, l, err)
			}
		}
	}
}

// stub builds a library from C.
func stub(t *testing.T, dir, name, source string) string {
	t.Helper()
	c, so := write(t, filepath.Join(dir, name+".c"), source), filepath.Join(dir, name)
	if out, err := exec.Command("cc", "-w", "-shared", "-fPIC", "-o", so, c).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	return so
}

func TestNoDevice(t *testing.T) {
	_, err := New(CUDA, Config{Folder: simulator(t), Index: 7})
	wants(t, err, "no device 7", "sees 4")
	_, err = New(CUDA, Config{Index: -1})
	wants(t, err, "-1", "negative")
	settings(t, "GPUSIM_DEVICES", "0")
	_, err = New(CUDA, Config{Folder: simulator(t)})
	wants(t, err, "no device", "CUDA_VISIBLE_DEVICES")
}

func TestOutOfMemory(t *testing.T) {
	settings(t, "GPUSIM_MEMORY", "67108864")
	d := simulated(t, CUDA)
	_, err := d.f32.Alloc(100 << 20)
	wants(t, err, "400.0 MiB", "free", "of 64.0 MiB", "more ranks")
	if !errors.Is(err, device.ErrMemory) {
		t.Errorf("%v is not ErrMemory", err)
	}
	if _, err := d.c128.Alloc(1 << 61); !errors.Is(err, device.ErrMemory) {
		t.Errorf("%v is not ErrMemory", err)
	}
	// Memory that the pool caches is returned for other sizes.
	for n := 8 << 20; n < 14<<20; n += 1 << 20 {
		m, err := d.f32.Alloc(n)
		if err != nil {
			t.Fatalf("alloc after free: %v", err)
		}
		d.f32.Free(m)
	}
}

// TestFailedKernel wants every kind of call to report a failure, repeatedly.
func TestFailedKernel(t *testing.T) {
	calls := map[string]func(d *Device, m device.Mem[float32]) error{
		"dot":      func(d *Device, m device.Mem[float32]) error { _, err := d.f32.Dot(m, m, false); return err },
		"copy out": func(d *Device, m device.Mem[float32]) error { return d.f32.CopyOut(make([]float32, m.N), m) },
		"copy in":  func(d *Device, m device.Mem[float32]) error { return d.f32.CopyIn(m, make([]float32, m.N)) },
		"sync":     func(d *Device, m device.Mem[float32]) error { return d.Sync(context.Background()) },
		"close":    func(d *Device, m device.Mem[float32]) error { return d.Close() },
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			settings(t)
			d := simulated(t, CUDA)
			m, err := d.f32.Alloc(1000)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
			gpusim.FailLaunch("combine", gpusim.IllegalAddress)
			d.f32.Axpby(2, m, 0, m)
			d.f32.Fill(m, 1)
			for range 2 {
				err := call(d, m)
				if name == "close" && err == nil {
					break // the second time
				}
				wants(t, err, "cuda", "700")
			}
		})
	}
}

// TestFailureOfAQueue wants the same of copies on a queue.
func TestFailureOfAQueue(t *testing.T) {
	settings(t)
	d := simulated(t, CUDA)
	q, err := d.NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.f32.Alloc(10)
	if err != nil {
		t.Fatal(err)
	}
	gpusim.FailLaunch("fill", gpusim.LaunchFailed)
	d.f32.Fill(m, 1)
	if err := q.Follow(); err == nil {
		mark, err := q.Mark()
		for done := false; err == nil && !done; {
			done, err = q.Reached(mark)
		}
		wants(t, err, "719")
	}
}

func TestUnsupported(t *testing.T) {
	d := simulated(t, CUDA)
	d.unsupported("Nonsense", d.f32.dtype)
	_, err := d.f32.Alloc(1)
	wants(t, err, "Nonsense", "float32")
	if !errors.Is(err, device.ErrUnsupported) {
		t.Errorf("%v is not ErrUnsupported", err)
	}
	if _, err := d.f32.Alloc(1); err != nil {
		t.Errorf("the second call after a kernel that is not there: %v", err)
	}
}

func TestClosed(t *testing.T) {
	d := simulated(t, CUDA)
	m, err := d.f32.Alloc(10)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	d.f32.Fill(m, 1)
	d.f32.Free(m)
	_, err = d.f32.Dot(m, m, false)
	wants(t, err, "closed")
	wants(t, d.f32.CopyOut(make([]float32, 10), m), "closed")
	_, err = d.NewQueue()
	wants(t, err, "closed")
}
