//go:build linux

package gpusim_test

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/internal/gpusim"
)

// cuda is the simulated driver and compiler with a context of device 0 on the
// thread of the test.
type cuda struct {
	t           testing.TB
	drv, nvrtc  *dl.Lib
	ctx, stream uintptr
}

func open(t testing.TB) *cuda {
	t.Helper()
	dir, err := gpusim.Build()
	if err != nil {
		t.Fatal(err)
	}
	c := &cuda{t: t, drv: lib(t, dir, "libcuda.so.1"), nvrtc: lib(t, dir, "libnvrtc.so.12")}
	runtime.LockOSThread()
	c.must("cuInit", 0)
	c.must("cuDevicePrimaryCtxRetain", dl.Pointer(&c.ctx), 0)
	c.must("cuCtxSetCurrent", c.ctx)
	c.must("cuStreamCreate", dl.Pointer(&c.stream), 1)
	t.Cleanup(func() {
		gpusim.Reset()
		c.must("cuDevicePrimaryCtxRelease_v2", 0)
		runtime.UnlockOSThread()
	})
	return c
}

func lib(t testing.TB, dir, name string) *dl.Lib {
	t.Helper()
	l, err := dl.Open(dl.Local, filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (c *cuda) call(name string, args ...uintptr) int32 { return c.drv.Func(name).Call(args...) }

func (c *cuda) must(name string, args ...uintptr) {
	c.t.Helper()
	if r := c.call(name, args...); r != 0 {
		c.t.Fatalf("%s: error %d", name, r)
	}
}

// compile returns the image of a source, or the log of what is wrong with it.
func (c *cuda) compile(source string, options ...string) (image []byte, log string) {
	c.t.Helper()
	var prog uintptr
	text, name := append([]byte(source), 0), []byte("test.cu\x00")
	if r := c.nvrtc.Func("nvrtcCreateProgram").Call(dl.Pointer(&prog), dl.Pointer(&text[0]), dl.Pointer(&name[0]), 0, 0, 0); r != 0 {
		c.t.Fatalf("nvrtcCreateProgram: %d", r)
	}
	var keep [][]byte
	opts := make([]uintptr, len(options)+1)
	for i, o := range options {
		keep = append(keep, append([]byte(o), 0))
		opts[i] = dl.Pointer(&keep[i][0])
	}
	r := c.nvrtc.Func("nvrtcCompileProgram").Call(prog, uintptr(len(options)), dl.Pointer(&opts[0]))
	runtime.KeepAlive(keep)
	get := func(what string) []byte {
		var n uintptr
		c.nvrtc.Func("nvrtcGet"+what+"Size").Call(prog, dl.Pointer(&n))
		b := make([]byte, n+1)
		c.nvrtc.Func("nvrtcGet"+what).Call(prog, dl.Pointer(&b[0]))
		return b
	}
	if r != 0 {
		return nil, dl.String(get("ProgramLog"))
	}
	return get("CUBIN"), ""
}

func (c *cuda) module(source string, options ...string) (mod uintptr) {
	c.t.Helper()
	image, log := c.compile(source, options...)
	if image == nil {
		c.t.Fatal(log)
	}
	c.must("cuModuleLoadData", dl.Pointer(&mod), dl.Pointer(&image[0]))
	return mod
}

func (c *cuda) function(mod uintptr, name string) (f uintptr) {
	c.t.Helper()
	b := append([]byte(name), 0)
	c.must("cuModuleGetFunction", dl.Pointer(&f), mod, dl.Pointer(&b[0]))
	return f
}

// launch runs f on a grid of blocks in one dimension.
func launch[A any](c *cuda, f uintptr, grid, block, shared int, args *A) int32 {
	params := [1]uintptr{dl.Pointer(args)}
	r := c.call("cuLaunchKernel", f, uintptr(grid), 1, 1, uintptr(block), 1, 1, uintptr(shared), c.stream, dl.Pointer(&params[0]), 0)
	runtime.KeepAlive(args)
	return r
}

func (c *cuda) alloc(n int) (p uintptr) {
	c.t.Helper()
	c.must("cuMemAlloc_v2", dl.Pointer(&p), uintptr(n))
	return p
}

func toDevice[T any](c *cuda, x []T) uintptr {
	c.t.Helper()
	n := uintptr(len(x)) * unsafe.Sizeof(x[0])
	p := c.alloc(int(n))
	c.must("cuMemcpyHtoDAsync_v2", p, dl.Pointer(&x[0]), n, c.stream)
	return p
}

func toHost[T any](c *cuda, p uintptr, n int) []T {
	c.t.Helper()
	x := make([]T, n)
	c.must("cuMemcpyDtoHAsync_v2", dl.Pointer(&x[0]), p, uintptr(n)*unsafe.Sizeof(x[0]), c.stream)
	c.must("cuStreamSynchronize", c.stream)
	return x
}

// vectors is a source with one kernel of each sort.
const vectors = `
struct Args { unsigned long long x, y; long long n; double a; };
KERNEL(axpy, Args) {
	long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
	if (i >= p.n) return;
	const R* x = (const R*)p.x;
	R* y = (R*)p.y;
	y[i] += (R)p.a * x[i];
}
__device__ __forceinline__ double warp_sum(double v) {
	for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
	return v;
}
KERNEL_SYNC(sum, Args) {
	__shared__ double part[32];
	double v = 0;
	for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < p.n; i += blockDim.x * (long long)gridDim.x)
		v += ((const R*)p.x)[i];
	v = warp_sum(v);
	if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
	__syncthreads();
	if (threadIdx.x < 32) {
		v = warp_sum(threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0);
		if (threadIdx.x == 0) atomicAdd((double*)p.y, v);
	}
}
KERNEL_SYNC(reverse, Args) {
	DYNAMIC_SHARED(R, s);
	R* x = (R*)p.x;
	s[threadIdx.x] = x[threadIdx.x];
	__syncthreads();
	x[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
`

type vecArgs struct {
	x, y uintptr
	n    int64
	a    float64
}

func TestKernels(t *testing.T) {
	c := open(t)
	mod := c.module(vectors, "-DR=float", "--gpu-architecture=sm_90", "-std=c++17")
	const n = 10_001
	x, y := make([]float32, n), make([]float32, n)
	var want float64
	for i := range x {
		x[i], y[i] = float32(i), 1
		want += float64(1 + 2*i)
	}
	args := &vecArgs{x: toDevice(c, x), y: toDevice(c, y), n: n, a: 2}
	if r := launch(c, c.function(mod, "axpy"), (n+255)/256, 256, 0, args); r != 0 {
		t.Fatalf("axpy: error %d", r)
	}
	if got := toHost[float32](c, args.y, n); got[3] != 7 || got[n-1] != float32(1+2*(n-1)) {
		t.Errorf("axpy gave %g, ..., %g", got[3], got[n-1])
	}
	args.x, args.y = args.y, toDevice(c, []float64{0})
	if r := launch(c, c.function(mod, "sum"), 3, 192, 0, args); r != 0 {
		t.Fatalf("sum: error %d", r)
	}
	if got := toHost[float64](c, args.y, 1)[0]; got != want {
		t.Errorf("sum is %g, want %g", got, want)
	}
	if r := launch(c, c.function(mod, "reverse"), 1, 1000, 4000, args); r != 0 {
		t.Fatalf("reverse: error %d", r)
	}
	if got := toHost[float32](c, args.x, 1000); got[0] != 1+2*999 || got[999] != 1 {
		t.Errorf("reverse gave %g, ..., %g", got[0], got[999])
	}
}

func TestCompileErrorIsInLog(t *testing.T) {
	c := open(t)
	_, log := c.compile("struct A { int n; };\nKERNEL(broken, A) { int i = nonsense; }\n")
	if !strings.Contains(log, "test.cu:2") || !strings.Contains(log, "nonsense") {
		t.Errorf("log does not name the line and the word: %q", log)
	}
	if _, log := c.compile("", "-ffast-math"); !strings.Contains(log, "-ffast-math") {
		t.Errorf("an option that NVRTC lacks is taken: %q", log)
	}
}
