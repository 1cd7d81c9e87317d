package golops

import (
	"fmt"
	"strings"

	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
)

// op returns the operator of a Map over x.
func op[T Scalar](x Space[T], name string, m linop.Operator[T]) Op[T, T] {
	return Op[T, T]{x.w, m, named(name)}
}

// Identity returns y = x.
func Identity[T Scalar](x Space[T]) Op[T, T] {
	return op(x, "Identity", Must(ops.Identity[T](x.Dist())))
}

// Zero returns y = 0 for every x.
func Zero[D, R Scalar](x Space[D], y Space[R]) Op[D, R] {
	if x.World() != y.World() {
		apart("zero", x, y)
	}
	return Op[D, R]{x.w, Must(ops.Zero[D, R](x.s, y.s)), named("Zero")}
}

// Diagonal returns y = d·x, element by element. It keeps d.
func Diagonal[T Scalar](d Vec[T]) Op[T, T] {
	return op(d.Space(), "Diagonal", Must(ops.Diagonal(d.a)))
}

// DiagonalAlong multiplies row i of an axis by d[i]. All ranks give all of d.
func DiagonalAlong[T Scalar](x Space[T], axis int, d []T) Op[T, T] {
	return op(x, "DiagonalAlong", Must(ops.DiagonalAlong(x.ctx(), x.s, axis, d)))
}

// MatrixMult returns y = A·x along the first axis, with a dense A given row by row.
// Where that axis is split, a rank gives its own rows of A.
func MatrixMult[T Scalar](x Space[T], rows int, a []T) Op[T, T] {
	return op(x, "MatrixMult", Must(ops.MatrixMult(x.ctx(), x.s, rows, a)))
}

// Product returns Y[b,i,k] = Σⱼ A[b,i,j]·X[b,j,k]. The layouts of A and x, or a Kind,
// choose the algorithm, such as SUMMA: see ops.Product. A may have half of the bits of
// x. It keeps a.
func Product[T, A Scalar](a Vec[A], x Space[T], o ...ops.ProductOptions) Op[T, T] {
	if a.Space().World() != x.World() {
		apart("product", a.Space(), x)
	}
	return product(x, "Product", Must(ops.Product[T](x.ctx(), a.a, x.s, option(o, ops.ProductOptions{}))))
}

// ProductSpaces returns spaces of a matrix and of x, with these extents, whose Product of
// the same options moves neither: see ops.ProductSpaces.
func ProductSpaces[A, T Scalar](w *World, a, x []int, o ops.ProductOptions) (Space[A], Space[T]) {
	sa, sx, err := ops.ProductSpaces[T, A](w.Context(), w.proc, a, x, o)
	return Space[A]{w, Must(sa, err)}, Space[T]{w, sx}
}

// Fredholm1 returns y[s,i,k] = Σⱼ g[s,i,j]·x[s,j,k], the Fredholm integral of each slice
// s. g may have half of the bits of x. It keeps g.
func Fredholm1[T, G Scalar](g Vec[G], x Space[T], o ...ops.ProductOptions) Op[T, T] {
	if g.Space().World() != x.World() {
		apart("Fredholm integral", g.Space(), x)
	}
	return product(x, "Fredholm1", Must(ops.Fredholm1[T](x.ctx(), g.a, x.s, option(o, ops.ProductOptions{}))))
}

// product returns an operator whose text says how it works.
func product[T Scalar](x Space[T], name string, m linop.Operator[T]) Op[T, T] {
	_, how, _ := strings.Cut(fmt.Sprint(m), " on ")
	return op(x, name+"(on "+how+")", m)
}

// FirstDerivative returns the first derivative along an axis.
func FirstDerivative[T Scalar](x Space[T], axis int, o ...ops.DerivativeOptions) Op[T, T] {
	return op(x, "FirstDerivative", Must(ops.FirstDerivative[T](x.ctx(), x.s, axis, option(o, ops.DerivativeDefaults()))))
}

// SecondDerivative returns the second derivative along an axis.
func SecondDerivative[T Scalar](x Space[T], axis int, o ...ops.DerivativeOptions) Op[T, T] {
	return op(x, "SecondDerivative", Must(ops.SecondDerivative[T](x.ctx(), x.s, axis, option(o, ops.DerivativeDefaults()))))
}

