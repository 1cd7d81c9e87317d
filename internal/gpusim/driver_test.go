//go:build linux

package gpusim_test

import (
	"math"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/internal/gpusim"
)

const (
	invalidValue, outOfMemory, invalidImage = 1, 2, 200
	invalidContext, invalidHandle, notFound = 201, 400, 500
	contextDestroyed                        = 709
)

func (c *cuda) expect(want int32, name string, args ...uintptr) {
	c.t.Helper()
	if got := c.call(name, args...); got != want {
		c.t.Errorf("%s: error %d, want %d", name, got, want)
	}
}

// faulty has kernels with faults.
const faulty = `
struct Args { unsigned long long x; long long n; };
KERNEL(store, Args) { ((double*)p.x)[p.n] = 1; }
KERNEL(divide, Args) { *(long long*)p.x = (long long)p.x / p.n; }
KERNEL(alone, Args) { __syncthreads(); }
KERNEL_SYNC(half, Args) { if (threadIdx.x < 7) __syncthreads(); else __shfl_down_sync(0xffffffffu, 1, 1); }
KERNEL_SYNC(two, Args) {
	if (threadIdx.x % 2)
		__syncthreads();
	else
		__syncthreads();
}
KERNEL_SYNC(early, Args) {
	if (threadIdx.x >= p.n) return;
	__syncthreads();
	if (threadIdx.x == 0) *(double*)p.x = 5;
}
KERNEL_SYNC(deep, Args) { volatile char room[1 << 20]; room[p.n] = 1; __syncthreads(); }
KERNEL_SYNC(past, Args) { DYNAMIC_SHARED(double, s); s[threadIdx.x + p.n] = 1; __syncthreads(); }
KERNEL_SYNC(trapped, Args) { if (threadIdx.x == 3) __trap(); __syncthreads(); }
`

type faultArgs struct {
	x uintptr
	n int64
}

// TestFaults has kernels fail and looks at what every later call says.
func TestFaults(t *testing.T) {
	c := open(t)
	mod := c.module(faulty)
	for _, k := range []struct {
		name  string
		n     int64
		error int32
		says  string
	}{
		{"store", 0, 0, ""},
		{"store", 512, gpusim.IllegalAddress, "no memory"},
		{"divide", 0, gpusim.IllegalAddress, "by zero"},
		{"alone", 0, gpusim.LaunchFailed, "line 5 in a kernel that is not a KERNEL_SYNC"},
		{"half", 0, gpusim.LaunchFailed, "thread 0 is at the barrier of line 6, thread 7 is at the warp operation of line 6"},
		{"two", 0, gpusim.LaunchFailed, "thread 0 is at the barrier of line 11, thread 1 is at the barrier of line 9"},
		{"early", 5, 0, ""},
		{"deep", 0, gpusim.IllegalAddress, "no memory"},
		{"past", 0, 0, ""},
		{"past", 1, gpusim.IllegalAddress, "no memory"},
		{"trapped", 0, gpusim.LaunchFailed, "trap at line"},
	} {
		x := c.alloc(4096)
		if r := launch(c, c.function(mod, k.name), 1, 64, 64*8, &faultArgs{x, k.n}); r != 0 {
			t.Fatalf("%s: error %d at once", k.name, r)
		}
		c.expect(k.error, "cuStreamSynchronize", c.stream)
		if !strings.Contains(gpusim.Message(), k.says) {
			t.Errorf("%s: message %q does not say %q", k.name, gpusim.Message(), k.says)
		}
		// It stays, whatever is called, until the context goes away.
		c.expect(k.error, "cuStreamQuery", c.stream)
		c.expect(k.error, "cuMemsetD8Async", x, 0, 1, c.stream)
		c.expect(k.error, "cuCtxSynchronize")
		c.expect(k.error, "cuMemFree_v2", x)
		gpusim.Reset()
	}
}

func TestFailLaunch(t *testing.T) {
	c := open(t)
	f := c.function(c.module(faulty), "store")
	x := c.alloc(8)
	gpusim.FailLaunch("other", gpusim.LaunchFailed)
	launch(c, f, 1, 1, 0, &faultArgs{x, 0})
	c.expect(0, "cuStreamSynchronize", c.stream)
	gpusim.FailLaunch("store", gpusim.IllegalAddress)
	launch(c, f, 1, 1, 0, &faultArgs{x, 0})
	c.expect(gpusim.IllegalAddress, "cuStreamSynchronize", c.stream)
	// Other devices go on.
	var ctx uintptr
	c.must("cuDevicePrimaryCtxRetain", dl.Pointer(&ctx), 1)
	c.must("cuCtxSetCurrent", ctx)
	c.must("cuCtxSynchronize")
	c.must("cuDevicePrimaryCtxRelease_v2", 1)
	c.expect(contextDestroyed, "cuCtxSynchronize")
	c.must("cuCtxSetCurrent", c.ctx)
	c.expect(gpusim.IllegalAddress, "cuCtxSynchronize")
}

