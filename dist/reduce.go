package dist

import (
	"context"
	"math"

	"github.com/golops/golops/array"
	"github.com/golops/golops/scalar"
)

// Dot returns xᴴy over all ranks, or over those of this rank's color if the
// space has a mask. It is a Reduction of one slot and collective, whatever the
// layout: one message, none with one rank. Elements that several ranks hold are
// counted by one of them, so all ranks get the very same number although their
// copies may differ by rounding. The order of summation does not change, so a result
// repeats. For a number without a message there is x.Local().
func Dot[T scalar.Scalar](ctx context.Context, x, y Array[T]) (T, error) {
	return element[T](ctx, AddDot(x.given("Dot").once(), x, y))
}

// DotT returns xᵀy, without conjugation. Otherwise it is like Dot.
func DotT[T scalar.Scalar](ctx context.Context, x, y Array[T]) (T, error) {
	r := x.given("DotT").once()
	return element[T](ctx, addDot(r, x, y, scalar.Of[T]().IsComplex(), false, labelDotT, 't'))
}

// Sum returns the sum of all elements, like Dot with a vector of ones.
func Sum[T scalar.Scalar](ctx context.Context, x Array[T]) (T, error) {
	return element[T](ctx, AddSum(x.given("Sum").once(), x))
}

// element empties the reduction of a slot and returns its value.
func element[T scalar.Scalar](ctx context.Context, s Slot) (T, error) {
	if err := s.r.Do(ctx); err != nil {
		return 0, err
	}
	return scalar.From[T](s.Complex()), nil
}

// MinMax returns the smallest and the largest element of a real array in one
// message. It is collective like Dot.
func MinMax[T scalar.Scalar](ctx context.Context, x Array[T]) (lo, hi float64, err error) {
	r := x.given("MinMax").once()
	l, h := AddMinMax(r, x)
	if err := r.Do(ctx); err != nil {
		return 0, 0, err
	}
	return l.Float(), h.Float(), nil
}

// Norm returns the p-norm of x: (Σ|x|^p)^(1/p), the largest |x| for p = +Inf, the
// smallest for -Inf, how many elements are not zero for p = 0. Of no elements it
// is 0, and +Inf for a negative p. It is collective like Dot, one message, and
// safe from overflow and underflow of squares for p = 2.
func Norm[T scalar.Scalar](ctx context.Context, x Array[T], p float64) (float64, error) {
	s := AddNorm(x.given("Norm").once(), x, p)
	if err := s.r.Do(ctx); err != nil {
		return 0, err
	}
	return s.Float(), nil
}

// squares is a sum of squares in three parts, as Blue's algorithm has it: of
// blocks whose squares are in the range of a float64, of blocks where they are
// too small, times far², and too large, over far². One message adds up all three.
type squares struct{ mid, small, large float64 }

const (
	far  = 0x1p600
	tiny = 1e-280 // a sum of squares below it may have lost some of them
	huge = 1e300  // a sum of squares above it may overflow with those of other ranks
)

// addSquares adds the squares of a block to a slot.
func addSquares[T scalar.Scalar](s Slot, b *array.Array[T]) {
	q := s.r.v[s.at:]
	v, err := array.Norm(*b, 2, 1)
	switch {
	case err != nil:
	case v <= tiny && scalar.Of[T]().Size() >= 8: // squares of float32 are in range
		v, err = array.Norm(*b, 2, far)
		q[1] += v
	case v > huge:
		v, err = array.Norm(*b, 2, 1/far)
		q[2] += v
	default:
		q[0] += v // NaN ends here too
	}
	s.r.fail(err)
}

// root returns the square root of the sum.
func (q squares) root() float64 {
	switch {
	case q.large > 0:
		return far * math.Sqrt(q.large+q.mid/far/far)
	case q.mid > 0 || math.IsNaN(q.mid):
		return math.Sqrt(q.mid + q.small/far/far)
	}
	return math.Sqrt(q.small) / far
}