// Gradient returns the first derivatives along all axes as a stack.
func Gradient[T Scalar](x Space[T], o ...ops.GradientOptions) Op[T, T] {
	return op(x, "Gradient", Must(ops.Gradient[T](x.ctx(), x.s, option(o, ops.GradientOptions{}))))
}

// DirectionalDerivative returns the derivative along directions v, a stack of one
// vector for each axis.
func DirectionalDerivative[T Scalar](v Vec[T], o ...ops.GradientOptions) Op[T, T] {
	return op(v.Part(0).Space(), "DirectionalDerivative", Must(ops.DirectionalDerivative(v.Space().ctx(), v.a, option(o, ops.GradientOptions{}))))
}

// Laplacian returns the weighted sum of the second derivatives along axes.
func Laplacian[T Scalar](x Space[T], o ...ops.LaplacianOptions) Op[T, T] {
	return op(x, "Laplacian", Must(ops.Laplacian[T](x.ctx(), x.s, option(o, ops.LaplacianOptions{}))))
}

// CausalIntegration integrates along an axis.
func CausalIntegration[T Scalar](x Space[T], axis int, o ...ops.IntegrationOptions) Op[T, T] {
	return op(x, "CausalIntegration", Must(ops.CausalIntegration[T](x.ctx(), x.s, axis, option(o, ops.IntegrationDefaults()))))
}

// Convolve1D filters along an axis with a filter whose sample offset lies at time
// zero.
func Convolve1D[T Scalar](x Space[T], axis int, h []T, offset int) Op[T, T] {
	return op(x, "Convolve1D", Must(ops.Convolve1D(x.ctx(), x.s, axis, h, offset)))
}

// Convolve2D filters along two axes with a filter of extents[0] × extents[1] numbers,
// of which the one at offset lies at zero.
func Convolve2D[T Scalar](x Space[T], axes [2]int, h []T, extents, offset [2]int) Op[T, T] {
	return op(x, "Convolve2D", Must(ops.Convolve2D(x.ctx(), x.s, axes, h, extents, offset)))
}

// ConvolveND filters along several axes.
func ConvolveND[T Scalar](x Space[T], h []T, o ops.ConvolveOptions) Op[T, T] {
	return op(x, "ConvolveND", Must(ops.ConvolveND(x.ctx(), x.s, h, o)))
}

// NonStationaryConvolve1D filters along an axis with filters that lie at the given
// samples and change linearly in between.
func NonStationaryConvolve1D[T Scalar](x Space[T], axis int, filters [][]T, at []int) Op[T, T] {
	return op(x, "NonStationaryConvolve1D", Must(ops.NonStationaryConvolve1D(x.ctx(), x.s, axis, filters, at)))
}

// PoststackLinearModelling returns seismic traces of the logarithm of an impedance.
// There is one wavelet, or one for each sample of the first axis.
func PoststackLinearModelling[T Scalar](x Space[T], wavelets [][]T, kind ops.DerivativeKind) Op[T, T] {
	return op(x, "PoststackLinearModelling", Must(ops.PoststackLinearModelling(x.ctx(), x.s, wavelets, kind)))
}

// PrestackLinearModelling returns seismic traces for several angles of the logarithms
// of three rock properties, which the second axis has.
func PrestackLinearModelling[T Scalar](x Space[T], wavelets [][]T, o ops.AVOOptions, kind ops.DerivativeKind) Op[T, T] {
	return op(x, "PrestackLinearModelling", Must(ops.PrestackLinearModelling(x.ctx(), x.s, wavelets, o, kind)))
}

// AVOLinearModelling returns reflection coefficients for several angles, of contrasts
// of three rock properties, which the second axis has.
func AVOLinearModelling[T Scalar](x Space[T], o ops.AVOOptions) Op[T, T] {
	return op(x, "AVOLinearModelling", Must(ops.AVOLinearModelling[T](x.ctx(), x.s, o)))
}

// DWT returns the wavelet transform along an axis, which is filled up with zeros to a
// power of two.
func DWT[T Scalar](x Space[T], axis int, o ...ops.WaveletOptions) Op[T, T] {
	return op(x, "DWT", Must(ops.DWT[T](x.ctx(), x.s, axis, option(o, ops.WaveletDefaults()))))
}