// TestGoFault has Go itself fault: its handler must still get what is not ours.
func TestGoFault(t *testing.T) {
	open(t)
	defer func() {
		if e := recover(); e == nil || !strings.Contains(e.(error).Error(), "nil pointer") {
			t.Errorf("recovered %v", e)
		}
	}()
	var p *struct{ x [10]int }
	t.Error(p.x[3])
}

func TestContextIsNeeded(t *testing.T) {
	c := open(t)
	c.must("cuCtxSetCurrent", 0)
	var p uintptr
	c.expect(invalidContext, "cuMemAlloc_v2", dl.Pointer(&p), 8)
	c.expect(invalidContext, "cuStreamSynchronize", c.stream)
	var other uintptr
	c.must("cuDevicePrimaryCtxRetain", dl.Pointer(&other), 1)
	c.must("cuCtxSetCurrent", other)
	c.expect(invalidHandle, "cuStreamSynchronize", c.stream) // it is device 0's
	c.must("cuDevicePrimaryCtxRelease_v2", 1)
	c.must("cuCtxSetCurrent", c.ctx)
}

func TestMemory(t *testing.T) {
	c := open(t)
	gpusim.Set("GPUSIM_MEMORY", "1048576")
	var p, q, free, total uintptr
	c.expect(outOfMemory, "cuMemAlloc_v2", dl.Pointer(&p), 1<<20+1)
	c.must("cuMemAlloc_v2", dl.Pointer(&p), 1<<20-1000)
	c.expect(outOfMemory, "cuMemAllocAsync", dl.Pointer(&q), 2000, c.stream)
	c.must("cuMemGetInfo_v2", dl.Pointer(&free), dl.Pointer(&total))
	if total != 1<<20 || free >= 1000 {
		t.Errorf("free %d of %d", free, total)
	}
	if x := toHost[float64](c, p, 10)[9]; !math.IsNaN(x) {
		t.Errorf("new memory holds %g", x)
	}
	c.expect(invalidValue, "cuMemsetD8Async", p, 0, 1<<20, c.stream) // beyond its end
	c.expect(invalidValue, "cuMemFree_v2", p+8)
	c.must("cuMemFreeAsync", p, c.stream)
	c.expect(invalidValue, "cuMemFree_v2", p)
	c.must("cuMemAlloc_v2", dl.Pointer(&p), 1<<20)
	c.must("cuMemFree_v2", p)
	c.expect(invalidValue, "cuMemAlloc_v2", dl.Pointer(&p), 0)

	// A byte past the end is found when the memory is freed.
	p = c.alloc(100)
	f := c.function(c.module(faulty), "store")
	launch(c, f, 1, 1, 0, &faultArgs{p, 13})
	c.expect(gpusim.IllegalAddress, "cuMemFree_v2", p)
}

