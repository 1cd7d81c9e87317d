package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// gradient holds the first derivative along each axis.
type gradient[T scalar.Scalar] []*axisOperator[T]

// GradientOptions are the options of Gradient. The zero value takes centered
// derivatives per sample.
type GradientOptions struct {
	Samplings []float64 // distance between samples along each axis; nil means 1 along all
	Kind      DerivativeKind
	Edge      bool // centered kinds only: one-sided formulas at the ends instead of zeros
}

// Gradient returns the first derivatives along all axes of x as a stack, one
// part per axis: y = (∂x/∂a₀, ∂x/∂a₁, ...). FirstDerivative has the formulas.
func Gradient[T scalar.Scalar](ctx context.Context, x *dist.Space, o GradientOptions) (linop.Operator[T], error) {
	if x == nil {
		return nil, errors.New("ops: gradient: no space given")
	}
	y, g, err := buildGradient[T](x, o)
	if err := dist.Agree(ctx, x.Comm(), "ops: gradient", err, x.Shape(), o); err != nil {
		return nil, err
	}
	return linop.Func("ops: gradient", x, y, g.forward, g.adjoint)
}

func buildGradient[T scalar.Scalar](x *dist.Space, o GradientOptions) (y *dist.Space, g gradient[T], err error) {
	n := x.Shape().NDim()
	if o.Samplings != nil && len(o.Samplings) != n {
		return nil, nil, fmt.Errorf("%d samplings for an array of %d axes", len(o.Samplings), n)
	}
	for axis := range n {
		m, err := firstDerivative[T](x, axis, DerivativeOptions{perAxis(o.Samplings, axis), o.Kind, o.Edge})
		if err != nil {
			return nil, nil, fmt.Errorf("axis %d: %w", axis, err)
		}
		p, err := buildAxisOperator(x, nil, m)
		if err != nil {
			return nil, nil, err
		}
		g = append(g, p)
	}
	y, err = dist.Stack(slices.Repeat([]*dist.Space{x}, n)...)
	return y, g, err
}

func (g gradient[T]) forward(ctx context.Context, dst, src dist.Array[T]) error {
	for i, p := range g {
		if err := p.forward.apply(ctx, dst.Part(i).Local(), src.Local(), false); err != nil {
			return err
		}
	}
	return nil
}

func (g gradient[T]) adjoint(ctx context.Context, dst, src dist.Array[T]) error {
	for i, p := range g {
		if err := p.adjoint.apply(ctx, dst.Local(), src.Part(i).Local(), i > 0); err != nil {
			return err
		}
	}
	return nil
}
