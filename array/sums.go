package array

import (
	"fmt"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// Functions in this file that return a number wait for the device.

// Dot returns Σ conj(x)·y, or Σ x·y without conj.
func Dot[T scalar.Scalar](x, y Array[T], conj bool) (complex128, error) {
	same("Dot", &x, &y)
	return x.k.Dot(x.mem, y.mem, conj)
}

// DotInto sets dst, which has one element, to Dot. A device with Info.AsyncSums does
// not wait for it.
func DotInto[T scalar.Scalar](dst Array[complex128], x, y Array[T], conj bool) error {
	same("DotInto", &x, &y)
	dst.holds("DotInto", "dst", 1, x.dev)
	return device.DotInto(x.k, dst.k, dst.mem, x.mem, y.mem, conj)
}

// AxpyNorm sets y = y + a·x and returns Σ|y|², in one pass over memory.
func AxpyNorm[T scalar.Scalar](a T, x, y Array[T]) (float64, error) {
	same("AxpyNorm", &x, &y)
	return y.k.AxpyNorm(a, x.mem, y.mem)
}

// AxpyNormInto sets y = y + a·x and dst, which has one element, to Σ|y|². A device
// with Info.AsyncSums does not wait for it.
func AxpyNormInto[T scalar.Scalar](dst Array[complex128], a T, x, y Array[T]) error {
	same("AxpyNormInto", &x, &y)
	dst.holds("AxpyNormInto", "dst", 1, x.dev)
	return device.AxpyNormInto(y.k, dst.k, dst.mem, a, x.mem, y.mem)
}

// Sum returns Σ x.
func Sum[T scalar.Scalar](x Array[T]) (complex128, error) { x.made("Sum"); return x.k.Sum(x.mem) }

// Norm returns one rank's term of a p-norm: the largest |x| for p = +Inf, the
// smallest |x| for p = -Inf, the number of nonzeros for p = 0, and Σ |scale·x|^p
// otherwise. For no elements it returns 0, or +Inf if p = -Inf.
func Norm[T scalar.Scalar](x Array[T], p, scale float64) (float64, error) {
	x.made("Norm")
	return x.k.Norm(x.mem, p, scale)
}

// NormInto sets dst, which has one element, to the Norm of x for a finite p with scale
// 1. A device with Info.AsyncSums does not wait for it.
func NormInto[T scalar.Scalar](dst Array[complex128], x Array[T], p float64) error {
	x.made("NormInto")
	dst.holds("NormInto", "dst", 1, x.dev)
	return device.NormInto(x.k, dst.k, dst.mem, x.mem, p)
}

// MinMax returns the smallest and the largest element of a real x. For no elements
// it returns +Inf and -Inf. If an element is NaN it returns NaN. For a complex x it
// returns device.ErrUnsupported.
func MinMax[T scalar.Scalar](x Array[T]) (lo, hi float64, err error) {
	x.made("MinMax")
	return x.k.MinMax(x.mem)
}

// SumAxis sets dst[o,j] = Σᵢ x[o,i,j]. x has outer × n × inner elements.
func SumAxis[T scalar.Scalar](dst, x Array[T], outer, n, inner int) {
	dst.holds("SumAxis", "dst", device.Size(outer, inner), dst.dev)
	x.holds("SumAxis", "x", device.Size(outer, n, inner), dst.dev)
	dst.k.SumAxis(dst.mem, x.mem, outer, n, inner)
}

// NormAxis sets dst[o,j], in host memory, to the Norm of x[o,:,j] with scale 1.
// x has outer × n × inner elements.
func NormAxis[T scalar.Scalar](dst []float64, x Array[T], outer, n, inner int, p float64) error {
	x.holds("NormAxis", "x", device.Size(outer, n, inner), x.dev)
	if len(dst) != device.Size(outer, inner) {
		panic(Error{fmt.Sprintf("array: NormAxis: dst has %d elements, needs %d × %d", len(dst), outer, inner)})
	}
	return x.k.NormAxis(dst, x.mem, outer, n, inner, p)
}

// ScanAxis sets dst[o,i,j] to the sum of x[o,k,j] for k ≤ i, or for k ≥ i if
// reverse, plus start[o,j] if start is not empty. x has outer × n × inner elements.
// dst may be x.
func ScanAxis[T scalar.Scalar](dst, x, start Array[T], outer, n, inner int, reverse bool) {
	same("ScanAxis", &dst, &x)
	dst.holds("ScanAxis", "dst", device.Size(outer, n, inner), dst.dev)
	if start.mem.N > 0 {
		start.holds("ScanAxis", "start", device.Size(outer, inner), dst.dev)
	}
	dst.k.ScanAxis(dst.mem, x.mem, start.mem, outer, n, inner, reverse)
}
