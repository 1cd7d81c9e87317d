package ops

import (
	"context"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// DirectionalDerivative returns the derivative along directions that may differ from
// sample to sample:
//
//	y[i] = Σₐ v[a][i]·∂x/∂a[i]
//
// v is a stack with one array over x for each axis a, as Gradient returns. Ranks send
// what Gradient sends. It keeps v, which must not change.
func DirectionalDerivative[T scalar.Scalar](ctx context.Context, v dist.Array[T], o GradientOptions) (linop.Operator[T], error) {
	const name = "ops: directional derivative"
	if v.NumParts() == 0 {
		return nil, fmt.Errorf("%s: the directions are no stack: give one array for each axis", name)
	}
	x := v.Part(0).Space()
	gradient, err := Gradient[T](ctx, x, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var parts dist.Array[T] // the derivative along each axis
	if !v.Space().Equal(gradient.Range()) {
		err = fmt.Errorf("the directions are of %v: give one array of %v for each of its %d axes", v.Space(), x, x.Shape().NDim())
	} else {
		parts, err = dist.New[T](v.Space())
	}
	if err := dist.Agree(ctx, x.Comm(), name, err); err != nil {
		return nil, err
	}
	forward := func(ctx context.Context, dst, src dist.Array[T]) error {
		if err := gradient.Forward(ctx, parts, src); err != nil {
			return err
		}
		dist.Mul(parts, v, parts)
		dist.Copy(dst, parts.Part(0))
		for a := 1; a < parts.NumParts(); a++ {
			dist.Add(dst, dst, parts.Part(a))
		}
		return nil
	}
	adjoint := func(ctx context.Context, dst, src dist.Array[T]) error {
		for a := range parts.NumParts() {
			dist.MulConj(parts.Part(a), v.Part(a), src)
		}
		return gradient.Adjoint(ctx, dst, parts)
	}
	return linop.Func(name, x, x, forward, adjoint)
}
