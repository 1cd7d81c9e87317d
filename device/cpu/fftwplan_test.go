package cpu

import (
	"testing"

	"github.com/golops/golops/device"
)

// UsesFFTW reports whether FFTW does the transforms of t in 64 bits.
func UsesFFTW(tb testing.TB, d *Device, t *device.DFT) bool {
	p, err := d.c128.fourierPlan("FFT", t)
	if err != nil {
		tb.Fatal(err)
	}
	return p.fftw != nil
}

// The rule that chooses FFTW is fixed for each kind of processor, so that results repeat.
func TestFFTWRule(t *testing.T) {
	for _, c := range []struct {
		dims           []int
		real           bool
		bytes, threads int
		want           [3]bool // with vector registers of 512, 256 and 0 bits
	}{
		{[]int{256}, false, 8, 1, [3]bool{false, true, true}},
		{[]int{64, 1024}, false, 4, 1, [3]bool{false, true, true}},
		{[]int{64, 1024}, false, 4, 2, [3]bool{false, false, true}},
		{[]int{4096}, false, 8, 1, [3]bool{false, false, true}},
		{[]int{1000}, false, 8, 1, [3]bool{false, false, true}},
		{[]int{1000}, true, 8, 1, [3]bool{false, true, true}},
		{[]int{1000}, true, 4, 1, [3]bool{false, false, true}},
		{[]int{2, 1000}, true, 8, 1, [3]bool{false, false, true}},
		{[]int{501}, true, 8, 1, [3]bool{false, false, true}},
	} {
		f := &device.DFT{Dims: c.dims, Axes: []int{len(c.dims) - 1}, Real: c.real}
		for i, bits := range []int{512, 256, 0} {
			if got := fftwFaster(f, c.bytes, c.threads, bits); got != c.want[i] {
				t.Errorf("%v real %v, %d bytes, %d threads, %d bits: %v, want %v", c.dims, c.real, c.bytes, c.threads, bits, got, c.want[i])
			}
		}
	}
}
