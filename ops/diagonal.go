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

type diagonal[T scalar.Scalar] struct {
	linop.Spaces
	d dist.Array[T]
}

// Diagonal returns y = d·x, element by element, over the space of d. It does not
// communicate. It keeps d, which must not change.
func Diagonal[T scalar.Scalar](d dist.Array[T]) (linop.Operator[T], error) {
	if d.Space() == nil {
		return nil, errors.New("ops: diagonal: no elements given")
	}
	return &diagonal[T]{linop.Spaces{Dom: d.Space(), Rng: d.Space()}, d}, nil
}

func (o *diagonal[T]) Forward(_ context.Context, dst, src dist.Array[T]) error {
	if err := dist.Check("ops: diagonal", "forward", &dst, o.Rng, &src, o.Dom); err != nil {
		return err
	}
	dist.Mul(dst, o.d, src)
	return nil
}

func (o *diagonal[T]) Adjoint(_ context.Context, dst, src dist.Array[T]) error {
	if err := dist.Check("ops: diagonal", "adjoint", &dst, o.Dom, &src, o.Rng); err != nil {
		return err
	}
	dist.MulConj(dst, o.d, src)
	return nil
}

type diagonalAlong[T scalar.Scalar] struct {
	linop.Spaces
	d            array.Array[T] // this rank's rows
	outer, inner int
}

// DiagonalAlong multiplies each row of an axis by a number: y[.., i, ..] =
// d[i]·x[.., i, ..]. All ranks give all of d.
func DiagonalAlong[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int, d []T) (linop.Operator[T], error) {
	a, n, err := axisOf(x, axis)
	if x == nil {
		return nil, fmt.Errorf("ops: diagonal: %w", err)
	}
	if err == nil && len(d) != n {
		err = fmt.Errorf("%d numbers for axis %d of %v, must be %d%s", len(d), axis, x.Shape(), n, wholeHint(len(d), x.LocalShape().Dim(a)))
	}
	o := &diagonalAlong[T]{Spaces: linop.Spaces{Dom: x, Rng: x}}
	if err == nil {
		b := x.Box(x.Comm().Rank())
		o.outer, _, o.inner = x.LocalShape().Around(a)
		o.d, err = array.FromHost(x.Device(), shape.Of(b.Hi[a]-b.Lo[a]), d[b.Lo[a]:b.Hi[a]])
	}
	if err := dist.Agree(ctx, x.Comm(), "ops: diagonal", err, "axis ", axis, " of ", x.Shape(), d); err != nil {
		return nil, err
	}
	return o, nil
}

// wholeHint explains a wrong number of elements to a user who gave this rank's part
// of an axis, where all ranks give all of it.
func wholeHint(given, part int) string {
	if given != part {
		return ""
	}
	return ": these are as many as this rank has rows: give those of all ranks"
}

func (o *diagonalAlong[T]) Forward(_ context.Context, dst, src dist.Array[T]) error {
	if err := dist.Check("ops: diagonal along an axis", "forward", &dst, o.Rng, &src, o.Dom); err != nil {
		return err
	}
	return o.apply(dst.Local(), src.Local(), false)
}

func (o *diagonalAlong[T]) Adjoint(_ context.Context, dst, src dist.Array[T]) error {
	if err := dist.Check("ops: diagonal along an axis", "adjoint", &dst, o.Dom, &src, o.Rng); err != nil {
		return err
	}
	return o.apply(dst.Local(), src.Local(), true)
}

func (o *diagonalAlong[T]) apply(dst, src array.Array[T], conj bool) error {
	array.MulAxis(dst, o.d, src, o.outer, o.inner, conj)
	return nil
}
