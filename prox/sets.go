package prox

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// Box returns the indicator of lower ≤ xᵢ ≤ upper, which may be infinite. The bounds
// hold for the real and for the imaginary part of a complex element.
func Box[T scalar.Scalar](ctx context.Context, x *dist.Space, lower, upper float64) (Function[T], error) {
	var err error
	if !(lower <= upper) {
		err = fmt.Errorf("the lower bound is %g and the upper %g: the box is empty", lower, upper)
	}
	tol := slack[T]()
	value := sumOf[T](x, device.Shrinkage{Kind: device.ShrinkBox, T: widened(lower, -tol), U: widened(upper, tol)})
	return build(ctx, "Box", x, err, Definition[T]{
		Value: func(ctx context.Context, x dist.Array[T]) (float64, error) {
			outside, err := value(ctx, x)
			return indicator(outside), err
		},
		Prox: func(_ context.Context, y dist.Array[T], _ float64, x dist.Array[T]) error {
			dist.Shrink(y, x, device.Shrinkage{Kind: device.ShrinkBox, T: lower, U: upper})
			return nil
		},
	}, "from ", lower, " to ", upper)
}

// widened moves a bound by a part of its size.
func widened(bound, by float64) float64 {
	if math.IsInf(bound, 0) {
		return bound
	}
	return bound + by*math.Abs(bound)
}

// EuclideanBall returns the indicator of ‖x - center‖₂ ≤ radius. The zero Array stands
// for a center of zeros. It keeps center. The prox is one message.
//
//	prox(x) = c + (x - c)·min(1, radius/‖x - c‖)
func EuclideanBall[T scalar.Scalar](ctx context.Context, x *dist.Space, center dist.Array[T], radius float64) (Function[T], error) {
	err := errors.Join(weight("radius", radius), belongs("center", center, x, true))
	centered := center.Space() != nil
	var scratch dist.Array[T]
	if err == nil && centered {
		scratch, err = dist.New[T](x)
	}
	// distance returns ‖x - c‖ and x - c.
	distance := func(ctx context.Context, x dist.Array[T]) (float64, dist.Array[T], error) {
		if centered {
			dist.Sub(scratch, x, center)
			x = scratch
		}
		n, err := dist.Norm(ctx, x, 2)
		return n, x, err
	}
	return build(ctx, "EuclideanBall", x, err, Definition[T]{
		Value: func(ctx context.Context, x dist.Array[T]) (float64, error) {
			n, _, err := distance(ctx, x)
			return indicator(n - radius*(1+slack[T]())), err
		},
		Prox: func(ctx context.Context, y dist.Array[T], _ float64, x dist.Array[T]) error {
			n, d, err := distance(ctx, x)
			f := 1.0
			if !(n <= radius) {
				f = radius / n
			}
			if centered {
				dist.Combine(y, 1, center, number[T](f), d)
			} else {
				dist.Scale(y, number[T](f), d)
			}
			return err
		},
	}, "radius ", radius, ", center ", centered)
}

// HalfSpace returns the indicator of Re wᴴx ≤ b. It keeps w. The prox is one message.
//
//	prox(x) = x - max(Re wᴴx - b, 0)/‖w‖²·w
func HalfSpace[T scalar.Scalar](ctx context.Context, w dist.Array[T], b float64) (Function[T], error) {
	x := w.Space()
	if x == nil {
		return nil, errors.New("prox: HalfSpace: w was never made: use dist.New")
	}
	var err error
	if math.IsNaN(b) || math.IsInf(b, 0) {
		err = fmt.Errorf("b is %g, must be finite", b)
	}
	n, e := dist.Norm(ctx, w, 2)
	if e != nil {
		return nil, e
	}
	red := dist.NewReduction(x, 2)
	return build(ctx, "HalfSpace", x, errors.Join(err, positive("the norm of w", n)), Definition[T]{
		Value: func(ctx context.Context, x dist.Array[T]) (float64, error) {
			dot, size := dist.AddDot(red, w, x), dist.AddNorm(red, x, 2)
			err := red.Do(ctx)
			return indicator(dot.Float() - b - slack[T]()*n*size.Float()), err
		},
		Prox: func(ctx context.Context, y dist.Array[T], _ float64, x dist.Array[T]) error {
			dot := dist.AddDot(red, w, x)
			err := red.Do(ctx)
			over := dot.Float() - b
			if over <= 0 {
				over = 0
			}
			dist.Combine(y, 1, x, number[T](-over/n/n), w)
			return err
		},
	}, "b ", b)
}

// L1Ball returns the indicator of ‖x‖₁ ≤ radius. The prox is a soft threshold t. It
// is found by Newton's method on Σmax(|xᵢ| - t, 0) = radius, which rises to t in some 5
// to 15 steps of one message each.
func L1Ball[T scalar.Scalar](ctx context.Context, x *dist.Space, radius float64) (Function[T], error) {
	var red *dist.Reduction
	if x != nil {
		red = dist.NewReduction(x, 2)
	}
	return build(ctx, "L1Ball", x, weight("radius", radius), Definition[T]{
		Value: func(ctx context.Context, x dist.Array[T]) (float64, error) {
			n, err := dist.Norm(ctx, x, 1)
			return indicator(n - radius*(1+slack[T]())), err
		},
		Prox: func(ctx context.Context, y dist.Array[T], _ float64, x dist.Array[T]) error {
			t, err := newton(ctx, red, x, device.ShrinkSoft, 0, radius)
			if err == nil && t > 0 {
				dist.Shrink(y, x, device.Shrinkage{Kind: device.ShrinkSoft, T: t})
			} else if err == nil {
				dist.Copy(y, x)
			}
			return err
		},
	}, "radius ", radius)
}

