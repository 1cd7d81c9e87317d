package ops

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// LaplacianOptions are the options of Laplacian. The zero value adds up centered
// derivatives per sample along the last two axes.
type LaplacianOptions struct {
	Axes      []int     // nil means the last two
	Weights   []float64 // one for each of Axes; nil means 1 for all
	Samplings []float64 // distance between samples along each of Axes; nil means 1 along all
	Kind      DerivativeKind
	Edge      bool // centered kind only: one-sided formulas at the ends instead of zeros
}

// Laplacian returns the weighted sum of second derivatives
//
//	y = Σₖ wₖ ∂²x/∂aₖ²
//
// over axes aₖ of x.
func Laplacian[T scalar.Scalar](ctx context.Context, x *dist.Space, o LaplacianOptions) (linop.Operator[T], error) {
	axes := o.Axes
	if axes == nil {
		axes = []int{-2, -1}
	}
	terms, err := laplacianTerms[T](x, axes, o)
	return newAxisSum(ctx, "ops: laplacian", x, terms, nil, err, o)
}

// laplacianTerms returns the second derivatives that a Laplacian adds up.
func laplacianTerms[T scalar.Scalar](x *dist.Space, axes []int, o LaplacianOptions) (terms []matrix[T], err error) {
	if o.Weights != nil && len(o.Weights) != len(axes) || o.Samplings != nil && len(o.Samplings) != len(axes) {
		return nil, fmt.Errorf("%d weights and %d samplings for %d axes", len(o.Weights), len(o.Samplings), len(axes))
	}
	if len(axes) == 0 {
		return nil, errors.New("no axes given")
	}
	for k, axis := range axes {
		w := perAxis(o.Weights, k)
		m, err := secondDerivative[T](x, axis, DerivativeOptions{perAxis(o.Samplings, k), o.Kind, o.Edge}, w)
		if math.IsNaN(w) || math.IsInf(w, 0) {
			err = errors.Join(err, fmt.Errorf("weight %d is %g, must be finite", k, w))
		}
		if err != nil {
			return nil, fmt.Errorf("axis %d: %w", axis, err)
		}
		terms = append(terms, m)
	}
	return terms, nil
}
