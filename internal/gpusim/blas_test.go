//go:build linux

package gpusim_test

import (
	"math"
	"math/cmplx"
	"testing"

	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/internal/gpusim"
)

// TestGemm multiplies stored-by-columns matrices inside larger ones. What C
// held, NaNs here, must not count when beta is 0.
func TestGemm(t *testing.T) {
	c := open(t)
	dir, _ := gpusim.Build()
	blas := lib(t, dir, "libcublas.so.12")
	var h uintptr
	if r := blas.Func("cublasCreate_v2").Call(dl.Pointer(&h)); r != 0 {
		t.Fatalf("cublasCreate: %d", r)
	}
	defer blas.Func("cublasDestroy_v2").Call(h)
	blas.Func("cublasSetStream_v2").Call(h, c.stream)

	const m, n, k = 3, 2, 4
	at := func(i, j int) complex128 { return complex(float64(i+1), float64(j-2)) }
	bt := func(i, j int) complex128 { return complex(float64(2*i-j), 1) }
	a, b := make([]complex128, (k+1)*m), make([]complex128, k*n) // A is k x m with a row to spare, entered by its adjoint
	for i := range k {
		for j := range m {
			a[i+j*(k+1)] = at(i, j)
		}
		for j := range n {
			b[i+j*k] = bt(i, j)
		}
	}
	da, db, dc := toDevice(c, a), toDevice(c, b), c.alloc(16*m*n)
	alpha, beta := []complex128{2i}, []complex128{0}
	for pass, scale := range []complex128{2i, 2i * 2} { // the second adds the first
		if r := blas.Func("cublasZgemm_v2").Call(h, 2, 0, m, n, k, dl.Pointer(&alpha[0]), da, k+1, db, k, dl.Pointer(&beta[0]), dc, m); r != 0 {
			t.Fatalf("cublasZgemm: %d", r)
		}
		got := toHost[complex128](c, dc, m*n)
		for i := range m {
			for j := range n {
				var want complex128
				for l := range k {
					want += scale * cmplx.Conj(at(l, i)) * bt(l, j)
				}
				if cmplx.Abs(got[i+j*m]-want) > 1e-12 {
					t.Errorf("pass %d: C[%d,%d] is %g, want %g", pass, i, j, got[i+j*m], want)
				}
			}
		}
		beta[0] = 1
	}
	if r := blas.Func("cublasZgemm_v2").Call(h, 0, 0, m, n, k, dl.Pointer(&alpha[0]), da, m-1, db, k, dl.Pointer(&beta[0]), dc, m); r != 7 {
		t.Errorf("a leading dimension that is too small: result %d, want 7", r)
	}
	x := toDevice(c, []float32{1, 10})
	f := toDevice(c, []float32{1, 2, 3, 4, 5, 6}) // 3 x 2
	y := c.alloc(12)
	one, zero := []float32{1}, []float32{0}
	if r := blas.Func("cublasSgemv_v2").Call(h, 0, 3, 2, dl.Pointer(&one[0]), f, 3, x, 1, dl.Pointer(&zero[0]), y, 1); r != 0 {
		t.Fatalf("cublasSgemv: %d", r)
	}
	if got := toHost[float32](c, y, 3); got[0] != 41 || got[2] != 63 {
		t.Errorf("gemv gave %v", got)
	}
	// Memory of the host is not memory of a device.
	host := make([]float32, 6)
	if r := blas.Func("cublasSgemv_v2").Call(h, 0, 3, 2, dl.Pointer(&one[0]), dl.Pointer(&host[0]), 3, x, 1, dl.Pointer(&zero[0]), y, 1); r != 0 {
		t.Fatalf("cublasSgemv: %d", r)
	}
	if r := c.call("cuStreamSynchronize", c.stream); r != gpusim.IllegalAddress {
		t.Errorf("a product of host memory: error %d, want %d", r, gpusim.IllegalAddress)
	}
}

// TestFFT compares a batch of real transforms along the slow axis of a matrix,
// and the way back, with the definition.
func TestFFT(t *testing.T) {
	c := open(t)
	dir, _ := gpusim.Build()
	fft := lib(t, dir, "libcufft.so.11")
	call := func(name string, args ...uintptr) {
		t.Helper()
		if r := fft.Func(name).Call(args...); r != 0 {
			t.Fatalf("%s: %d", name, r)
		}
	}
	const n, half, batch = 12, 7, 5
	x := make([]float64, n*batch)
	for i := range x {
		x[i] = math.Sin(float64(i*i + 1))
	}
	var forward, back int32
	size := []int32{n}
	p := dl.Pointer(&size[0])
	call("cufftPlanMany", dl.Pointer(&forward), 1, p, p, batch, 1, p, batch, 1, 0x6a, batch)
	call("cufftPlanMany", dl.Pointer(&back), 1, p, p, batch, 1, p, batch, 1, 0x6c, batch)
	call("cufftSetStream", uintptr(forward), c.stream)
	call("cufftSetStream", uintptr(back), c.stream)
	dx, dy := toDevice(c, x), c.alloc(16*half*batch)
	call("cufftExecD2Z", uintptr(forward), dx, dy)
	y := toHost[complex128](c, dy, half*batch)
	for k := range half {
		for b := range batch {
			var want complex128
			for i := range n {
				want += complex(x[i*batch+b], 0) * cmplx.Rect(1, -2*math.Pi*float64(i*k)/n)
			}
			if cmplx.Abs(y[k*batch+b]-want) > 1e-12 {
				t.Errorf("y[%d,%d] is %g, want %g", k, b, y[k*batch+b], want)
			}
		}
	}
	call("cufftExecZ2D", uintptr(back), dy, dx)
	for i, got := range toHost[float64](c, dx, n*batch) {
		if math.Abs(got/n-x[i]) > 1e-12 {
			t.Errorf("x[%d] comes back as %g, want %g", i, got/n, x[i])
		}
	}

	// Three dimensions: a plane wave becomes one peak.
	var cube int32
	call("cufftPlan3d", dl.Pointer(&cube), 3, 4, 5, 0x69)
	call("cufftSetStream", uintptr(cube), c.stream)
	w := make([]complex128, 60)
	for i := range w {
		w[i] = cmplx.Rect(1, 2*math.Pi*(2*float64(i/20)/3+3*float64(i/5%4)/4+float64(i%5)/5))
	}
	dw := toDevice(c, w)
	call("cufftExecZ2Z", uintptr(cube), dw, dw, ^uintptr(0))
	for i, got := range toHost[complex128](c, dw, 60) {
		want := 0.0
		if i == 2*20+3*5+1 {
			want = 60
		}
		if cmplx.Abs(got-complex(want, 0)) > 1e-10 {
			t.Errorf("peak[%d] is %g, want %g", i, got, want)
		}
	}
	for _, h := range []int32{forward, back, cube} {
		call("cufftDestroy", uintptr(h))
	}
}
