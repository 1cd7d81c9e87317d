package ops

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// regression evaluates polynomials at this rank's samples.
type regression[T scalar.Scalar] struct {
	v     array.Array[T] // powers of the samples, samples × powers
	n, m  int
	group dist.AxisGroup // ranks that share the samples
}

// Regression evaluates polynomials: y[i] = Σⱼ x[j]·t[i]ʲ for j from 0 to order,
// at the samples of y, a space of one axis. x is replicated. All ranks give all
// of t. Its least-squares solution fits a polynomial to data.
func Regression[T scalar.Scalar](ctx context.Context, y *dist.Space, t []float64, order int) (linop.Operator[T], error) {
	if y == nil {
		return nil, errors.New("ops: regression: no space given")
	}
	o := &regression[T]{}
	x, err := o.build(y, t, order)
	if err := dist.Agree(ctx, y.Comm(), "ops: regression", err, "order ", order, t); err != nil {
		return nil, err
	}
	if o.group, err = y.AxisGroup(ctx, 0); err != nil {
		return nil, err
	}
	return linop.Func("ops: regression", x, y, o.forward, o.adjoint)
}

// LinearRegression evaluates lines: y[i] = x[0] + x[1]·t[i]. It is Regression
// of order 1.
func LinearRegression[T scalar.Scalar](ctx context.Context, y *dist.Space, t []float64) (linop.Operator[T], error) {
	return Regression[T](ctx, y, t, 1)
}

func (o *regression[T]) build(y *dist.Space, t []float64, order int) (x *dist.Space, err error) {
	if y.Parts() != nil || y.Shape().NDim() != 1 {
		return nil, fmt.Errorf("%d samples for data of shape %v: data must have one axis", len(t), y.Shape())
	}
	if y.Size() != len(t) {
		return nil, fmt.Errorf("%d samples for data of shape %v, must be %d%s", len(t), y.Shape(), y.Size(), wholeHint(len(t), y.LocalShape().Size()))
	}
	if order < 0 || order == math.MaxInt {
		return nil, fmt.Errorf("order is %d, must not be negative, nor more than an int can count", order)
	}
	for i, s := range t {
		if math.IsNaN(s) || math.IsInf(s, 0) {
			return nil, fmt.Errorf("sample %d is at %g, must be finite", i, s)
		}
	}
	b := y.Box(y.Comm().Rank())
	t = t[b.Lo[0]:b.Hi[0]]
	o.n, o.m = len(t), order+1
	if err := device.CheckHostMemory(o.n, o.m, scalar.Of[T]().Size()); err != nil {
		return nil, fmt.Errorf("powers up to %d of %d samples: %w", order, o.n, err)
	}
	v := make([]T, 0, o.n*o.m)
	for _, s := range t {
		p := 1.0
		for range o.m {
			v = append(v, scalar.From[T](complex(p, 0)))
			p *= s
		}
	}
	if x, err = y.Like(dist.Replicated, o.m); err != nil {
		return nil, err
	}
	o.v, err = array.FromHost(y.Device(), shape.Of(o.n, o.m), v)
	return x, err
}

func (o *regression[T]) forward(_ context.Context, dst, src dist.Array[T]) error {
	return array.Gemv(device.NoTrans, o.n, o.m, 1, o.v, src.Local(), 0, dst.Local())
}

func (o *regression[T]) adjoint(ctx context.Context, dst, src dist.Array[T]) error {
	if err := array.Gemv(device.ConjTrans, o.n, o.m, 1, o.v, src.Local(), 0, dst.Local()); err != nil {
		return err
	}
	return dist.SumOver(ctx, o.group, dst.Local(), dist.LabelAdjoint)
}
