package dist

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/golops/golops/array"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// NormAlong returns the p-norms of x along one axis, negative from the end, as an
// array without it. It is collective, whatever the layout: one message to agree
// and, where ranks share the axis, one more. Copies of a replicated array give
// copies of the norms. With a mask, ranks of different colors get norms of their
// own rows only. Unlike Norm it does not guard squares against overflow.
func NormAlong[T scalar.Scalar](ctx context.Context, x Array[T], p float64, axis int) (Array[float64], error) {
	s := x.given("NormAlong")
	to, err := s.dropAxis(axis)
	var out Array[float64]
	if err == nil {
		out, err = New[float64](to)
	}
	if err == nil && math.IsNaN(p) {
		err = errors.New("p is NaN")
	}
	if err = Agree(ctx, s.Comm(), "dist: norm along an axis", err, "axis ", axis, ", p ", p); err == nil {
		axis, _ = s.shape.Axis(axis)
		err = normAlong(ctx, out, x, p, axis)
	}
	return out.orFree(err)
}

func normAlong[T scalar.Scalar](ctx context.Context, out Array[float64], x Array[T], p float64, axis int) error {
	s := x.space
	outer, n, inner := s.local.Around(axis)
	v := make([]float64, outer*inner)
	if err := array.NormAxis(v, x.local, outer, n, inner, p); err != nil {
		return err
	}
	if g, _ := s.SplitBy(axis); g != NoAxis {
		colors := s.axisColors(axis)
		for r := range s.layout.Mask {
			colors[r] = colors[r]*s.proc.Size() + slices.Index(s.layout.Mask, s.layout.Mask[r])
		}
		line, err := s.proc.subgroup(ctx, colors)
		if err == nil {
			err = joinNorms(ctx, line, v, p)
		}
		if err != nil {
			return err
		}
	}
	if p != 0 && !math.IsInf(p, 0) {
		for i := range v {
			v[i] = math.Pow(v[i], 1/p)
		}
	}
	return out.local.CopyIn(v)
}

// joinNorms reduces partial norms v over c. The bits of numbers that are not negative
// are in the order of the numbers, and a NaN lies beyond them: so it is not lost.
func joinNorms(ctx context.Context, c *comm.Comm, v []float64, p float64) error {
	if !math.IsInf(p, 0) {
		m := comm.Of(v).Labelled(normLabel(p))
		return c.AllReduce(ctx, m, m, comm.Sum)
	}
	op, nan := comm.Max, int64(math.MaxInt64)
	if p < 0 {
		op, nan = comm.Min, -1
	}
	bits := make([]int64, len(v))
	for i, x := range v {
		if bits[i] = int64(math.Float64bits(x)); math.IsNaN(x) {
			bits[i] = nan
		}
	}
	m := comm.Of(bits).Labelled(normLabel(p))
	err := c.AllReduce(ctx, m, m, op)
	for i, b := range bits {
		v[i] = math.Float64frombits(uint64(b)) // both nan are NaN
	}
	return err
}
