package ops_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/scalar"
)

// TestScaledAndAdded checks what saves passes over memory: Scale of an operator is c
// times its results, and an operator that can add does add. Stacks of both keep the dot
// test.
func TestScaledAndAdded(t *testing.T) {
	adders := 0
	eachHomeBy(t, dist.Messages, func(ctx context.Context, x *dist.Space) error {
		return errors.Join(check(ctx, x, func(ctx context.Context, a linop.Operator[complex64]) error {
			return scaledAndAdded(ctx, a, 0.5-2i)
		}), check(ctx, x, func(ctx context.Context, a linop.Operator[float64]) error {
			if _, ok := a.(linop.Adder[float64, float64]); ok && x.Comm().Size() == 1 {
				adders++
			}
			return scaledAndAdded(ctx, a, -3)
		}))
	})
	if adders == 0 {
		t.Error("no operator adds")
	}
}

func scaledAndAdded[T scalar.Scalar](ctx context.Context, a linop.Operator[T], c T) error {
	s, err := linop.Scale(c, a)
	if err != nil {
		return err
	}
	v, err := linop.VStack(a, s, a)
	if err != nil {
		return err
	}
	h, err := linop.HStack(s, a)
	if err != nil {
		return err
	}
	if err := errors.Join(optest.Dot(ctx, v), optest.Dot(ctx, h)); err != nil {
		return err
	}
	if a.Range().Parts() != nil { // such as of a gradient, whose stacks the dot test has seen
		return nil
	}
	for i, pair := range [][2]linop.Operator[T]{{a, s}, {linop.H(a), linop.H(s)}} {
		factor := c
		if i == 1 {
			factor = scalar.Conj(c)
		}
		x, err := dist.FromFunc(ctx, pair[0].Domain(), ripples[T](1))
		if err != nil {
			return err
		}
		plain, err := linop.Apply(ctx, pair[0], x)
		if err != nil {
			return err
		}
		scaled, err := linop.Apply(ctx, pair[1], x)
		if err != nil {
			return err
		}
		if err := isSum(ctx, "scaled", scaled, factor, plain, nil); err != nil {
			return fmt.Errorf("direction %d: %w", i, err)
		}
		adder, ok := a.(linop.Adder[T, T])
		if !ok {
			continue
		}
		start, err := dist.FromFunc(ctx, pair[0].Range(), ripples[T](2))
		if err != nil {
			return err
		}
		sum, err := dist.FromFunc(ctx, pair[0].Range(), ripples[T](2))
		if err == nil && i == 0 {
			err = adder.AddForward(ctx, sum, x)
		} else if err == nil {
			err = adder.AddAdjoint(ctx, sum, x)
		}
		if err != nil {
			return err
		}
		if err := isSum(ctx, "added", sum, 1, plain, &start); err != nil {
			return fmt.Errorf("direction %d: %w", i, err)
		}
	}
	return nil
}

// ripples returns numbers that depend on the global index.
func ripples[T scalar.Scalar](seed float64) func(i []int) T {
	return func(i []int) T {
		at := seed
		for k, v := range i {
			at += float64((k + 2) * v)
		}
		return scalar.From[T](complex(math.Sin(at), math.Cos(2*at)))
	}
}

// isSum returns an error unless got is c·x + y. y may be nil.
func isSum[T scalar.Scalar](ctx context.Context, what string, got dist.Array[T], c T, x dist.Array[T], y *dist.Array[T]) error {
	dist.Axpby(-c, x, 1, got)
	if y != nil {
		dist.Axpby(-1, *y, 1, got)
	}
	off, err := dist.Norm(ctx, got, 2)
	if err != nil {
		return err
	}
	size, err := dist.Norm(ctx, x, 2)
	if tol := 1e-5 * (1 + size); err == nil && !(off <= tol) {
		err = fmt.Errorf("%s results are off by %g, may by %g", what, off, tol)
	}
	return err
}