// DWT2D returns the wavelet transform along two axes.
func DWT2D[T Scalar](x Space[T], axes [2]int, o ...ops.WaveletOptions) Op[T, T] {
	return op(x, "DWT2D", Must(ops.DWT2D[T](x.ctx(), x.s, axes, option(o, ops.WaveletDefaults()))))
}

// DWTND returns the wavelet transform along several axes.
func DWTND[T Scalar](x Space[T], axes []int, o ...ops.WaveletOptions) Op[T, T] {
	return op(x, "DWTND", Must(ops.DWTND[T](x.ctx(), x.s, axes, option(o, ops.WaveletDefaults()))))
}

// Sliding applies an operator of one rank, over World.Alone, in overlapping windows that
// slide along the first axes of the data y, and adds up the results.
func Sliding[T Scalar](y Space[T], inner Op[T, T], o ops.SlidingOptions) Op[T, T] {
	return op(y, "Sliding", Must(ops.Sliding(y.ctx(), y.s, inner.m, o)))
}

// Shift moves samples along an axis by any distance, through a Fourier transform.
func Shift[T Scalar](x Space[T], axis int, o ops.ShiftOptions) Op[T, T] {
	return op(x, "Shift", Must(ops.Shift[T](x.ctx(), x.s, axis, o)))
}

// FourierRadon2D is Radon2D by frequencies: lines and parabolas, between samples too.
func FourierRadon2D[T Scalar](x Space[T], h ops.RadonAxis, o ...ops.FourierRadonOptions) Op[T, T] {
	return op(x, "FourierRadon2D", Must(ops.FourierRadon2D[T](x.ctx(), x.s, h, option(o, ops.FourierRadonDefaults()))))
}

// FourierRadon3D is FourierRadon2D with two directions of offsets.
func FourierRadon3D[T Scalar](x Space[T], h [2]ops.RadonAxis, o ...ops.FourierRadonOptions) Op[T, T] {
	return op(x, "FourierRadon3D", Must(ops.FourierRadon3D[T](x.ctx(), x.s, h, option(o, ops.FourierRadonDefaults()))))
}

// ChirpRadon2D is the linear Radon transform of traces into as many slopes, by chirps.
func ChirpRadon2D[T Scalar](x Space[T], o ops.ChirpRadonOptions) Op[T, T] {
	return op(x, "ChirpRadon2D", Must(ops.ChirpRadon2D[T](x.ctx(), x.s, o)))
}

// ChirpRadon3D is ChirpRadon2D with two directions of traces.
func ChirpRadon3D[T Scalar](x Space[T], o ops.ChirpRadonOptions) Op[T, T] {
	return op(x, "ChirpRadon3D", Must(ops.ChirpRadon3D[T](x.ctx(), x.s, o)))
}

// Radon2D spreads each sample of a model of slopes and times along a line, a parabola or
// a hyperbola over offsets and times. Its adjoint adds up along these.
func Radon2D[T Scalar](x Space[T], h ops.RadonAxis, o ...ops.RadonOptions) Op[T, T] {
	return op(x, "Radon2D", Must(ops.Radon2D[T](x.ctx(), x.s, h, option(o, ops.RadonDefaults()))))
}

// Radon3D is Radon2D with two directions of offsets.
func Radon3D[T Scalar](x Space[T], h [2]ops.RadonAxis, o ...ops.RadonOptions) Op[T, T] {
	return op(x, "Radon3D", Must(ops.Radon3D[T](x.ctx(), x.s, h, option(o, ops.RadonDefaults()))))
}

// DCT returns the orthonormal cosine transform of a type from 1 to 4 along axes.
func DCT[T Scalar](x Space[T], axes []int, kind int) Op[T, T] {
	return op(x, "DCT", Must(ops.DCT[T](x.ctx(), x.s, axes, kind)))
}

// Smoothing1D replaces each sample by the mean of the n around it along an axis.
func Smoothing1D[T Scalar](x Space[T], axis, n int) Op[T, T] {
	return op(x, "Smoothing1D", Must(ops.Smoothing1D[T](x.ctx(), x.s, axis, n)))
}

// Smoothing2D replaces each sample by the mean of the n[0] × n[1] around it along
// two axes.
func Smoothing2D[T Scalar](x Space[T], axes, n [2]int) Op[T, T] {
	return op(x, "Smoothing2D", Must(ops.Smoothing2D[T](x.ctx(), x.s, axes, n)))
}

