package device

import "github.com/golops/golops/scalar"

// AxpyNormer is for devices that update a vector and compute its norm in one pass
// over memory. Kernels may implement it. Otherwise Axpby and Norm do the same in
// two passes.
type AxpyNormer[T scalar.Scalar] interface {
	// AxpyNorm sets y = y + a·x and returns Σ|y|².
	AxpyNorm(a T, x, y Mem[T]) (float64, error)
}

// AsyncReducer is for devices that leave sums in GPU memory, so that the host
// waits once for several sums. Kernels may implement it. Otherwise the host waits
// for each sum.
type AsyncReducer[T scalar.Scalar] interface {
	// DotInto and AxpyNormInto are Dot and AxpyNorm with the result in dst, which
	// has one element.
	DotInto(dst Mem[complex128], x, y Mem[T], conj bool)
	AxpyNormInto(dst Mem[complex128], a T, x, y Mem[T])
}

// StencilSum is for devices that apply banded matrices along several axes of one
// block and add the results in one pass over memory. Kernels may implement it.
// Otherwise Bands does the same in one pass per axis.
type StencilSum[T scalar.Scalar] interface {
	// BandsSum sets dst = Σₖ Bₖ·src over both groups of each part.
	BandsSum(dst, src Mem[T], s *BandedSum[T])
}

// BandedSum is a sum of matrices that act along different axes of blocks of one
// shape: each has as many rows in dst as in src.
type BandedSum[T scalar.Scalar] struct {
	Parts []BandedPart[T]
	Cache DeviceCache
}

// BandedPart is one matrix of a sum and the rows it needs from other ranks.
type BandedPart[T scalar.Scalar] struct {
	*Banded[T]
	Ghost Mem[T]
}

// BatchGemmer is for devices that multiply many small matrices in one call.
type BatchGemmer[T scalar.Scalar] interface {
	// GemmBatch is Gemm for batch matrices, stored one after the other.
	GemmBatch(batch int, opA, opB Trans, m, n, k int, alpha T, a, b Mem[T], beta T, c Mem[T]) error
}

// Fourier is for devices with Fourier transforms. Kernels of a complex type may
// implement it.
type Fourier[C complex64 | complex128] interface {
	// FFT sets dst to the unscaled Fourier transforms of batch blocks, stored one
	// after the other in src. A block has one to three extents. The kernel is
	// exp(-2πi·jk/n), or exp(+2πi·jk/n) if inverse. dst may be src.
	FFT(dst, src Mem[C], extents []int, batch int, inverse bool) error
}

// RealFourier is for devices with Fourier transforms of real data. Kernels of a
// complex type C may implement it with its real type R.
type RealFourier[C complex64 | complex128, R float32 | float64] interface {
	// RFFT is FFT of real blocks. The last axis has n/2+1 coefficients.
	RFFT(dst Mem[C], src Mem[R], extents []int, batch int) error
	// IRFFT is the inverse of RFFT times the product of the extents. It may
	// overwrite src.
	IRFFT(dst Mem[R], src Mem[C], extents []int, batch int) error
}
