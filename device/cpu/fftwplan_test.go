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