// Halo widens each rank's block by copies of the cells around it.
func Halo[T Scalar](x Space[T], o ops.HaloOptions) Op[T, T] {
	return op(x, "Halo", Must(ops.Halo[T](x.ctx(), x.s, o)))
}

// Flip turns an axis around.
func Flip[T Scalar](x Space[T], axis int) Op[T, T] {
	return op(x, "Flip", Must(ops.Flip[T](x.ctx(), x.s, axis)))
}

// Roll moves an axis around in a circle, by shift samples.
func Roll[T Scalar](x Space[T], axis, shift int) Op[T, T] {
	return op(x, "Roll", Must(ops.Roll[T](x.ctx(), x.s, axis, shift)))
}

// Pad puts zeros around: before[a] rows in front of each axis a, after[a] behind it.
func Pad[T Scalar](x Space[T], before, after []int) Op[T, T] {
	return op(x, "Pad", Must(ops.Pad[T](x.ctx(), x.s, before, after)))
}

// Resize cuts an axis off after n rows, or fills it up with zeros.
func Resize[T Scalar](x Space[T], axis, n int) Op[T, T] {
	return op(x, "Resize", Must(ops.Resize[T](x.ctx(), x.s, axis, n)))
}

// Restriction takes the rows of an axis that index lists.
func Restriction[T Scalar](x Space[T], axis int, index []int) Op[T, T] {
	return op(x, "Restriction", Must(ops.Restriction[T](x.ctx(), x.s, axis, index)))
}

// Interp returns the values of an axis at places between its samples.
func Interp[T Scalar](x Space[T], axis int, at []float64, o ...ops.InterpOptions) Op[T, T] {
	return op(x, "Interp", Must(ops.Interp[T](x.ctx(), x.s, axis, at, option(o, ops.InterpOptions{}))))
}

// Bilinear returns the values of the first two axes at places between their samples.
func Bilinear[T Scalar](x Space[T], at [2][]float64) Op[T, T] {
	return op(x, "Bilinear", Must(ops.Bilinear[T](x.ctx(), x.s, at)))
}

// Sum adds up the rows of an axis, which the result does not have.
func Sum[T Scalar](x Space[T], axis int) Op[T, T] {
	return op(x, "Sum", Must(ops.Sum[T](x.ctx(), x.s, axis)))
}

// Symmetrize continues an axis in front of its first sample as a mirror does.
func Symmetrize[T Scalar](x Space[T], axis int) Op[T, T] {
	return op(x, "Symmetrize", Must(ops.Symmetrize[T](x.ctx(), x.s, axis)))
}

// Transpose puts the axes in another order: axis k of the result is axis order[k].
func Transpose[T Scalar](x Space[T], order ...int) Op[T, T] {
	return op(x, "Transpose", Must(ops.Transpose[T](x.ctx(), x.s, order...)))
}

// Spread puts each sample of a model of two axes into traces of nt samples, where
// the table says.
func Spread[T Scalar](x Space[T], nx, nt int, table ops.SpreadTable) Op[T, T] {
	return op(x, "Spread", Must(ops.Spread[T](x.ctx(), x.s, nx, nt, table)))
}

// Regression evaluates polynomials of this order at t, the samples of y.
func Regression[T Scalar](y Space[T], t []float64, order int) Op[T, T] {
	return op(y, "Regression", Must(ops.Regression[T](y.ctx(), y.s, t, order)))
}

// LinearRegression evaluates lines at t, the samples of y.
func LinearRegression[T Scalar](y Space[T], t []float64) Op[T, T] {
	return op(y, "LinearRegression", Must(ops.LinearRegression[T](y.ctx(), y.s, t)))
}

// Real returns the real part. Its adjoint makes a complex vector of a real one.
func Real(x Space[complex128]) Op[complex128, float64] {
	return Op[complex128, float64]{x.w, Must(ops.Real[complex128, float64](x.Dist())), named("Real")}
}

// Imag returns the imaginary part.
func Imag(x Space[complex128]) Op[complex128, float64] {
	return Op[complex128, float64]{x.w, Must(ops.Imag[complex128, float64](x.Dist())), named("Imag")}
}

