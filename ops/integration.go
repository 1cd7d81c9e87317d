package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
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
	a, n, err := axisOf(x, axis)
	err = errors.Join(err, c.Validate())
	if err == nil && c.RemoveFirst && n == 0 {
		err = errors.New("RemoveFirst of an axis without samples")
	}
	steps, err := newAxisOperator(ctx, name, x, a, integrationSteps[T](n, c), nil, err, c)
	if err != nil {
		return nil, err
	}
	sum, err := newPrefixSum[T](ctx, name, x, a)
	if err != nil || !c.RemoveFirst {
		return compose(sum, steps, err)
	}
	m := matrix[T]{rows: n - 1, cols: n}
	m.add(0, n-1, 1, 1, 1)
	_, counts := x.SplitBy(a)
	if _, ends := x.Place(a); counts != nil {
		counts[owner(ends, 0)]--
	}
	rest, err := newAxisOperator(ctx, name, x, a, m, counts, nil)
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

// integrationSteps returns the matrix of the differences y[i] - y[i-1].
func integrationSteps[T scalar.Scalar](n int, c IntegrationOptions) matrix[T] {
	m := matrix[T]{rows: n, cols: n}
	switch c.Rule {
	case IntegrationFull:
		m.stencil(0, n, 0, c.Sampling)
	case IntegrationHalf:
		m.stencil(0, n, 0, c.Sampling/2)
		m.stencil(1, n, -1, c.Sampling/2)
	case IntegrationTrapezoidal:
		m.stencil(0, n, 0, c.Sampling/2)
		m.stencil(2, n, -1, c.Sampling/2)
	}
	return m
}
