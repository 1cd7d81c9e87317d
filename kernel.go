package golops

import (
	"context"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
)

// Kernel is an operator of your own: Forward sets y = A·x, Adjoint sets x = Aᴴ·y.
// Both write all of the first vector and leave the second alone. All ranks call
// them together. DotTest tells whether they fit together.
type Kernel[D, R Scalar] interface {
	Forward(y Vec[R], x Vec[D])
	Adjoint(x Vec[D], y Vec[R])
}

// NewOp returns the operator from x to y that k computes.
func NewOp[D, R Scalar](x Space[D], y Space[R], k Kernel[D, R]) Op[D, R] {
	if x.World() != y.World() {
		apart("new op", x, y)
	}
	if k == nil {
		fail("new op: the Kernel is nil")
	}
	name := typeName(k)
	return Op[D, R]{x.w, &kernelMap[D, R]{linop.Spaces{Dom: x.s, Rng: y.s}, x.w, k, "golops: " + name}, named(name)}
}

// kernelMap is a Kernel as package linop wants it.
type kernelMap[D, R Scalar] struct {
	linop.Spaces
	w    *World
	k    Kernel[D, R]
	name string
}

func (o *kernelMap[D, R]) Forward(_ context.Context, dst dist.Array[R], src dist.Array[D]) error {
	if err := dist.Check(o.name, "forward", &dst, o.Rng, &src, o.Dom); err != nil {
		return err
	}
	o.k.Forward(Vec[R]{o.w, dst}, Vec[D]{o.w, src})
	return nil
}

func (o *kernelMap[D, R]) Adjoint(_ context.Context, dst dist.Array[D], src dist.Array[R]) error {
	if err := dist.Check(o.name, "adjoint", &dst, o.Dom, &src, o.Rng); err != nil {
		return err
	}
	o.k.Adjoint(Vec[D]{o.w, dst}, Vec[R]{o.w, src})
	return nil
}
