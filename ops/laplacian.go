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

// laplacian is the sum of second derivatives along several axes.
type laplacian[T scalar.Scalar] struct {
	linop.Spaces
	forward, adjoint axisSum[T]
}

// Laplacian returns the weighted sum of second derivatives
//
//	y = Σₖ wₖ ∂²x/∂aₖ²
//
// over axes aₖ of x.
func Laplacian[T scalar.Scalar](ctx context.Context, x *dist.Space, o LaplacianOptions) (linop.Operator[T], error) {
	if x == nil {
		return nil, errors.New("ops: laplacian: no space given")
	}
	axes := o.Axes
	if axes == nil {
		axes = []int{-2, -1}
	}
	s := &laplacian[T]{Spaces: linop.Spaces{Dom: x, Rng: x}}
	err := s.build(x, axes, o)
	if err := dist.Agree(ctx, x.Comm(), "ops: laplacian", err, x.Shape(), o); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *laplacian[T]) build(x *dist.Space, axes []int, o LaplacianOptions) error {
	if o.Weights != nil && len(o.Weights) != len(axes) || o.Samplings != nil && len(o.Samplings) != len(axes) {
		return fmt.Errorf("%d weights and %d samplings for %d axes", len(o.Weights), len(o.Samplings), len(axes))
	}
	if len(axes) == 0 {
		return errors.New("no axes given")
	}
	for k, axis := range axes {
		a, n, err := axisOf(x, axis)
		d, w := DerivativeOptions{Sampling: perAxis(o.Samplings, k), Kind: o.Kind, Edge: o.Edge}, perAxis(o.Weights, k)
		if math.IsNaN(w) || math.IsInf(w, 0) {
			err = errors.Join(err, fmt.Errorf("weight %d is %g, must be finite", k, w))
		}
		if err := errors.Join(err, d.Validate()); err != nil {
			return fmt.Errorf("axis %d: %w", axis, err)
		}
		m, err := secondDerivative[T](n, d, w)
		if err != nil {
			return fmt.Errorf("axis %d: %w", axis, err)
		}
		p, err := buildAxisOperator("ops: laplacian", x, a, m, nil)
		if err != nil {
			return err
		}
		s.forward.add(p.forward)
		s.adjoint.add(p.adjoint)
	}
	return nil
}

func (s *laplacian[T]) Forward(ctx context.Context, dst, src dist.Array[T]) error {
	if err := dist.Check("ops: laplacian", "forward", &dst, s.Rng, &src, s.Dom); err != nil {
		return err
	}
	return s.forward.apply(ctx, dst.Local(), src.Local())
}

func (s *laplacian[T]) Adjoint(ctx context.Context, dst, src dist.Array[T]) error {
	if err := dist.Check("ops: laplacian", "adjoint", &dst, s.Dom, &src, s.Rng); err != nil {
		return err
	}
	return s.adjoint.apply(ctx, dst.Local(), src.Local())
}
