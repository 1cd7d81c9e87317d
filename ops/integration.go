package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// IntegrationRule is a rule of numerical integration.
type IntegrationRule uint8

// The rules of CausalIntegration.
const (
	IntegrationFull        IntegrationRule = iota // every sample counts whole
	IntegrationHalf                               // the last sample counts half
	IntegrationTrapezoidal                        // the first and the last sample count half
)

// IntegrationOptions are the options of CausalIntegration.
type IntegrationOptions struct {
	Sampling    float64 // distance between samples
	Rule        IntegrationRule
	RemoveFirst bool // the first sample of the result is left out
}

// IntegrationDefaults returns the options of an integral per sample that counts
// every sample whole.
func IntegrationDefaults() IntegrationOptions { return IntegrationOptions{Sampling: 1} }

// Validate reports everything that is wrong with o.
func (o IntegrationOptions) Validate() error {
	errs := []error{checkSampling(o.Sampling)}
	if o.Rule > IntegrationTrapezoidal {
		errs = append(errs, fmt.Errorf("rule is %d: have IntegrationFull, IntegrationHalf, IntegrationTrapezoidal", o.Rule))
	}
	return errors.Join(errs...)
}

// integration is y = Δ·(L·D·x - ½·R·x) with running sums L and diagonals D and R. D
// halves the first row for the trapezoidal rule. R is 1 in the rows that count half
// of their last sample.
type integration[T scalar.Scalar] struct {
	step   T
	d, r   array.Array[T] // of this rank's rows; r is empty for the full rule
	tmp    array.Array[T]
	prefix prefixSum[T]
}

// CausalIntegration integrates along an axis of x with step Δ:
//
//	full         y[i] = Δ·(x[0] + ... + x[i])
//	half         y[i] = Δ·(x[0] + ... + x[i-1] + x[i]/2)
//	trapezoidal  y[i] = Δ·(x[0]/2 + x[1] + ... + x[i-1] + x[i]/2), y[0] = Δ·x[0]/2
//
// Where the axis is split, ranks exchange the sums of their blocks.
func CausalIntegration[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int, c IntegrationOptions) (linop.Operator[T], error) {
	a, n, err := axisOf(x, axis)
	if x == nil {
		return nil, fmt.Errorf("ops: causal integration: %w", err)
	}
	err = errors.Join(err, c.Validate())
	if err == nil && c.RemoveFirst && n == 0 {
		err = errors.New("RemoveFirst of an axis without samples")
	}
	if err := dist.Agree(ctx, x.Comm(), "ops: causal integration", err, "axis ", axis, " of ", x.Shape(), c); err != nil {
		return nil, err
	}
	o := &integration[T]{}
	if o.prefix.group, err = x.AxisGroup(ctx, a); err != nil {
		return nil, err
	}
	if err := dist.Agree(ctx, x.Comm(), "ops: causal integration", o.build(x, a, c)); err != nil {
		return nil, err
	}
	sum, err := linop.Func("ops: causal integration", x, x, o.forward, o.adjoint)
	if err != nil || !c.RemoveFirst {
		return sum, err
	}
	m := matrix[T]{rows: n - 1, cols: n}
	m.add(0, n-1, tap[T]{1, 1, 1})
	_, counts := x.SplitBy(a)
	if _, ends := x.Place(a); counts != nil {
		counts[owner(ends, 0)]--
	}
	rest, err := newAxisOperator(ctx, "ops: causal integration", x, a, m, counts, nil)
	if err != nil {
		return nil, err
	}
	return linop.Compose(rest, sum)
}

func (o *integration[T]) build(x *dist.Space, axis int, c IntegrationOptions) error {
	o.step = scalar.From[T](complex(c.Sampling, 0))
	first := x.Box(x.Comm().Rank()).Lo[axis]
	n := x.LocalShape().Dim(axis)
	d, err := device.Make[T](n)
	if err != nil {
		return err
	}
	r, err := device.Make[T](n)
	if err != nil {
		return err
	}
	for i := range d {
		d[i], r[i] = 1, 1
		if c.Rule == IntegrationTrapezoidal && first+i == 0 {
			d[i], r[i] = scalar.From[T](0.5), 0
		}
	}
	if c.Rule == IntegrationFull {
		r = nil
	}
	alloc := func(dst *array.Array[T], n int) {
		if err == nil {
			*dst, err = array.New[T](x.Device(), shape.Of(n))
		}
	}
	alloc(&o.d, len(d))
	alloc(&o.r, len(r))
	alloc(&o.tmp, x.LocalShape().Size())
	if err == nil {
		err = errors.Join(o.d.CopyIn(d), o.r.CopyIn(r), o.prefix.build(x, axis))
	}
	return err
}

func (o *integration[T]) forward(ctx context.Context, dst, src dist.Array[T]) error {
	y, x := dst.Local(), src.Local()
	array.MulAxis(o.tmp, o.d, x, o.prefix.outer, o.prefix.inner, false)
	if err := o.prefix.apply(ctx, y, o.tmp, false); err != nil {
		return err
	}
	o.subtractHalf(y, x)
	return nil
}

func (o *integration[T]) adjoint(ctx context.Context, dst, src dist.Array[T]) error {
	x, y := dst.Local(), src.Local()
	if err := o.prefix.apply(ctx, x, y, true); err != nil {
		return err
	}
	array.MulAxis(x, o.d, x, o.prefix.outer, o.prefix.inner, false)
	o.subtractHalf(x, y)
	return nil
}

// subtractHalf sets y = Δ·(y - ½·R·x).
func (o *integration[T]) subtractHalf(y, x array.Array[T]) {
	if o.r.Len() == 0 {
		array.Axpby(o.step, y, 0, y)
		return
	}
	array.MulAxis(o.tmp, o.r, x, o.prefix.outer, o.prefix.inner, false)
	array.Axpby(-o.step/2, o.tmp, o.step, y)
}
