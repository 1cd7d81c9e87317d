package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// axisOperator applies matrices along axes, whole or split over ranks, and adds up
// the results.
type axisOperator[T scalar.Scalar] struct {
	y                *dist.Space // the range
	forward, adjoint *axisApply[T]
}

// axisOf returns the axis of x that a user names and its extent.
func axisOf(x *dist.Space, axis int) (a, n int, err error) {
	if x == nil {
		return 0, 0, errors.New("no space given")
	}
	if x.Parts() != nil {
		return 0, 0, errors.New("the space is a stack: take one of its parts")
	}
	if a, err = x.Shape().Axis(axis); err != nil {
		return 0, 0, err
	}
	return a, x.Shape().Dim(a), nil
}

// resized returns x with n rows along an axis. If that axis is split, counts are the
// rows of each rank. nil means balanced.
func resized(x *dist.Space, axis, n int, counts []int) (*dist.Space, error) {
	l := x.Layout()
	for g, a := range l.Axes {
		if a != axis {
			continue
		}
		if l.Counts[g] = counts; l.Grid[g] == 1 {
			l.Counts[g] = nil
		}
	}
	return x.Like(l, x.Shape().With(axis, n).Dims()...)
}

// newAxisOperator returns m over x. counts are the rows of the range on each rank of a
// split axis. nil means those of x if the extent stays the same, balanced otherwise. It
// ends a collective constructor: ranks agree on err and values.
func newAxisOperator[T scalar.Scalar](ctx context.Context, what string, x *dist.Space, m matrix[T], counts []int, err error, values ...any) (linop.Operator[T], error) {
	return newAxisSum(ctx, what, x, []matrix[T]{m}, counts, err, append([]any{"axis ", m.axis, " "}, values...)...)
}

// newAxisSum is newAxisOperator for the sum of several matrices.
func newAxisSum[T scalar.Scalar](ctx context.Context, what string, x *dist.Space, terms []matrix[T], counts []int, err error, values ...any) (linop.Operator[T], error) {
	var a *axisOperator[T]
	if err == nil {
		a, err = buildAxisOperator(x, counts, terms...)
	}
	if err := agree(ctx, what, x, err, values...); err != nil {
		return nil, err
	}
	copies := true
	for _, m := range terms {
		for _, t := range m.taps {
			copies = copies && t.c == 1
		}
	}
	return newAxisMap(what, x, a, copies)
}

// axisMap is an axisOperator as others see it.
type axisMap[T scalar.Scalar] struct {
	linop.Map[T, T]
	name   string
	a      *axisOperator[T]
	copies bool // it copies rows, for which devices have faster kernels
}

// addingMap is an axisMap of one matrix, which can add its results to an array.
type addingMap[T scalar.Scalar] struct {
	axisMap[T]
	adds linop.Map[T, T]
}

func newAxisMap[T scalar.Scalar](name string, x *dist.Space, a *axisOperator[T], copies bool) (linop.Operator[T], error) {
	sets, err := linop.Func(name, x, a.y, a.forward.set, a.adjoint.set)
	if err != nil {
		return nil, err
	}
	m := axisMap[T]{sets, name, a, copies}
	if len(a.forward.sum.Parts) > 1 {
		return &m, nil
	}
	adds, err := linop.Func(name, x, a.y, a.forward.add, a.adjoint.add)
	return &addingMap[T]{m, adds}, err
}

// Scaled implements linop.Scaler.
func (m *axisMap[T]) Scaled(c T) linop.Operator[T] {
	if m.copies {
		return nil
	}
	a := &axisOperator[T]{m.a.y, m.a.forward.scaled(c), m.a.adjoint.scaled(scalar.Conj(c))}
	s, err := newAxisMap(m.name, m.Domain(), a, false)
	if err != nil {
		return nil
	}
	return s
}

// AddForward and AddAdjoint implement linop.Adder.
func (m *addingMap[T]) AddForward(ctx context.Context, dst, src dist.Array[T]) error {
	return m.adds.Forward(ctx, dst, src)
}

func (m *addingMap[T]) AddAdjoint(ctx context.Context, dst, src dist.Array[T]) error {
	return m.adds.Adjoint(ctx, dst, src)
}

// agree ends a collective constructor over x, which may be missing. Ranks agree on err,
// the shape of x and the values.
func agree(ctx context.Context, what string, x *dist.Space, err error, values ...any) error {
	if x == nil {
		return fmt.Errorf("%s: no space given", what)
	}
	return dist.Agree(ctx, x.Comm(), what, err, append([]any{x.Shape(), " "}, values...)...)
}

