package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/array"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// Diagonal returns y = d·x, element by element, over the space of d. It does not
// communicate. It keeps d, which must not change.
func Diagonal[T scalar.Scalar](d dist.Array[T]) (linop.Operator[T], error) {
	if d.Space() == nil {
		return nil, errors.New("ops: diagonal: no elements given")
	}
	return linop.Func("ops: diagonal", d.Space(), d.Space(),
		func(_ context.Context, dst, src dist.Array[T]) error { dist.Mul(dst, d, src); return nil },
		func(_ context.Context, dst, src dist.Array[T]) error { dist.MulConj(dst, d, src); return nil })
}

// DiagonalAlong multiplies each row of an axis by a number: y[.., i, ..] =
// d[i]·x[.., i, ..]. All ranks give all of d.
func DiagonalAlong[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int, d []T) (linop.Operator[T], error) {
	a, n, err := axisOf(x, axis)
	if err == nil && len(d) != n {
		err = fmt.Errorf("%d numbers for axis %d of %v, must be %d%s", len(d), axis, x.Shape(), n, wholeHint(len(d), x.LocalShape().Dim(a)))
	}
	var rows array.Array[T] // this rank's
	if err == nil {
		b := x.Box(x.Comm().Rank())
		rows, err = array.FromHost(x.Device(), shape.Of(b.Hi[a]-b.Lo[a]), d[b.Lo[a]:b.Hi[a]])
	}
	if err := agree(ctx, "ops: diagonal", x, err, "axis ", axis, d); err != nil {
		return nil, err
	}
	outer, _, inner := x.LocalShape().Around(a)
	multiply := func(conj bool) func(context.Context, dist.Array[T], dist.Array[T]) error {
		return func(_ context.Context, dst, src dist.Array[T]) error {
			array.MulAxis(dst.Local(), rows, src.Local(), outer, inner, conj)
			return nil
		}
	}
	return linop.Func("ops: diagonal along an axis", x, x, multiply(false), multiply(true))
}

// wholeHint explains a wrong number of elements to a user who gave this rank's part
// of an axis, where all ranks give all of it.
func wholeHint(given, part int) string {
	if given != part {
		return ""
	}
	return ": these are as many as this rank has rows: give those of all ranks"
}
