package prox

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// Map is a linear map of package linop.
type Map[D, R scalar.Scalar] = linop.Map[D, R]

// Inner says when an iteration inside of a prox ends.
type Inner struct {
	MaxIter int     // steps at most; a prox that ends by it is inexact
	RelTol  float64 // the residual, or the duality gap, relative to that of zero
	Warm    bool    // begin from the result of the last call, which checkpoints keep
}

// InnerDefaults returns limits that suit most: 100 steps to a tolerance of 1e-9, from
// the last result.
func InnerDefaults() Inner { return Inner{MaxIter: 100, RelTol: 1e-9, Warm: true} }

// Validate reports every fault at once.
func (in Inner) Validate() error {
	var errs []error
	if in.MaxIter < 1 {
		errs = append(errs, fmt.Errorf("MaxIter is %d, must be at least 1", in.MaxIter))
	}
	if !(in.RelTol >= 0) || math.IsInf(in.RelTol, 0) {
		errs = append(errs, fmt.Errorf("RelTol is %g, must be finite and not negative", in.RelTol))
	}
	return errors.Join(errs...)
}

func isNil[D, R scalar.Scalar](a Map[D, R]) bool { return linop.H(a) == nil }

// sameGroup says what is wrong with an operator whose range is on other ranks.
func sameGroup(x, y *dist.Space) error {
	if x.Group() != y.Group() {
		return fmt.Errorf("the operator goes from %v to %v, which have different masks", x, y)
	}
	return nil
}

// conjugateGradients solves systems with Hermitian positive definite matrices by the
// recurrence of solve.CG, in memory that it keeps: solve.Run makes its own for each run.
type conjugateGradients[T scalar.Scalar] struct {
	Inner
	z, r, d, ad dist.Array[T]
	red         *dist.Reduction
	started     float64 // 1 if z is the result of the last call
}

func newConjugateGradients[T scalar.Scalar](x *dist.Space, in Inner) (*conjugateGradients[T], error) {
	c := &conjugateGradients[T]{Inner: in, red: dist.NewReduction(x, 3)}
	for _, a := range []*dist.Array[T]{&c.z, &c.r, &c.d, &c.ad} {
		var err error
		if *a, err = dist.New[T](x); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// state is what the next call reads of the last one.
func (c *conjugateGradients[T]) state() ([]solve.NamedArray, []solve.NamedNumber) {
	if !c.Warm {
		return nil, nil
	}
	return []solve.NamedArray{{Name: "last result", Array: c.z}}, []solve.NamedNumber{{Name: "has a result", Value: &c.started}}
}

// solve returns the z with apply(z) = b, in memory that the next call overwrites. It
// starts from the last z, from start, or from zero if start is the zero Array. Steps
// send two messages each.
func (c *conjugateGradients[T]) solve(ctx context.Context, apply func(ctx context.Context, dst, src dist.Array[T]) error, b, start dist.Array[T]) (dist.Array[T], error) {
	switch {
	case c.Warm && c.started == 1:
	case start.Space() != nil:
		dist.Copy(c.z, start)
	default:
		dist.Zero(c.z)
	}
	c.started = 0 // unless this call ends well
	if err := apply(ctx, c.ad, c.z); err != nil {
		return c.z, err
	}
	dist.Sub(c.r, b, c.ad)
	rr, bb := dist.AddNorm2(c.red, c.r), dist.AddNorm2(c.red, b)
	if err := c.red.Do(ctx); err != nil {
		return c.z, err
	}
	gamma, end := rr.Float(), c.RelTol*c.RelTol*bb.Float()
	dist.Copy(c.d, c.r)
	for k := 0; k < c.MaxIter && gamma > end; k++ {
		if err := apply(ctx, c.ad, c.d); err != nil {
			return c.z, err
		}
		dad := dist.AddDot(c.red, c.d, c.ad)
		if err := c.red.Do(ctx); err != nil {
			return c.z, err
		}
		curve := dad.Float()
		if curve <= 0 {
			break // the matrix is singular to rounding: z is as good as it gets
		}
		alpha := number[T](gamma / curve)
		dist.Axpby(alpha, c.d, 1, c.z)
		rr := dist.AddAxpyNorm2(c.red, -alpha, c.ad, c.r)
		if err := c.red.Do(ctx); err != nil {
			return c.z, err
		}
		beta := number[T](rr.Float() / gamma)
		gamma = rr.Float()
		dist.Axpby(1, c.r, beta, c.d)
	}
	if math.IsNaN(gamma) || math.IsInf(gamma, 0) {
		return c.z, fmt.Errorf("conjugate gradients: the squared residual is %g: %w", gamma, solve.ErrNotFinite)
	}
	c.started = 1
	return c.z, nil
}
