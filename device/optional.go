package device

import (
	"fmt"

	"github.com/golops/golops/scalar"
)

// The interfaces in this file are kernels that a device may lack. Callers use the
// functions of the same name. They fall back to the kernels that every device has,
// or return ErrUnsupported where there is no other way.

// lacks is the error of a kernel without a fallback.
func lacks[T scalar.Scalar](kernel string) error {
	return fmt.Errorf("device: kernel %s of %v: %w", kernel, scalar.Of[T](), ErrUnsupported)
}

// Reclaimer is for devices whose memory Go's garbage collector does not see.
type Reclaimer[T scalar.Scalar] interface {
	// Reclaim frees memory of Alloc at the next Alloc. Unlike all other methods of
	// a Device it may be called from any goroutine, also after Close.
	Reclaim(m Mem[T])
}

// Reclaim returns the function that frees memory of arrays that have become
// unreachable. It is nil where the garbage collector does that.
func Reclaim[T scalar.Scalar](k Kernels[T]) func(Mem[T]) {
	if r, ok := k.(Reclaimer[T]); ok {
		return r.Reclaim
	}
	return nil
}

// AsyncReducer is for devices that leave sums in their memory. The host then waits
// once for several sums. Such a device sets Info.AsyncSums.
type AsyncReducer[T scalar.Scalar] interface {
	// DotInto and AxpyNormInto are Dot and AxpyNorm with the result in dst, which
	// has one element.
	DotInto(dst Mem[complex128], x, y Mem[T], conj bool)
	AxpyNormInto(dst Mem[complex128], a T, x, y Mem[T])
	// NormInto is Norm for a finite p with scale 1 and the result in dst.
	NormInto(dst Mem[complex128], x Mem[T], p float64)
}

// DotInto sets dst, which has one element, to Dot. c is the kernels of the same
// device for dst.
func DotInto[T scalar.Scalar](k Kernels[T], c Kernels[complex128], dst Mem[complex128], x, y Mem[T], conj bool) error {
	if r, ok := k.(AsyncReducer[T]); ok {
		r.DotInto(dst, x, y, conj)
		return nil
	}
	v, err := k.Dot(x, y, conj)
	if err == nil {
		c.Fill(dst, v)
	}
	return err
}

// AxpyNormInto sets y = y + a·x and dst, which has one element, to Σ|y|². c is the
// kernels of the same device for dst.
func AxpyNormInto[T scalar.Scalar](k Kernels[T], c Kernels[complex128], dst Mem[complex128], a T, x, y Mem[T]) error {
	if r, ok := k.(AsyncReducer[T]); ok {
		r.AxpyNormInto(dst, a, x, y)
		return nil
	}
	v, err := k.AxpyNorm(a, x, y)
	if err == nil {
		c.Fill(dst, complex(v, 0))
	}
	return err
}

// NormInto sets dst, which has one element, to the Norm of x for a finite p with scale
// 1. c is the kernels of the same device for dst.
func NormInto[T scalar.Scalar](k Kernels[T], c Kernels[complex128], dst Mem[complex128], x Mem[T], p float64) error {
	if r, ok := k.(AsyncReducer[T]); ok {
		r.NormInto(dst, x, p)
		return nil
	}
	v, err := k.Norm(x, p, 1)
	if err == nil {
		c.Fill(dst, complex(v, 0))
	}
	return err
}

// StencilSum is for devices that apply banded matrices along several axes of one
// block and add the results in one pass over memory.
type StencilSum[T scalar.Scalar] interface {
	// BandsSum is BandsSum of this package.
	BandsSum(dst, src Mem[T], s *BandedSum[T], group int)
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

// BandsSum sets dst = Σₖ Bₖ·src in two calls. Group 0 does what needs no ghosts, or
// none of it. Group 1, which comes after it, does the rest.
func BandsSum[T scalar.Scalar](k Kernels[T], dst, src Mem[T], s *BandedSum[T], group int) {
	if f, ok := k.(StencilSum[T]); ok {
		f.BandsSum(dst, src, s, group)
		return
	}
	s.PerAxis(k, dst, src, group)
}

// PerAxis is BandsSum with one pass over memory for each part.
func (s *BandedSum[T]) PerAxis(k Kernels[T], dst, src Mem[T], group int) {
	for i, p := range s.Parts {
		if i == 0 {
			k.Bands(dst, src, p.Ghost, p.Banded, group, false)
		} else if group == 1 {
			k.Bands(dst, src, p.Ghost, p.Banded, 0, true)
			k.Bands(dst, src, p.Ghost, p.Banded, 1, true)
		}
	}
}

// Batch describes several matrices of one shape: N of each factor, and the elements
// from the beginning of one to that of the next.
type Batch struct{ N, A, B, C int }

// Holds returns the elements of a batch of m × n matrices with a stride.
func (b Batch) Holds(stride, m, n int) int {
	if b.N == 0 {
		return 0
	}
	return (b.N-1)*stride + Size(m, n)
}

// BatchMultiplier is for devices that do many products in one call.
type BatchMultiplier[T scalar.Scalar] interface {
	// GemmBatch is Gemm for each matrix of a batch.
	GemmBatch(opA, opB Trans, batch Batch, m, n, k int, alpha T, a, b Mem[T], beta T, c Mem[T]) error
}

// GemmBatch is Gemm for each matrix of a batch.
func GemmBatch[T scalar.Scalar](k Kernels[T], opA, opB Trans, batch Batch, m, n, depth int, alpha T, a, b Mem[T], beta T, c Mem[T]) error {
	if f, ok := k.(BatchMultiplier[T]); ok && batch.N > 1 {
		return f.GemmBatch(opA, opB, batch, m, n, depth, alpha, a, b, beta, c)
	}
	return GemmEach(k, opA, opB, batch, m, n, depth, alpha, a, b, beta, c)
}

// GemmEach is GemmBatch by one product after another.
func GemmEach[T scalar.Scalar](k Kernels[T], opA, opB Trans, batch Batch, m, n, depth int, alpha T, a, b Mem[T], beta T, c Mem[T]) error {
	for i := range batch.N {
		err := k.Gemm(opA, opB, m, n, depth, alpha, k.Slice(a, i*batch.A, i*batch.A+m*depth), k.Slice(b, i*batch.B, i*batch.B+depth*n),
			beta, k.Slice(c, i*batch.C, i*batch.C+m*n))
		if err != nil {
			return err
		}
	}
	return nil
}

// Widener is for devices that turn 32-bit numbers into 64-bit ones. The kernels of
// float64 have it.
type Widener interface {
	// Widen sets dst = src.
	Widen(dst Mem[float64], src Mem[float32])
}

// Widen sets dst = src.
func Widen(k Kernels[float64], dst Mem[float64], src Mem[float32]) error {
	if f, ok := k.(Widener); ok {
		f.Widen(dst, src)
		return nil
	}
	return lacks[float32]("Widen")
}
