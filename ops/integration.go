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

// CausalIntegration integrates along an axis of x with step Δ:
//
//	full         y[i] = Δ·(x[0] + ... + x[i])
//	half         y[i] = Δ·(x[0] + ... + x[i-1] + x[i]/2)
//	trapezoidal  y[i] = Δ·(x[0]/2 + x[1] + ... + x[i-1] + x[i]/2), y[0] = Δ·x[0]/2
//
// Where the axis is split, ranks exchange the sums of their blocks and, with the half
// and trapezoidal rules, a row with each neighbour.
func CausalIntegration[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int, c IntegrationOptions) (linop.Operator[T], error) {
	const name = "ops: causal integration"
	m, err := along[T](x, axis)
	err = errors.Join(err, c.Validate())
	if err == nil && c.RemoveFirst && m.rows == 0 {
		err = errors.New("RemoveFirst of an axis without samples")
	}
	m.integrationSteps(c)
	steps, err := newAxisOperator(ctx, name, x, m, nil, err, c)
	if err != nil {
		return nil, err
	}
	sum, err := newPrefixSum[T](ctx, name, x, m.axis)
	if err != nil || !c.RemoveFirst {
		return compose(sum, steps, err)
	}
	m = matrix[T]{axis: m.axis, rows: m.rows - 1, cols: m.cols}
	m.add(0, m.rows, 1, 1, 1)
	_, counts := x.SplitBy(m.axis)
	if _, ends := x.Place(m.axis); counts != nil {
		counts[owner(ends, 0)]--
	}
	rest, err := newAxisOperator(ctx, name, x, m, counts, nil)
	sum, err = compose(sum, steps, err)
	return compose(rest, sum, err)
}

// compose is linop.Compose unless there is an error.
func compose[T scalar.Scalar](outer, inner linop.Operator[T], err error) (linop.Operator[T], error) {
	if err != nil {
		return nil, err
	}
	return linop.Compose(outer, inner)
}

// chain returns the product of operators that are applied in this order. Memory may be
// short on one rank, so a collective constructor calls it last.
func chain[T scalar.Scalar](all ...linop.Operator[T]) (linop.Operator[T], error) {
	product := all[0]
	for _, next := range all[1:] {
		var err error
		if product, err = linop.Compose(next, product); err != nil {
			return nil, err
		}
	}
	return product, nil
}

// integrationSteps adds the taps of the differences y[i] - y[i-1].
func (m *matrix[T]) integrationSteps(c IntegrationOptions) {
	if c.Rule == IntegrationFull {
		m.stencil(0, m.rows, 0, c.Sampling)
		return
	}
	m.stencil(0, m.rows, 0, c.Sampling/2)
	first := 1 // the row from which on half of the sample before counts
	if c.Rule == IntegrationTrapezoidal {
		first = 2
	}
	m.stencil(first, m.rows, -1, c.Sampling/2)
}

// prefixSum computes running sums along an axis. Where the axis is split, ranks
// exchange the sums of their blocks.
type prefixSum[T scalar.Scalar] struct {
	outer, n, inner int
	group           dist.AxisGroup
	all, start      array.Array[T] // sums of the blocks of all ranks, and of those before this one
}

func newPrefixSum[T scalar.Scalar](ctx context.Context, name string, x *dist.Space, axis int) (linop.Operator[T], error) {
	o := &prefixSum[T]{}
	var err error
	if o.group, err = x.AxisGroup(ctx, axis); err != nil {
		return nil, err
	}
	o.outer, o.n, o.inner = x.LocalShape().Around(axis)
	if o.all, err = array.New[T](x.Device(), shape.Of(o.group.Size()*o.outer*o.inner)); err == nil {
		o.start, err = array.New[T](x.Device(), shape.Of(o.outer*o.inner))
	}
	if err := dist.Agree(ctx, x.Comm(), name, err); err != nil {
		return nil, err
	}
	return linop.Func(name, x, x, o.forward, o.adjoint)
}

func (o *prefixSum[T]) forward(ctx context.Context, dst, src dist.Array[T]) error {
	return o.apply(ctx, dst.Local(), src.Local(), false)
}

func (o *prefixSum[T]) adjoint(ctx context.Context, dst, src dist.Array[T]) error {
	return o.apply(ctx, dst.Local(), src.Local(), true)
}

// apply sets dst to the running sums of src over all ranks of the axis.
func (o *prefixSum[T]) apply(ctx context.Context, dst, src array.Array[T], reverse bool) error {
	n, start := o.start.Len(), o.start
	if o.group.Size() == 1 {
		start = o.start.Slice(0, 0)
	} else {
		me := o.group.Rank()
		mine := o.all.Slice(me*n, (me+1)*n)
		array.SumAxis(mine, src, o.outer, o.n, o.inner)
		label := dist.LabelForward
		if reverse {
			label = dist.LabelAdjoint
		}
		if err := dist.GatherOver(ctx, o.group, o.all, nil, mine, label); err != nil {
			return err
		}
		lo, hi := 0, me
		if reverse {
			lo, hi = me+1, o.group.Size()
		}
		array.Fill(start, 0)
		for p := lo; p < hi; p++ {
			array.Axpby(1, o.all.Slice(p*n, (p+1)*n), 1, start)
		}
	}
	array.ScanAxis(dst, src, start, o.outer, o.n, o.inner, reverse)
	return nil
}