// Real32 is Real for complex64.
func Real32(x Space[complex64]) Op[complex64, float32] {
	return Op[complex64, float32]{x.w, Must(ops.Real[complex64, float32](x.Dist())), named("Real32")}
}

// Imag32 is Imag for complex64.
func Imag32(x Space[complex64]) Op[complex64, float32] {
	return Op[complex64, float32]{x.w, Must(ops.Imag[complex64, float32](x.Dist())), named("Imag32")}
}

// FFT returns the Fourier transform along an axis of complex vectors.
func FFT[T Scalar](x Space[T], axis int, o ...ops.FFTOptions) Op[T, T] {
	return op(x, "FFT", Must(ops.FFT[T](x.ctx(), x.s, axis, option(o, ops.FFTDefaults()))))
}

// FFT2D returns the Fourier transform along two axes.
func FFT2D[T Scalar](x Space[T], axes [2]int, o ...ops.FFTOptions) Op[T, T] {
	return op(x, "FFT2D", Must(ops.FFT2D[T](x.ctx(), x.s, axes, option(o, ops.FFTDefaults()))))
}

// FFTND returns the Fourier transform along any axes.
func FFTND[T Scalar](x Space[T], axes []int, o ...ops.FFTOptions) Op[T, T] {
	return op(x, "FFTND", Must(ops.FFTND[T](x.ctx(), x.s, axes, option(o, ops.FFTDefaults()))))
}

// RealFFT returns the Fourier transform along an axis of real vectors, which has half of
// the coefficients: golops.RealFFT[complex64](x, 0) for an x of float32.
func RealFFT[C, R Scalar](x Space[R], axis int, o ...ops.FFTOptions) Op[R, C] {
	return Op[R, C]{x.w, Must(ops.RealFFT[C, R](x.ctx(), x.s, axis, option(o, ops.FFTDefaults()))), named("RealFFT")}
}

// RealFFT2D is RealFFT along two axes, of which the second has half of the coefficients.
func RealFFT2D[C, R Scalar](x Space[R], axes [2]int, o ...ops.FFTOptions) Op[R, C] {
	return Op[R, C]{x.w, Must(ops.RealFFT2D[C, R](x.ctx(), x.s, axes, option(o, ops.FFTDefaults()))), named("RealFFT2D")}
}

// RealFFTND is RealFFT along any axes, of which the last has half of the coefficients.
func RealFFTND[C, R Scalar](x Space[R], axes []int, o ...ops.FFTOptions) Op[R, C] {
	return Op[R, C]{x.w, Must(ops.RealFFTND[C, R](x.ctx(), x.s, axes, option(o, ops.FFTDefaults()))), named("RealFFTND")}
}

// Projector integrates an image x along the rays of a tomograph: y has views ×
// detectors, and may be split by views. Every rank holds the whole image.
func Projector[T Scalar](x, y Space[T], o ops.ProjectorOptions) Op[T, T] {
	if x.World() != y.World() {
		apart("projector", x, y)
	}
	return op(x, "Projector", Must(ops.Projector[T](x.ctx(), x.s, y.s, o)))
}

// RampFilter multiplies each frequency f along an axis by |f|, as filtered
// back-projection needs it.
func RampFilter[T Scalar](x Space[T], axis int, o ...ops.RampOptions) Op[T, T] {
	return op(x, "RampFilter", Must(ops.RampFilter[T](x.ctx(), x.s, axis, option(o, ops.RampDefaults()))))
}

// FanToParallel sorts the rays of a fan, views × detectors, into those of the parallel
// scan o.Parallel().
func FanToParallel[T Scalar](x Space[T], o ops.ProjectorOptions) Op[T, T] {
	return op(x, "FanToParallel", Must(ops.FanToParallel[T](x.ctx(), x.s, o)))
}

// FilteredBackProjection makes an image x of what Projector(x, y, o) measures. A ramp
// filters each view; the window ops.RampHann damps noise.
func FilteredBackProjection[T Scalar](x, y Space[T], o ops.ProjectorOptions, window ...ops.RampWindow) Op[T, T] {
	if x.World() != y.World() {
		apart("filtered back-projection", x, y)
	}
	return op(x, "FilteredBackProjection", Must(ops.FilteredBackProjection[T](x.ctx(), x.s, y.s, o, option(window, ops.RampPlain))))
}
