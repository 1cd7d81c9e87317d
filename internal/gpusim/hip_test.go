//go:build linux

package gpusim_test

import (
	"runtime"
	"testing"

	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/internal/gpusim"
)

// TestHIP compiles and runs a kernel on waves of 64 by the names of HIP, on a
// thread that has chosen no device.
func TestHIP(t *testing.T) {
	dir, err := gpusim.Build()
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	hip, rtc := lib(t, dir, "libamdhip64.so.6"), lib(t, dir, "libhiprtc.so.6")
	call := func(l *dl.Lib, name string, args ...uintptr) {
		t.Helper()
		if r := l.Func(name).Call(args...); r != 0 {
			t.Fatalf("%s: %d", name, r)
		}
	}
	source := []byte(`
struct Args { unsigned long long x; };
KERNEL_SYNC(fold, Args) {
	double v = ((double*)p.x)[threadIdx.x];
	for (int d = warpSize / 2; d > 0; d /= 2) v += __shfl_down(v, d);
	if (threadIdx.x < 32) v += 0 * __shfl_down(v, 1, 32);
	__syncthreads();
	if (threadIdx.x == 0) *(double*)p.x = v;
}` + "\x00")
	option := []byte("--offload-arch=gfx90a\x00")
	options := [1]uintptr{dl.Pointer(&option[0])}
	var prog, size, mod, f, x, stream uintptr
	call(rtc, "hiprtcCreateProgram", dl.Pointer(&prog), dl.Pointer(&source[0]), 0, 0, 0, 0)
	call(rtc, "hiprtcCompileProgram", prog, 1, dl.Pointer(&options[0]))
	call(rtc, "hiprtcGetCodeSize", prog, dl.Pointer(&size))
	code := make([]byte, size)
	call(rtc, "hiprtcGetCode", prog, dl.Pointer(&code[0]))
	call(rtc, "hiprtcDestroyProgram", dl.Pointer(&prog))

	data := make([]float64, 64)
	for i := range data {
		data[i] = float64(i)
	}
	name := []byte("fold\x00")
	call(hip, "hipModuleLoadData", dl.Pointer(&mod), dl.Pointer(&code[0]))
	call(hip, "hipModuleGetFunction", dl.Pointer(&f), mod, dl.Pointer(&name[0]))
	call(hip, "hipStreamCreateWithFlags", dl.Pointer(&stream), 1)
	call(hip, "hipMalloc", dl.Pointer(&x), 8*64)
	call(hip, "hipMemcpyHtoDAsync", x, dl.Pointer(&data[0]), 8*64, stream)
	params := [1]uintptr{dl.Pointer(&x)}
	call(hip, "hipModuleLaunchKernel", f, 1, 1, 1, 64, 1, 1, 60<<10, stream, dl.Pointer(&params[0]), 0)
	call(hip, "hipMemcpyDtoHAsync", dl.Pointer(&data[0]), x, 8, stream)
	call(hip, "hipStreamSynchronize", stream)
	if data[0] != 63*64/2 {
		t.Errorf("sum is %g, want %d", data[0], 63*64/2)
	}
	hipBLAS(t, dir, stream)

	var text uintptr
	call(hip, "hipDrvGetErrorName", 2, dl.Pointer(&text))
	if got := dl.CString(text); got != "hipErrorOutOfMemory" {
		t.Errorf("error 2 is %q", got)
	}
	if hip.Func("cuInit") != 0 {
		t.Error("the HIP library has names of CUDA")
	}
	call(hip, "hipFree", x)
	call(hip, "hipDevicePrimaryCtxRelease", 0)
}

func hipBLAS(t *testing.T, dir string, stream uintptr) {
	t.Helper()
	hip, blas := lib(t, dir, "libamdhip64.so.6"), lib(t, dir, "libhipblas.so.2")
	var h, a uintptr
	blas.Func("hipblasCreate").Call(dl.Pointer(&h))
	blas.Func("hipblasSetStream").Call(h, stream)
	hip.Func("hipMalloc").Call(dl.Pointer(&a), 16)
	x := []float32{1, 2, 3, 4}
	hip.Func("hipMemcpyHtoDAsync").Call(a, dl.Pointer(&x[0]), 16, stream)
	one, zero := []float32{1}, []float32{0}
	var c uintptr
	hip.Func("hipMalloc").Call(dl.Pointer(&c), 16)
	if r := blas.Func("hipblasSgemm").Call(h, 112, 111, 2, 2, 2, dl.Pointer(&one[0]), a, 2, a, 2, dl.Pointer(&zero[0]), c, 2); r != 0 {
		t.Fatalf("hipblasSgemm: %d", r)
	}
	hip.Func("hipMemcpyDtoHAsync").Call(dl.Pointer(&x[0]), c, 16, stream)
	if x[0] != 5 || x[1] != 11 || x[3] != 25 { // AᵀA of the columns (1 2), (3 4)
		t.Errorf("AᵀA is %v", x)
	}
	blas.Func("hipblasDestroy").Call(h)
}
