package dist

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// Less returns the space of arrays without one axis: what is left when elements
// are added up along it. Where that axis was split, the result is replicated
// over its ranks. It does not communicate.
func (s *Space) Less(axis int) (*Space, error) {
	if s.parts != nil {
		return nil, fmt.Errorf("dist: a stack has no axes")
	}
	a, err := s.shape.Axis(axis)
	if err != nil {
		return nil, fmt.Errorf("dist: %w", err)
	}
	l := s.layout
	if l.Replicate == Scattered {
		l.Axes, l.Counts = append([]int(nil), l.Axes...), append([][]int(nil), l.Counts...)
		for g, x := range l.Axes {
			switch {
			case x == a:
				l.Axes[g], l.Counts[g] = Whole, nil
			case x > a:
				l.Axes[g]--
			}
		}
	} else {
		l.Grid, l.Axes, l.Counts = nil, nil, nil
	}
	l.Mask = nil
	return s.Like(l, s.shape.Without(a).Dims()...)
}

// Line makes the group of the ranks that share an array axis with this one: they
// hold the same rows of all other axes. It is collective; Close the group when
// done. A rank that holds the axis alone gets a group of one.
func (s *Space) Line(ctx context.Context, axis int) (comm.Comm, error) {
	g, _ := s.SplitBy(axis)
	if g == Whole {
		return s.rank.Alone().Comm, nil
	}
	c := s.Coords(s.rank.Rank())
	key := c[g]
	c[g] = 0
	return s.Comm().Split(ctx, s.RankAt(c), key)
}

// NormAlong returns the p-norms of x along one axis, an array without it. It is
// collective; where ranks share the axis it takes one message.
func NormAlong[T scalar.Scalar](ctx context.Context, x Array[T], p float64, axis int) (Array[float64], error) {
	s := x.space
	to, err := s.Less(axis)
	var out Array[float64]
	if err == nil {
		out, err = New[float64](to)
	}
	if err == nil && math.IsNaN(p) {
		err = fmt.Errorf("p is NaN")
	}
	if err = Agree(ctx, s.Comm(), "dist: norm along an axis", err, "axis ", axis, ", p ", p); err != nil {
		return out, err
	}
	axis, _ = s.shape.Axis(axis)
	outer, n, inner := s.local.Around(axis)
	v := make([]float64, 2*outer*inner)
	v, nan := v[:outer*inner], v[outer*inner:]
	if err := x.local.Kernels().NormAxis(v, x.local.Mem(), outer, n, inner, p); err != nil {
		return out, err
	}
	if g, _ := s.SplitBy(axis); g != Whole {
		line, err := s.Line(ctx, axis)
		if err != nil {
			return out, err
		}
		if err := joinNorms(ctx, line, v, nan, p); err != nil {
			return out, err
		}
		if err := line.Close(); err != nil {
			return out, err
		}
	}
	if p != 0 && !math.IsInf(p, 0) {
		for i := range v {
			v[i] = math.Pow(v[i], 1/p)
		}
	}
	return out, out.local.CopyIn(v)
}

// joinNorms puts the parts of ranks together, v with nan behind it in memory.
func joinNorms(ctx context.Context, c comm.Comm, v, nan []float64, p float64) error {
	if !math.IsInf(p, 0) {
		return c.AllReduce(ctx, comm.Of(v), comm.Of(v), comm.Sum)
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
	both := v[:2*len(v)]
	if err := c.AllReduce(ctx, comm.Of(both), comm.Of(both), comm.Max); err != nil {
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
