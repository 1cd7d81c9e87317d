package dist

import (
	"context"
	"errors"
	"math"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// Norm returns the p-norm of x: (Σ|x|^p)^(1/p), the largest |x| for p = +Inf, the
// smallest for -Inf, how many elements are not zero for p = 0. Of no elements it
// is 0, and +Inf for a negative p. It is collective like Dot, one message, and
// safe from overflow and underflow of squares for p = 2.
func Norm[T scalar.Scalar](ctx context.Context, x Array[T], p float64) (float64, error) {
	x.given("Norm")
	switch {
	case math.IsNaN(p):
		return 0, errors.New("dist: norm: p is NaN")
	case p == 2:
		return norm2(ctx, x)
	}
	v, err := normOver(ctx, x, p)
	if err != nil || p == 0 || math.IsInf(p, 0) {
		return v, err
	}
	return math.Pow(v, 1/p), nil
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

func norm2[T scalar.Scalar](ctx context.Context, x Array[T]) (float64, error) {
	s := x.space
	var q squares
	if err := squaresHere(x, &q); err != nil {
		return 0, err
	}
	if s.reduces() {
		b := s.sum.re[:3]
		b[0], b[1], b[2] = q.mid, q.small, q.large
		m := comm.Of(b).Labelled(labelNorm2)
		if err := s.group.AllReduce(ctx, m, m, comm.Sum); err != nil {
			return 0, err
		}
		q = squares{b[0], b[1], b[2]}
	}
	return q.root(), nil
}

func squaresHere[T scalar.Scalar](x Array[T], q *squares) error {
	for _, p := range x.parts {
		if err := squaresHere(p, q); err != nil {
			return err
		}
	}
	if x.parts != nil || !x.space.counts() {
		return nil
	}
	k, m := x.local.Kernels(), x.local.Mem()
	v, err := k.Norm(m, 2, 1)
	switch {
	case err != nil:
	case v <= tiny && scalar.Of[T]().Size() >= 8: // squares of float32 are in range
		v, err = k.Norm(m, 2, far)
		q.small += v
	case v > huge:
		v, err = k.Norm(m, 2, 1/far)
		q.large += v
	default:
		q.mid += v // NaN ends here too
	}
	return err
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

func normOver[T scalar.Scalar](ctx context.Context, x Array[T], p float64) (float64, error) {
	s := x.space
	v, err := normHere(x, p)
	if err != nil || !s.reduces() {
		return v, err
	}
	b := s.sum.re[:1]
	op := comm.Sum
	if math.IsInf(p, 0) {
		// A minimum or maximum of ranks need not keep a NaN; the second number does.
		b, op = s.sum.re[:2], comm.Max
		b[1] = 0
		if math.IsNaN(v) {
			v, b[1] = 0, 1
		}
		if p < 0 {
			v = -v
		}
	}
	b[0] = v
	m := comm.Of(b).Labelled(normLabel(p))
	if err := s.group.AllReduce(ctx, m, m, op); err != nil {
		return 0, err
	}
	switch {
	case op == comm.Max && b[1] != 0:
		return math.NaN(), nil
	case p < 0 && op == comm.Max:
		return -b[0], nil
	}
	return b[0], nil
}

func normHere[T scalar.Scalar](x Array[T], p float64) (float64, error) {
	if x.parts == nil {
		if !x.space.counts() {
			return nothing(p), nil
		}
		return x.local.Kernels().Norm(x.local.Mem(), p, 1)
	}
	v := nothing(p)
	for _, part := range x.parts {
		w, err := normHere(part, p)
		if err != nil {
			return 0, err
		}
		v = join(v, w, p)
	}
	return v, nil
}

// nothing is the norm's part of no elements.
func nothing(p float64) float64 {
	if math.IsInf(p, -1) {
		return math.Inf(1)
	}
	return 0
}

// join puts two parts of a p-norm together. NaN stays NaN.
func join(a, b, p float64) float64 {
	switch {
	case math.IsInf(p, 1):
		return max(a, b)
	case math.IsInf(p, -1):
		return min(a, b)
	}
	return a + b
}
