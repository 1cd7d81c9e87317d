// Package linop defines linear maps between distributed arrays, their algebra
// and their stacks.
package linop

import (
	"context"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// Map is a linear map from vectors of D to vectors of R. It is given by two
// methods: what it does and what its adjoint does.
//
// Forward and Adjoint are collective. They overwrite all of dst, do not change src
// and allocate nothing. Those of golops return an error if dst or src is of
// another space, or if they share memory. Your Map does so if it calls dist.Check
// first; optest.Refuses tests it. ApplyTo and ApplyAdjointTo check for any Map. A
// Map belongs to one rank.
type Map[D, R scalar.Scalar] interface {
	Domain() *dist.Space // its Shape is dims of PyLops
	Range() *dist.Space  // its Shape is dimsd of PyLops
	Forward(ctx context.Context, dst dist.Array[R], src dist.Array[D]) error
	Adjoint(ctx context.Context, dst dist.Array[D], src dist.Array[R]) error
}

// Operator is a Map that keeps the element type.
type Operator[T scalar.Scalar] = Map[T, T]

// Spaces supplies Domain and Range to the Map that embeds it.
type Spaces struct{ Dom, Rng *dist.Space }

// Domain returns the space of models.
func (s Spaces) Domain() *dist.Space { return s.Dom }

// Range returns the space of data.
func (s Spaces) Range() *dist.Space { return s.Rng }

// ApplyTo sets dst = a·src. It returns an error if the arrays do not fit.
func ApplyTo[D, R scalar.Scalar](ctx context.Context, a Map[D, R], dst dist.Array[R], src dist.Array[D]) error {
	if err := valid(a); err != nil {
		return fmt.Errorf("linop: apply: %w", err)
	}
	if err := dist.Check("linop", "apply", &dst, a.Range(), &src, a.Domain()); err != nil {
		return err
	}
	return a.Forward(ctx, dst, src)
}

// ApplyAdjointTo sets dst = aᴴ·src. It returns an error if the arrays do not fit.
func ApplyAdjointTo[D, R scalar.Scalar](ctx context.Context, a Map[D, R], dst dist.Array[D], src dist.Array[R]) error {
	if err := valid(a); err != nil {
		return fmt.Errorf("linop: apply adjoint: %w", err)
	}
	if err := dist.Check("linop", "apply adjoint", &dst, a.Domain(), &src, a.Range()); err != nil {
		return err
	}
	return a.Adjoint(ctx, dst, src)
}

// Apply returns a·x in a new array.
func Apply[D, R scalar.Scalar](ctx context.Context, a Map[D, R], x dist.Array[D]) (dist.Array[R], error) {
	if err := valid(a); err != nil {
		return dist.Array[R]{}, fmt.Errorf("linop: apply: %w", err)
	}
	y, err := dist.New[R](a.Range())
	if err != nil {
		return y, err
	}
	return y, ApplyTo(ctx, a, y, x)
}
