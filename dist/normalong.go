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
	both := make([]float64, 2*outer*inner)
	v, nan := both[:outer*inner], both[outer*inner:]
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
			err = joinNorms(ctx, line, both, v, nan, p)
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

// joinNorms reduces partial norms v over c. nan, which follows v in both, carries
// NaN flags.
func joinNorms(ctx context.Context, c *comm.Comm, both, v, nan []float64, p float64) error {
	if !math.IsInf(p, 0) {
		m := comm.Of(v).Labelled(normLabel(p))
		return c.AllReduce(ctx, m, m, comm.Sum)
	}
	sign := 1.0
	if p < 0 {
		sign = -1
	}
	for i := range v {
		if math.IsNaN(v[i]) {
			v[i], nan[i] = 0, 1
		}
		v[i] *= sign
	}
	m := comm.Of(both).Labelled(normLabel(p))
	if err := c.AllReduce(ctx, m, m, comm.Max); err != nil {
		return err
	}
	for i := range v {
		v[i] *= sign
		if nan[i] != 0 {
			v[i] = math.NaN()
		}
	}
	return nil
}
