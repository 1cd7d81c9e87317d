package cpu_test

import (
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/device/cpu"
)

// Transforms whose slabs fit into the cache take several axes at once. They are the
// same as axis after axis, on one thread and on several, real and complex, and allocate
// nothing.
func TestFourierPhases(t *testing.T) {
	for _, threads := range []int{1, 3} {
		d := open(t, cpu.Config{Threads: threads, BLAS: "off"})
		k, r := kernelsOf[complex128](t, d), kernelsOf[float64](t, d)
		dims, axes := []int{40, 18, 24}, []int{0, 1, 2}
		x := random[complex128](t, k, 40*18*24)
		y, z := random[complex128](t, k, x.N), random[complex128](t, k, x.N)
		all := &device.DFT{Dims: dims, Axes: axes}
		must(t, device.FFT(k, y, x, all, true))
		k.Copy(z, x)
		for _, a := range axes {
			must(t, device.FFT(k, z, z, &device.DFT{Dims: dims, Axes: []int{a}}, true))
		}
		near(t, "complex", y.Host, z.Host, 1e-12)
		u, v := random[float64](t, r, x.N), random[float64](t, r, x.N)
		half := &device.DFT{Dims: dims, Axes: axes, Real: true}
		c := random[complex128](t, k, 40*18*13)
		must(t, device.RFFT(k, c, u, half))
		if n := testing.AllocsPerRun(3, func() { must(t, device.RFFT(k, c, u, half)) }); n > 0 {
			t.Errorf("%d threads: %v allocations", threads, n)
		}
		must(t, device.IRFFT(k, v, c, half))
		for i := range v.Host {
			v.Host[i] /= float64(x.N)
		}
		near(t, "real, there and back", v.Host, u.Host, 1e-14)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func near[T float64 | complex128](t *testing.T, what string, got, want []T, tol float64) {
	t.Helper()
	abs := func(v T) float64 {
		switch v := any(v).(type) {
		case float64:
			return max(v, -v)
		case complex128:
			return max(real(v), -real(v)) + max(imag(v), -imag(v))
		}
		return 0
	}
	scale := 0.0
	for _, v := range want {
		scale = max(scale, abs(v))
	}
	for i := range got {
		if d := abs(got[i] - want[i]); !(d <= tol*scale) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}
