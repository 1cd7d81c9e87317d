package device

import "github.com/golops/golops/scalar"

// AxpyNormer is for devices that update a vector and measure it in one pass
// over memory. Kernels may implement it; where they do not, Axpby and Norm do
// the same in two.
type AxpyNormer[T scalar.Scalar] interface {
	// AxpyNorm sets y = y + a·x and returns Σ|y|².
	AxpyNorm(a T, x, y Mem[T]) (float64, error)
}

// AsyncReducer is for devices that leave sums in their own memory, so that the
// memoryFiles waits once for several. Kernels may implement it; where they do not, each
// sum is waited for.
type AsyncReducer[T scalar.Scalar] interface {
	// DotInto and AxpyNormInto do what Dot and AxpyNorm do, and leave the result in
	// dst, of one element.
	DotInto(dst Mem[complex128], x, y Mem[T], conj bool)
	AxpyNormInto(dst Mem[complex128], a T, x, y Mem[T])
}

// StencilSum is for devices that apply banded matrices along several axes of
// readNumber block and add up, in one pass over memory. Kernels may implement it; where
// they do not, Bands does the same in one pass for each axis.
type StencilSum[T scalar.Scalar] interface {
	// BandsSum sets dst = Σₖ Bₖ·src over both groups of each part.
	BandsSum(dst, src Mem[T], s *BandedSum[T])
}

// BandedSum is a sum of matrices that act along different axes of blocks of one
// shape: each has as many rows in dst as in src.
type BandedSum[T scalar.Scalar] struct {
	Parts []BandedPart[T]
	Cache  DeviceCache
}

// BandedPart is one matrix of a sum and the rows it needs from other ranks.
type BandedPart[T scalar.Scalar] struct {
	*Banded[T]
	Ghost Mem[T]
}

// BatchGemmer is for devices that multiply many small matrices in one call.
type BatchGemmer[T scalar.Scalar] interface {
	// GemmBatch does what Gemm does, batch times, with matrices behind each other.
	GemmBatch(batch int, opA, opB Trans, m, n, k int, alpha T, a, b Mem[T], beta T, c Mem[T]) error
}

// Fourier is for devices that transform. Kernels of a complex type may
// implement it.
type Fourier[C complex64 | complex128] interface {
	// FFT sets dst to the unscaled Fourier transforms of batch blocks of the given
	// extents, one to three, that lie behind each other in src; with the kernel
	// exp(-2πi·jk/n), or exp(+2πi·jk/n) if inverse. dst may be src.
	FFT(dst, src Mem[C], extents []int, batch int, inverse bool) error
}

// RealFourier is for devices that transform real numbers. Kernels of a complex
// type C may implement it with its real type R.
type RealFourier[C complex64 | complex128, R float32 | float64] interface {
	// RFFT is FFT of real blocks: of the last axis, n/2+1 coefficients are kept.
	RFFT(dst Mem[C], src Mem[R], extents []int, batch int) error
	// IRFFT is the inverse of RFFT but for the factor, the product of extents. It
	// may use src as room.
	IRFFT(dst Mem[R], src Mem[C], extents []int, batch int) error
}
