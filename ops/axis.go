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
	return linop.Func(what, x, a.y, a.forward.set, a.adjoint.set)
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

// apply sets dst = Σ m·src or, if add is set, adds to dst. Rows of the first matrix
// that need nothing from other ranks are computed while the messages travel. If the
// device can apply several matrices in one pass over memory, it does so after that.
func (l *axisApply[T]) apply(ctx context.Context, dst, src array.Array[T], add bool) error {
	if err := l.rows.Start(ctx, dst, src); err != nil {
		return err
	}
	ghosts, parts := l.rows.Ghosts(), l.sum.Parts
	fused := len(parts) > 1 && dst.Device().Info().FusedStencils
	if !fused {
		array.Bands(dst, src, ghosts, parts[0].Banded, 0, add)
	}
	if err := l.rows.Wait(ctx, dst); err != nil {
		return err
	}
	if fused {
		for i := range parts {
			parts[i].Ghost = ghosts.Mem()
		}
		array.BandsSum(dst, src, &l.sum)
		return nil
	}
	array.Bands(dst, src, ghosts, parts[0].Banded, 1, add)
	for _, p := range parts[1:] {
		array.Bands(dst, src, ghosts, p.Banded, 0, true)
		array.Bands(dst, src, ghosts, p.Banded, 1, true)
	}
	return nil
}
