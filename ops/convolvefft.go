package ops

import (
	"context"
	"slices"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// ConvolveMethod is how a convolution is computed. Results differ by rounding.
type ConvolveMethod uint8

// Methods of ConvolveND.
const (
	ConvolveDirect ConvolveMethod = iota // the work grows with the samples of the filter
	ConvolveFFT                          // the work does not depend on the filter
)

// convolveFFT returns Fᴴ·diag(ĥ)·F with the Fourier transform F of x, behind which there are
// as many zeros as the filter is long, and the transform ĥ of the filter. C is the complex
// type of T.
func convolveFFT[C, T scalar.Scalar](ctx context.Context, x *dist.Space, h []T, o ConvolveOptions) (linop.Operator[T], error) {
	f := FFTOptions{Norm: FFTNormOrtho, Transposed: true}
	for k, a := range o.Axes {
		// A filter that is longer than the axis finds nothing further away.
		n := x.Shape().Dim(a)
		f.Sizes = append(f.Sizes, goodSize(n+min(max(o.Extents[k]-1-o.Offset[k], o.Offset[k]), n-1)))
	}
	var transform linop.Map[T, C]
	if scalar.Of[T]().IsComplex() {
		whole, err := FFTND[C](ctx, x, o.Axes, f)
		if err != nil {
			return nil, err
		}
		transform = whole.(linop.Map[T, C])
	} else {
		half, err := RealFFTND[C, T](ctx, x, o.Axes, f)
		if err != nil {
			return nil, err
		}
		transform = half
	}
	spectrum, err := filterSpectrum[C](x, h, o, f.Sizes)
	if err = dist.Agree(ctx, x.Comm(), "ops: convolve by Fourier transforms", err); err != nil {
		return nil, err
	}
	d, err := dist.FromFunc(ctx, transform.Range(), func(i []int) C {
		at := 0
		for k, a := range o.Axes {
			at = at*f.Sizes[k] + i[a]
		}
		return spectrum[at]
	})
	if err != nil {
		return nil, err
	}
	filter, err := Diagonal(d)
	if err != nil {
		return nil, err
	}
	filtered, err := linop.Compose(filter, transform)
	if err != nil {
		return nil, err
	}
	return linop.Compose(linop.H(transform), filtered)
}

// filterSpectrum returns the transform of a filter over so many samples along its axes.
// Samples that are too far from zero to reach another sample of x are left out.
func filterSpectrum[C, T scalar.Scalar](x *dist.Space, h []T, o ConvolveOptions, sizes []int) ([]C, error) {
	all, err := device.Make[C](device.Size(sizes...))
	if err != nil {
		return nil, err
	}
	for k, v := range h {
		at, reaches, stride := 0, true, 1
		for f := len(sizes) - 1; f >= 0; f-- {
			step := k%o.Extents[f] - o.Offset[f]
			k /= o.Extents[f]
			n := x.Shape().Dim(o.Axes[f])
			reaches = reaches && step > -n && step < n
			at += (step + sizes[f]) % sizes[f] * stride
			stride *= sizes[f]
		}
		if reaches {
			all[at] = scalar.From[C](scalar.Complex(v))
		}
	}
	a, err := array.FromHost(x.Device(), shape.Of(len(all)), all)
	if err != nil {
		return nil, err
	}
	defer a.Free()
	axes := make([]int, len(sizes))
	for i := range axes {
		axes[i] = i
	}
	if err := array.FFT(a, a, &device.DFT{Dims: slices.Clone(sizes), Axes: axes}, false); err != nil {
		return nil, err
	}
	return all, a.CopyOut(all)
}

// goodSize returns the next number from n on whose prime factors are 2, 3 and 5.
func goodSize(n int) int {
	for ; ; n++ {
		m := n
		for _, p := range [...]int{2, 3, 5} {
			for m > 1 && m%p == 0 {
				m /= p
			}
		}
		if m <= 1 {
			return max(n, 1)
		}
	}
}