// TestStreams shows that streams wait for nobody but events and, if they are
// not non-blocking, the default stream.
func TestStreams(t *testing.T) {
	c := open(t)
	const n = 1 << 20
	var pinned, event, other, blocking uintptr
	c.must("cuMemHostAlloc", dl.Pointer(&pinned), 8*n, 0)
	c.must("cuEventCreate", dl.Pointer(&event), 0)
	c.must("cuStreamCreate", dl.Pointer(&other), 1)
	c.must("cuStreamCreate", dl.Pointer(&blocking), 0)
	host := unsafe.Slice((*float64)(*(*unsafe.Pointer)(unsafe.Pointer(&pinned))), n)
	mod := c.module(`
struct Args { unsigned long long flag; };
KERNEL(hold, Args) { while (!__atomic_load_n((int*)p.flag, __ATOMIC_ACQUIRE)) {} }`)
	var flag uintptr
	c.must("cuMemHostAlloc", dl.Pointer(&flag), 8, 0)
	c.must("cuMemsetD32Async", flag, 0, 1, c.stream)
	c.must("cuStreamSynchronize", c.stream)

	x := c.alloc(8 * n)
	if r := launch(c, c.function(mod, "hold"), 1, 1, 0, &struct{ flag uintptr }{flag}); r != 0 {
		t.Fatal(r)
	}
	c.must("cuMemsetD8Async", x, 0, 8*n, c.stream)
	c.must("cuEventRecord", event, c.stream)
	c.must("cuStreamWaitEvent", other, event, 0)
	c.must("cuMemcpyDtoHAsync_v2", pinned, x, 8*n, other) // returns at once: the memory is pinned
	c.expect(600, "cuStreamQuery", c.stream)
	c.expect(600, "cuStreamQuery", other)
	c.expect(600, "cuEventQuery", event)
	c.must("cuStreamSynchronize", 0) // the default stream does not wait for non-blocking ones
	if !math.IsNaN(host[n-1]) {
		t.Error("the copy did not wait for the event")
	}
	c.must("cuMemsetD32Async", flag, 1, 1, blocking)
	c.must("cuStreamSynchronize", other)
	if host[n-1] != 0 {
		t.Errorf("copied %g, want 0", host[n-1])
	}
	c.must("cuEventSynchronize", event)

	// The default stream waits for blocking ones, and they for it.
	c.must("cuMemsetD32Async", flag, 0, 1, c.stream)
	c.must("cuStreamSynchronize", c.stream)
	params := [1]uintptr{dl.Pointer(&flag)}
	c.must("cuLaunchKernel", c.function(mod, "hold"), 1, 1, 1, 1, 1, 1, 0, blocking, dl.Pointer(&params[0]), 0)
	c.must("cuMemsetD8Async", x, 0, 1, 0)
	c.expect(600, "cuStreamQuery", 0)
	c.must("cuMemsetD32Async", flag, 1, 1, c.stream)
	c.must("cuStreamSynchronize", 0)

	c.must("cuStreamDestroy_v2", other)
	c.expect(invalidHandle, "cuStreamSynchronize", other)
	c.must("cuMemFreeHost", pinned)
	c.must("cuEventDestroy_v2", event)
	c.expect(invalidHandle, "cuEventQuery", event)
}

func TestHold(t *testing.T) {
	c := open(t)
	release := gpusim.Hold()
	c.must("cuMemsetD8Async", c.alloc(8), 0, 8, c.stream)
	c.expect(600, "cuStreamQuery", c.stream)
	release()
	c.must("cuStreamSynchronize", c.stream)
}

func TestLaunchLimits(t *testing.T) {
	c := open(t)
	mod := c.module(vectors, "-DR=float")
	f := c.function(mod, "axpy")
	args := &vecArgs{}
	for _, g := range [][2]int{{0, 1}, {1, 0}, {1, 1025}} {
		if r := launch(c, f, g[0], g[1], 0, args); r != invalidValue {
			t.Errorf("grid %d, block %d: error %d, want %d", g[0], g[1], r, invalidValue)
		}
	}
	params := [1]uintptr{dl.Pointer(args)}
	c.expect(invalidValue, "cuLaunchKernel", f, 1, 65536, 1, 1, 1, 1, 0, c.stream, dl.Pointer(&params[0]), 0)
	if r := launch(c, f, 1, 1, 48<<10+1, args); r != invalidValue {
		t.Errorf("too much shared memory: error %d, want %d", r, invalidValue)
	}
	c.expect(invalidValue, "cuFuncSetAttribute", f, 8, 228<<10)
	c.must("cuFuncSetAttribute", f, 8, 227<<10)
	if r := launch(c, f, 1, 1, 227<<10, args); r != 0 {
		t.Errorf("shared memory that was asked for: error %d", r)
	}
	c.must("cuStreamSynchronize", c.stream)
	name := []byte("nothing\x00")
	c.expect(notFound, "cuModuleGetFunction", dl.Pointer(&f), mod, dl.Pointer(&name[0]))
	image, _ := c.compile(vectors, "-DR=float")
	image[len(image)/2] ^= 1
	c.expect(invalidImage, "cuModuleLoadData", dl.Pointer(&mod), dl.Pointer(&image[0]))
}

// TestThreads uses one device from many threads.
func TestThreads(t *testing.T) {
	c := open(t)
	mod := c.module(vectors, "-DR=double")
	f := c.function(mod, "sum")
	total := toDevice(c, []float64{0})
	ones := make([]float64, 1000)
	for i := range ones {
		ones[i] = 1
	}
	x := toDevice(c, ones)
	c.must("cuStreamSynchronize", c.stream)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			d := open(t)
			for range 20 {
				if r := launch(d, f, 2, 64, 0, &vecArgs{x: x, y: total, n: 1000}); r != 0 {
					t.Errorf("launch: %d", r)
				}
			}
			d.must("cuStreamSynchronize", d.stream)
		})
	}
	wg.Wait()
	if got := toHost[float64](c, total, 1)[0]; got != 160_000 {
		t.Errorf("total is %g, want 160000", got)
	}
}
