package device

import (
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// Kernels is the arithmetic that a device supplies for one element type.
//
// Kernels check little. Package array checks arguments, and everyone above it calls
// kernels through it. A kernel that hands addresses to a native library panics with
// SizeError if memory is too short. Destinations come first. They overlap sources
// only where a kernel allows it.
//
// A kernel that returns no error may still be running when it returns. The next
// call that returns an error reports its failure.
//
// Sums of 32-bit types accumulate in 64 bits. The order of a sum depends only on
// the length, so results repeat. Gemv and Gemm may leave both to a library.
type Kernels[T scalar.Scalar] interface {
	// Alloc returns n zeros.
	Alloc(n int) (Mem[T], error)
	// Free frees memory of Alloc.
	Free(m Mem[T])
	// Slice returns elements lo to hi of m, over the same memory.
	Slice(m Mem[T], lo, hi int) Mem[T]
	// CopyIn and CopyOut move elements from and to the host, and wait.
	CopyIn(dst Mem[T], src []T) error
	CopyOut(dst []T, src Mem[T]) error

	// Copy sets dst = src.
	Copy(dst, src Mem[T])
	// Fill sets every element of dst to v.
	Fill(dst Mem[T], v T)
	// Axpby sets y = a·x + b·y. With b = 0, y is not read. x may be y.
	Axpby(a T, x Mem[T], b T, y Mem[T])
	// Combine sets dst = a·x + b·y. dst may be x or y.
	Combine(dst Mem[T], a T, x Mem[T], b T, y Mem[T])
	// Mul sets dst = x·y, or conj(x)·y, element by element. dst may be x or y.
	Mul(dst, x, y Mem[T], conj bool)
	// MulAxis sets dst[o,i,j] = d[i]·x[o,i,j], or conj(d[i])·x[o,i,j], of blocks
	// with outer × len(d) × inner elements. dst may be x.
	MulAxis(dst, d, x Mem[T], outer, inner int, conj bool)
	// Conj sets dst = conj(x). dst may be x.
	Conj(dst, x Mem[T])
	// Threshold shrinks each element of x towards zero; see ThresholdKind.
	// dst may be x.
	Threshold(dst, x Mem[T], kind ThresholdKind, t float64)
	// Shrink maps the vectors of x; see ShrinkKind. dst has as many parts as x. A part
	// of dst may be the same part of x.
	Shrink(dst, x Tuple[T], by Shrinkage)
	// ShrinkSum returns two sums over the vectors of x; see ShrinkKind.
	ShrinkSum(x Tuple[T], by Shrinkage) (sum, count float64, err error)

	// Dot returns Σ conj(x)·y, or Σ x·y without conj.
	Dot(x, y Mem[T], conj bool) (complex128, error)
	// AxpyNorm sets y = y + a·x and returns Σ|y|².
	AxpyNorm(a T, x, y Mem[T]) (float64, error)
	// Sum returns Σ x.
	Sum(x Mem[T]) (complex128, error)
	// Norm returns one rank's term of a p-norm: the largest |x| for p = +Inf, the
	// smallest |x| for p = -Inf, the number of nonzeros for p = 0, and Σ |scale·x|^p
	// otherwise. For no elements it returns 0, or +Inf if p = -Inf.
	Norm(x Mem[T], p, scale float64) (float64, error)
	// MinMax returns the smallest and the largest element of a real x. For no
	// elements it returns +Inf and -Inf. If an element is NaN it returns NaN. For a
	// complex x it returns ErrUnsupported.
	MinMax(x Mem[T]) (lo, hi float64, err error)

	// SumAxis sets dst[o,j] = Σᵢ x[o,i,j]. x has outer × n × inner elements.
	SumAxis(dst, x Mem[T], outer, n, inner int)
	// NormAxis sets dst[o,j], in host memory, to the Norm of x[o,:,j] with scale 1.
	NormAxis(dst []float64, x Mem[T], outer, n, inner int, p float64) error
	// ScanAxis sets dst[o,i,j] to the sum of x[o,k,j] for k ≤ i, or for k ≥ i if
	// reverse, plus start[o,j] if start is not empty. dst may be x.
	ScanAxis(dst, x, start Mem[T], outer, n, inner int, reverse bool)

	// CopyND copies a box of elements between two strided blocks, or adds it to dst.
	CopyND(dst, src Mem[T], c *Strided, add bool)
	// Bands applies a banded matrix along an axis; see Banded.
	Bands(dst, src, ghost Mem[T], b *Banded[T], group int, add bool)
	// Gather sets dst[i] = Σ w[k]·src[at[k]] over k from first[i] to first[i+1]:
	// the product with a sparse matrix in compressed rows.
	Gather(dst, src Mem[T], s *Sparse[T])

	// Gemv sets y = alpha·op(A)·x + beta·y. A has m × n elements in row-major
	// order. With beta = 0, y is not read.
	Gemv(op Trans, m, n int, alpha T, a, x Mem[T], beta T, y Mem[T]) error
	// Gemm sets C = alpha·op(A)·op(B) + beta·C. op(A) is m × k, op(B) k × n and C
	// m × n, all in row-major order without gaps. With beta = 0, C is not read.
	Gemm(opA, opB Trans, m, n, k int, alpha T, a, b Mem[T], beta T, c Mem[T]) error
}

// Trans says how a matrix enters a product.
type Trans uint8

// The forms op(A) of a matrix: A, Aᵀ, Aᴴ and conj(A).
const (
	NoTrans Trans = iota
	Transpose
	ConjTrans
	ConjNoTrans
)

// ThresholdKind is a way to shrink small elements.
type ThresholdKind uint8

// The thresholds of iterative shrinkage, with r = |x|.
const (
	SoftThreshold ThresholdKind = iota // x·max(r-t, 0)/r
	HardThreshold                      // x if r > √(2t), otherwise 0
	HalfThreshold                      // (2/3)·x·(1 + cos(2/3·(π - acos(t/8·(r/3)^-3/2)))) if r > (54^⅓/4)·t^⅔, otherwise 0
)

// Strided describes a box of elements in two blocks: element (i0, i1, ...) of
// Shape lies at DstAt + Σ i·Dst in one and at SrcAt + Σ i·Src in the other.
// Strides may be negative.
type Strided struct {
	Shape        shape.Shape
	Dst, Src     [shape.MaxNDim]int
	DstAt, SrcAt int
}

// Flipped returns the copy back, from dst to src.
func (c Strided) Flipped() Strided {
	c.Dst, c.Src, c.DstAt, c.SrcAt = c.Src, c.Dst, c.SrcAt, c.DstAt
	return c
}

// Tap is one coefficient of a band. In row i of the band it multiplies row
// At + Step·(i - Lo) of its source; Step is 1, -1 or 0.
type Tap[T scalar.Scalar] struct {
	At, Step int
	Coef     T
	Ghost    int // 0: the row is in src; g > 0: in ghost block g-1
}

// Band is the rows Lo to Hi-1 of a matrix. Their taps are Taps[First:Last]. A band
// without taps sets its rows to zero.
type Band struct{ Lo, Hi, First, Last int }

// Ghost is a block of rows from another rank. It has outer × Rows × inner elements
// and starts at element At of the ghost memory.
type Ghost struct{ At, Rows int }

// Banded is a matrix that acts along one axis of a block. dst has Outer × DstRows ×
// Inner elements, src has Outer × SrcRows × Inner. Row i of dst is the sum over the
// taps of its band. The two groups of bands are applied separately: the group that
// needs no ghosts can run while the ghosts are received. The bands of both groups
// cover each row of dst once.
type Banded[T scalar.Scalar] struct {
	Outer, Inner     int
	DstRows, SrcRows int
	Taps             []Tap[T]
	Groups           [2][]Band
	Ghosts           []Ghost
	Cache            DeviceCache
}

// Sparse is a matrix in compressed rows.
type Sparse[T scalar.Scalar] struct {
	First []int // len(rows)+1
	At    []int
	W     []T // nil means all 1
	Cache DeviceCache
	cols  int // after Check: one more than the largest of At
}