// buildAxisOperator adds up matrices along axes of x. Where there are several, they
// are square, and there are no counts.
func buildAxisOperator[T scalar.Scalar](x *dist.Space, counts []int, terms ...matrix[T]) (*axisOperator[T], error) {
	y, m := x, terms[0]
	if _, have := x.SplitBy(m.axis); m.rows != m.cols || counts != nil && !slices.Equal(counts, have) {
		var err error
		if y, err = resized(x, m.axis, m.rows, counts); err != nil {
			return nil, err
		}
	}
	adjoint := make([]matrix[T], len(terms))
	for i, m := range terms {
		adjoint[i] = m.adjoint()
	}
	a := &axisOperator[T]{y: y}
	var err error
	if a.forward, err = newAxisApply(dist.NewPlan(x, dist.LabelForward), y, x, terms); err == nil {
		a.adjoint, err = newAxisApply(dist.NewPlan(y, dist.LabelAdjoint), x, y, adjoint)
	}
	return a, err
}

// axisApply is one direction of an axisOperator: the bands of this rank, and the
// exchange that brings rows of other ranks. The kernel reads them from the buffer
// of the exchange.
type axisApply[T scalar.Scalar] struct {
	rows *dist.Exchange[T]
	sum  device.BandedSum[T]
}

// newAxisApply plans dst = Σ m·src with an empty plan of src.
func newAxisApply[T scalar.Scalar](plan *dist.Plan, dst, src *dist.Space, terms []matrix[T]) (*axisApply[T], error) {
	l := &axisApply[T]{}
	for _, m := range terms {
		me, ends := src.Place(m.axis)
		_, rows := dst.Place(m.axis)
		reads := func(p int) [][]dist.Rows { return m.needs(rows[p], rows[p+1], ends) }
		b := banded(m, rows[me], rows[me+1], ends, me, reads(me), plan.Rows(m.axis, reads))
		b.Outer, _, b.Inner = src.LocalShape().Around(m.axis)
		l.sum.Parts = append(l.sum.Parts, device.BandedPart[T]{Banded: b})
	}
	var err error
	if l.rows, err = dist.NewExchange[T](plan); err != nil {
		return nil, err
	}
	return l, nil
}

// set is one direction of an operator.
func (l *axisApply[T]) set(ctx context.Context, dst, src dist.Array[T]) error {
	return l.apply(ctx, dst.Local(), src.Local(), false)
}

// add is set, but adds to dst. There is one matrix.
func (l *axisApply[T]) add(ctx context.Context, dst, src dist.Array[T]) error {
	return l.apply(ctx, dst.Local(), src.Local(), true)
}

// scaled returns c times the matrices, with the same exchange.
func (l *axisApply[T]) scaled(c T) *axisApply[T] {
	out := &axisApply[T]{rows: l.rows}
	for _, p := range l.sum.Parts {
		b := *p.Banded
		b.Cache = device.DeviceCache{}
		b.Taps = slices.Clone(b.Taps)
		for i := range b.Taps {
			b.Taps[i].Coef *= c
		}
		out.sum.Parts = append(out.sum.Parts, device.BandedPart[T]{Banded: &b})
	}
	return out
}

// apply sets dst = Σ m·src or, if add is set and there is one matrix, adds to dst. What
// needs nothing from other ranks is computed while the messages travel, as far as the
// device can do it alone.
func (l *axisApply[T]) apply(ctx context.Context, dst, src array.Array[T], add bool) error {
	if err := l.rows.Start(ctx, dst, src); err != nil {
		return err
	}
	l.group(dst, src, 0, add)
	if err := l.rows.Wait(ctx, dst); err != nil {
		return err
	}
	l.group(dst, src, 1, add)
	return nil
}

// group does what needs no ghosts, or the rest.
func (l *axisApply[T]) group(dst, src array.Array[T], group int, add bool) {
	ghosts := l.rows.Ghosts()
	if parts := l.sum.Parts; len(parts) == 1 {
		array.Bands(dst, src, ghosts, parts[0].Banded, group, add)
		return
	}
	for i := range l.sum.Parts {
		l.sum.Parts[i].Ghost = ghosts.Mem()
	}
	array.BandsSum(dst, src, &l.sum, group)
}
