package gpu

import (
	"math"
	"testing"

	"github.com/golops/golops/scalar"
)

// TestAsyncSums compares sums that stay in GPU memory with those that do not.
func TestAsyncSums(t *testing.T) {
	d := simulated(t, CUDA)
	asyncSums(t, d, d.f32)
	asyncSums(t, d, d.c128)
}

func asyncSums[T scalar.Scalar, F float](t *testing.T, d *Device, k *kernels[T, F]) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []int{0, 1, 1000, 100_003} {
		host := make([]T, n)
		for i := range host {
			host[i] = scalar.From[T](complex(math.Sin(float64(i)), math.Cos(float64(3*i))))
		}
		x, err := k.Alloc(n)
		must(err)
		y, err := k.Alloc(n)
		must(err)
		dst, err := d.c128.Alloc(3)
		must(err)
		must(k.CopyIn(x, host))
		must(k.CopyIn(y, host))
		a := scalar.From[T](0.5 - 1i)
		k.DotInto(d.c128.Slice(dst, 0, 1), x, y, true)
		k.AxpyNormInto(d.c128.Slice(dst, 2, 3), a, x, y)
		got := make([]complex128, 3)
		must(d.c128.CopyOut(got, dst))
		must(k.CopyIn(y, host))
		dot, err := k.Dot(x, y, true)
		must(err)
		norm, err := k.AxpyNorm(a, x, y)
		must(err)
		if got[0] != dot || got[1] != 0 || got[2] != complex(norm, 0) {
			t.Errorf("%d elements: %v, want %v, 0 and %v", n, got, dot, norm)
		}
		k.Free(x)
		k.Free(y)
	}
}
