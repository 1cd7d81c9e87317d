package cpu_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/device/cpu"
	"github.com/golops/golops/internal/fft"
	"github.com/golops/golops/scalar"
)

func TestFFTWConfig(t *testing.T) {
	if got := open(t, cpu.Config{Threads: 1, FFTW: cpu.FFTWOff}).FFTW(); got != "" {
		t.Errorf("FFTW is off and yet %q", got)
	}
	if _, err := cpu.New(cpu.Config{FFTW: "sometimes"}); err == nil || !strings.Contains(err.Error(), `"sometimes"`) || !strings.Contains(err.Error(), "measure") {
		t.Errorf("an unknown mode: %v", err)
	}
}

// FFTW transforms like package fft, where it is installed.
func TestFFTW(t *testing.T) {
	d := open(t, cpu.Config{Threads: 1, FFTW: cpu.FFTWAlways})
	t.Logf("FFTW: %q", d.FFTW())
	if d.FFTW() == "" {
		if os.Getenv("GOLOPS_TEST_FFTW") != "" {
			t.Fatal("FFTW is not installed: apt-get install libfftw3-double3 libfftw3-single3")
		}
		t.Skip("FFTW is not installed: apt-get install libfftw3-double3 libfftw3-single3")
	}
	for _, c := range []struct {
		mode cpu.FFTWMode
		dims []int
		want bool
	}{{cpu.FFTWAlways, []int{3, 37}, true}, {cpu.FFTWAuto, []int{256}, fft.VectorBits() < 512}, {cpu.FFTWAuto, []int{3, 37}, fft.VectorBits() == 0}, {cpu.FFTWOff, []int{256}, false}} {
		d := open(t, cpu.Config{Threads: 1, FFTW: c.mode})
		if got := cpu.UsesFFTW(t, d, &device.DFT{Dims: c.dims, Axes: []int{len(c.dims) - 1}}); got != c.want {
			t.Errorf("mode %q, lines %v: FFTW is used: %v, want %v", c.mode, c.dims, got, c.want)
		}
	}
	testFFTW[complex64, float32](t, 1e-5)
	testFFTW[complex128, float64](t, 1e-13)
}

func testFFTW[C, R scalar.Scalar](t *testing.T, tol float64) {
	for _, mode := range []cpu.FFTWMode{cpu.FFTWAlways, cpu.FFTWMeasure, cpu.FFTWAuto} {
		for _, c := range []struct{ dims, axes []int }{
			{[]int{1}, []int{0}}, {[]int{256}, []int{0}}, {[]int{37}, []int{0}}, {[]int{3, 12}, []int{1}}, {[]int{12, 3}, []int{0}},
			{[]int{5, 6, 7}, []int{2, 0}}, {[]int{5, 6, 7}, []int{0, 1, 2}}, {[]int{4, 7, 6}, []int{1}}, {[]int{0, 4}, []int{1}},
		} {
			for _, real := range []bool{false, true} {
				for offset := range 2 {
					if mode == cpu.FFTWMeasure && len(c.dims) > 1 {
						continue // trials take long
					}
					var all [2][]complex128
					for i, m := range []cpu.FFTWMode{cpu.FFTWOff, mode} {
						all[i] = transformed[C, R](t, m, &device.DFT{Dims: c.dims, Axes: c.axes, Real: real}, offset)
					}
					near(t, fmt.Sprintf("%v along %v, real %v, mode %q, offset %d", c.dims, c.axes, real, mode, offset), all[1], all[0], tol)
				}
			}
		}
	}
}

// transformed returns all transforms of a block, whose memory begins at an offset: forward
// and inverse, and in place.
func transformed[C, R scalar.Scalar](t *testing.T, mode cpu.FFTWMode, f *device.DFT, offset int) (all []complex128) {
	d := open(t, cpu.Config{Threads: 1, FFTW: mode})
	k, r := kernelsOf[C](t, d), kernelsOf[R](t, d)
	samples, coefficients := f.Sizes()
	keep := func(v device.Mem[C]) {
		for _, c := range v.Host {
			all = append(all, scalar.Complex(c))
		}
	}
	y := k.Slice(random[C](t, k, coefficients+offset), offset, coefficients+offset)
	must(t, device.PlanFFT(k, f))
	if f.Real {
		x := r.Slice(random[R](t, r, samples+offset), offset, samples+offset)
		z := r.Slice(random[R](t, r, samples+offset), offset, samples+offset)
		once := func() { must(t, device.IRFFT(k, z, y, f)) }
		once()
		for _, v := range z.Host {
			all = append(all, scalar.Complex(v))
		}
		must(t, device.RFFT(k, y, x, f))
		keep(y)
		if n := testing.AllocsPerRun(2, once); n != 0 {
			t.Errorf("%v, mode %q: %g allocations", f.Dims, mode, n)
		}
		return all
	}
	x := k.Slice(random[C](t, k, samples+offset), offset, samples+offset)
	for _, inverse := range []bool{false, true} {
		once := func() { must(t, device.FFT(k, y, x, f, inverse)) }
		once()
		keep(y)
		if n := testing.AllocsPerRun(2, once); n != 0 {
			t.Errorf("%v, mode %q: %g allocations", f.Dims, mode, n)
		}
	}
	must(t, device.FFT(k, x, x, f, false))
	keep(x)
	return all
}