// Simplex returns the indicator of xᵢ ≥ 0 with Σxᵢ = radius, for real elements. The
// prox is max(x - t, 0); t is found as in L1Ball, after one more message.
func Simplex[T scalar.Scalar](ctx context.Context, x *dist.Space, radius float64) (Function[T], error) {
	err := positive("radius", radius)
	if scalar.Of[T]().IsComplex() {
		err = fmt.Errorf("the elements are %v: a simplex has real ones", scalar.Of[T]())
	}
	var red *dist.Reduction
	n := 0.0
	if x != nil {
		red, n = dist.NewReduction(x, 3), float64(x.Size())
	}
	return build(ctx, "Simplex", x, err, Definition[T]{
		Value: func(ctx context.Context, x dist.Array[T]) (float64, error) {
			sum := dist.AddSum(red, x)
			below, _ := dist.AddShrinkSum(red, x, device.Shrinkage{Kind: device.ShrinkBox, U: math.Inf(1)})
			err := red.Do(ctx)
			return indicator(max(math.Abs(sum.Float()-radius), below.Float()) - radius*slack[T]()), err
		},
		Prox: func(ctx context.Context, y dist.Array[T], _ float64, x dist.Array[T]) error {
			sum := dist.AddSum(red, x)
			if err := red.Do(ctx); err != nil {
				return err
			}
			// Σmax(xᵢ - t, 0) ≥ Σ(xᵢ - t), which is the radius at this t.
			t, err := newton(ctx, red, x, device.ShrinkAbove, (sum.Float()-radius)/n, radius)
			if err == nil {
				dist.Shrink(y, x, device.Shrinkage{Kind: device.ShrinkAbove, T: t})
			}
			return err
		},
	}, "radius ", radius)
}

// newton solves Σmax(sᵢ - t, 0) = radius, where s is what kind makes of x, from a t at
// which the sum is not less. The sum is convex and falls, so t only rises. It returns
// the first t if the sum is less.
func newton[T scalar.Scalar](ctx context.Context, red *dist.Reduction, x dist.Array[T], kind device.ShrinkKind, t, radius float64) (float64, error) {
	for {
		s, c := dist.AddShrinkSum(red, x, device.Shrinkage{Kind: kind, T: t})
		if err := red.Do(ctx); err != nil {
			return t, err
		}
		over, many := s.Float()-radius, c.Float()
		switch {
		case math.IsNaN(over) || math.IsInf(over, 0):
			return t, fmt.Errorf("the sum is %g: %w", s.Float(), solve.ErrNotFinite)
		case over <= 0 || many == 0 || t+over/many <= t:
			return t, nil
		}
		t += over / many
	}
}

// AffineSet returns the indicator of A·x = b. It keeps b. The prox solves with A·Aᴴ by
// conjugate gradients, with 2 messages per step and one more.
//
//	prox(x) = x - Aᴴ(A·Aᴴ)⁻¹(A·x - b)
func AffineSet[D, R scalar.Scalar](ctx context.Context, a Map[D, R], b dist.Array[R], in Inner) (Function[D], error) {
	if isNil(a) {
		return nil, errors.New("prox: AffineSet: no operator given")
	}
	x, y := a.Domain(), a.Range()
	err := errors.Join(belongs("b", b, y, false), in.Validate(), sameGroup(x, y))
	var u dist.Array[D]
	var r dist.Array[R]
	var cg *conjugateGradients[R]
	if err == nil {
		var e [3]error
		u, e[0] = dist.New[D](x)
		r, e[1] = dist.New[R](y)
		cg, e[2] = newConjugateGradients[R](y, in)
		err = errors.Join(e[:]...)
	}
	apply := func(ctx context.Context, dst, src dist.Array[R]) error {
		if err := a.Adjoint(ctx, u, src); err != nil {
			return err
		}
		return a.Forward(ctx, dst, u)
	}
	return build(ctx, "AffineSet", x, err, Definition[D]{
		Value: func(ctx context.Context, x dist.Array[D]) (float64, error) {
			if err := a.Forward(ctx, r, x); err != nil {
				return math.NaN(), err
			}
			size := dist.AddNorm(cg.red, r, 2)
			dist.Sub(r, r, b)
			off := dist.AddNorm(cg.red, r, 2)
			data := dist.AddNorm(cg.red, b, 2)
			err := cg.red.Do(ctx)
			return indicator(off.Float() - max(slack[R](), 10*in.RelTol)*(size.Float()+data.Float())), err
		},
		Prox: func(ctx context.Context, y dist.Array[D], _ float64, x dist.Array[D]) error {
			if err := a.Forward(ctx, r, x); err != nil {
				return err
			}
			dist.Sub(r, r, b)
			w, err := cg.solve(ctx, apply, r, dist.Array[R]{})
			if err == nil {
				err = a.Adjoint(ctx, u, w)
			}
			if err == nil {
				dist.Sub(y, x, u)
			}
			return err
		},
		State: cg.state,
	}, in)
}
