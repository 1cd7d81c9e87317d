package device

import (
	"errors"
	"fmt"
	"slices"

	"github.com/golops/golops/scalar"
)

// DFT describes unscaled Fourier transforms along axes of a block, which lies in memory
// without gaps, the last axis running fastest. The kernel is exp(-2πi·jk/n), or
// exp(+2πi·jk/n) for the inverse. A description is made once for many transforms, of
// one element type and on one device.
type DFT struct {
	Dims []int // extents of the block
	Axes []int // those that are transformed, each once
	// Real says that samples are real. Coefficients then have the extent n/2+1
	// along the last of Axes.
	Real  bool
	Cache DeviceCache
}

// Coefficients returns the extents of the transformed block.
func (t *DFT) Coefficients() []int {
	dims := slices.Clone(t.Dims)
	if last := len(t.Axes) - 1; t.Real {
		dims[t.Axes[last]] = dims[t.Axes[last]]/2 + 1
	}
	return dims
}

// Sizes returns how many elements samples and coefficients have.
func (t *DFT) Sizes() (samples, coefficients int) {
	samples = Size(t.Dims...)
	if coefficients = samples; t.Real && samples > 0 {
		n := t.Dims[t.Axes[len(t.Axes)-1]]
		coefficients = Size(samples/n, n/2+1)
	}
	return samples, coefficients
}

// Check returns an error if the description makes no sense. It looks once and remembers
// in Cache that all is well.
func (t *DFT) Check() error {
	if t.Cache.checked {
		return nil
	}
	if len(t.Axes) == 0 {
		return errors.New("no axes to transform")
	}
	for i, a := range t.Axes {
		if a < 0 || a >= len(t.Dims) || slices.Contains(t.Axes[:i], a) {
			return fmt.Errorf("axes %v of a block with %d axes: each must be from 0 to %d, once", t.Axes, len(t.Dims), len(t.Dims)-1)
		}
	}
	if samples, coefficients := t.Sizes(); samples < 0 || coefficients < 0 {
		return fmt.Errorf("extents %v: one is negative, or the product is more than an int can count", t.Dims)
	}
	t.Cache.checked = true
	return nil
}

// Fourier is for devices with Fourier transforms. T is complex.
type Fourier[T scalar.Scalar] interface {
	// PlanFFT makes what transforms of t need and keeps it in t.Cache.
	PlanFFT(t *DFT) error
	// FFT sets dst to the transform of src, or to the inverse times the product of the
	// extents. dst may be src.
	FFT(dst, src Mem[T], t *DFT, inverse bool) error
}

// RealFourier is for devices with Fourier transforms of real blocks. T is complex and F
// is its real type.
type RealFourier[T, F scalar.Scalar] interface {
	// RFFT sets dst to the transform of src.
	RFFT(dst Mem[T], src Mem[F], t *DFT) error
	// IRFFT is the inverse of RFFT times the product of the extents. Of coefficients
	// that a real block has real, it ignores imaginary parts. It may overwrite src.
	IRFFT(dst Mem[F], src Mem[T], t *DFT) error
}

// PlanFFT makes what transforms of t need, so that the first one takes no longer than
// others.
func PlanFFT[T scalar.Scalar](k Kernels[T], t *DFT) error {
	if f, ok := k.(Fourier[T]); ok {
		return f.PlanFFT(t)
	}
	return lacks[T]("FFT")
}

// FFT sets dst to the transform of src; see Fourier.
func FFT[T scalar.Scalar](k Kernels[T], dst, src Mem[T], t *DFT, inverse bool) error {
	if f, ok := k.(Fourier[T]); ok {
		return f.FFT(dst, src, t, inverse)
	}
	return lacks[T]("FFT")
}

// RFFT sets dst to the transform of a real block; see RealFourier.
func RFFT[T, F scalar.Scalar](k Kernels[T], dst Mem[T], src Mem[F], t *DFT) error {
	if f, ok := k.(RealFourier[T, F]); ok {
		return f.RFFT(dst, src, t)
	}
	return lacks[T]("RFFT")
}

// IRFFT is the inverse of RFFT times the product of the extents; see RealFourier.
func IRFFT[T, F scalar.Scalar](k Kernels[T], dst Mem[F], src Mem[T], t *DFT) error {
	if f, ok := k.(RealFourier[T, F]); ok {
		return f.IRFFT(dst, src, t)
	}
	return lacks[T]("IRFFT")
}
