package dist

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// DropAxis returns the space of arrays without one axis, negative from the end: what
// is left when elements are added up along it. Where that axis was split, the
// result is replicated over its ranks. It does not communicate.
func (s *Space) DropAxis(axis int) (*Space, error) {
	t, err := s.less(axis)
	if err != nil {
		return nil, fmt.Errorf("dist: space less an axis: %w", err)
	}
	return t, nil
}

func (s *Space) less(axis int) (*Space, error) {
	if s.parts != nil {
		return nil, fmt.Errorf("a stack has no axes")
	}
	a, err := s.shape.Axis(axis)
	if err != nil {
		return nil, err
	}
	l := s.layout.clone()
	for g, x := range l.Axes {
		switch {
		case x == a:
			l.Axes[g], l.Counts[g] = NoAxis, nil
		case x > a:
			l.Axes[g]--
		}
	}
	return s.like(l, s.shape.Without(a).Dims())
}

// NormAlong returns the p-norms of x along one axis, negative from the end, as an
// array without it. It is collective: one message to agree and, where ranks share
// the axis, one more. With a mask, ranks of different colors get norms of their
// own rows only. Unlike Norm it does not guard squares against overflow.
func NormAlong[T scalar.Scalar](ctx context.Context, x Array[T], p float64, axis int) (Array[float64], error) {
	s := x.given("NormAlong")
	to, err := s.less(axis)
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
	return out.unless(err)
}

func normAlong[T scalar.Scalar](ctx context.Context, out Array[float64], x Array[T], p float64, axis int) error {
	s := x.space
	outer, n, inner := s.local.Around(axis)
	both := make([]float64, 2*outer*inner)
	v, nan := both[:outer*inner], both[outer*inner:]
	if err := x.local.Kernels().NormAxis(v, x.local.Mem(), outer, n, inner, p); err != nil {
		return err
	}
	if g, _ := s.SplitBy(axis); g != NoAxis {
		colors := s.lines(axis)
		for r := range s.layout.Mask {
			colors[r] = colors[r]*s.proc.Size() + slices.Index(s.layout.Mask, s.layout.Mask[r])
		}
		line, err := s.proc.part(ctx, colors)
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

// joinNorms puts the parts of ranks together: v and, behind it in both, nan.
func joinNorms(ctx context.Context, c comm.Comm, both, v, nan []float64, p float64) error {
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
