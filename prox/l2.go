package prox

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// L2 returns σ/2·‖x - b‖². The zero Array stands for data of zeros. It keeps b. It has
// a gradient.
//
//	prox(x) = (x + στ·b)/(1 + στ)
func L2[T scalar.Scalar](ctx context.Context, x *dist.Space, b dist.Array[T], sigma float64) (Function[T], error) {
	err := errors.Join(weight("sigma", sigma), belongs("b", b, x, true))
	has := b.Space() != nil
	var scratch dist.Array[T]
	if err == nil && has {
		scratch, err = dist.New[T](x)
	}
	return build(ctx, "L2", x, err, Definition[T]{
		Value: func(ctx context.Context, x dist.Array[T]) (float64, error) {
			if has {
				dist.Sub(scratch, x, b)
				x = scratch
			}
			n, err := dist.Norm(ctx, x, 2)
			return sigma / 2 * n * n, err
		},
		Prox: func(_ context.Context, y dist.Array[T], tau float64, x dist.Array[T]) error {
			t := sigma * tau
			if has {
				dist.Combine(y, number[T](1/(1+t)), x, number[T](t/(1+t)), b)
			} else {
				dist.Scale(y, number[T](1/(1+t)), x)
			}
			return nil
		},
		Gradient: func(_ context.Context, g, x dist.Array[T]) error {
			if has {
				dist.Combine(g, number[T](sigma), x, number[T](-sigma), b)
			} else {
				dist.Scale(g, number[T](sigma), x)
			}
			return nil
		},
	}, "sigma ", sigma, ", data ", has)
}

// L2Diagonal returns σ/2·‖d·x - b‖² with one factor for each element, such as weights or
// a mask of zeros and ones. It keeps d. It has a gradient.
//
//	prox(x)ᵢ = (xᵢ + στ·conj(dᵢ)·bᵢ)/(1 + στ·|dᵢ|²)
func L2Diagonal[T scalar.Scalar](ctx context.Context, d, b dist.Array[T], sigma float64) (Function[T], error) {
	x := d.Space()
	if x == nil {
		return nil, errors.New("prox: L2Diagonal: d was never made: use dist.New")
	}
	err := errors.Join(weight("sigma", sigma), belongs("b", b, x, false))
	var db, inverse, scratch dist.Array[T] // conj(d)·b; 1/(1 + στ·|d|²) of the last τ
	last := math.NaN()
	if err == nil {
		var e [3]error
		db, e[0] = dist.New[T](x)
		inverse, e[1] = dist.New[T](x)
		scratch, e[2] = dist.New[T](x)
		if err = errors.Join(e[:]...); err == nil {
			dist.MulConj(db, d, b)
		}
	}
	residual := func(x dist.Array[T]) {
		dist.Mul(scratch, d, x)
		dist.Sub(scratch, scratch, b)
	}
	return build(ctx, "L2Diagonal", x, err, Definition[T]{
		Value: func(ctx context.Context, x dist.Array[T]) (float64, error) {
			residual(x)
			n, err := dist.Norm(ctx, scratch, 2)
			return sigma / 2 * n * n, err
		},
		Prox: func(_ context.Context, y dist.Array[T], tau float64, x dist.Array[T]) error {
			if t := sigma * tau; t != last {
				dist.Shrink(inverse, d, device.Shrinkage{Kind: device.ShrinkInverse, T: t})
				last = t
			}
			dist.Combine(y, 1, x, number[T](last), db)
			dist.Mul(y, y, inverse)
			return nil
		},
		Gradient: func(_ context.Context, g, x dist.Array[T]) error {
			residual(x)
			dist.MulConj(g, d, scratch)
			dist.Scale(g, number[T](sigma), g)
			return nil
		},
	}, "sigma ", sigma)
}

// L2Operator returns σ/2·‖A·x - b‖². It keeps b. It has a gradient. The prox solves a
// system by conjugate gradients, with 2 messages per step and one more beside those of
// A:
//
//	(I + στ·AᴴA)·prox(x) = x + στ·Aᴴb
func L2Operator[D, R scalar.Scalar](ctx context.Context, a Map[D, R], b dist.Array[R], sigma float64, in Inner) (Function[D], error) {
	if isNil(a) {
		return nil, errors.New("prox: L2Operator: no operator given: L2 needs none")
	}
	x, y := a.Domain(), a.Range()
	err := errors.Join(weight("sigma", sigma), belongs("b", b, y, false), in.Validate(), sameGroup(x, y))
	var ab, rhs dist.Array[D]
	var r dist.Array[R]
	var cg *conjugateGradients[D]
	if err == nil {
		var e [4]error
		ab, e[0] = dist.New[D](x)
		rhs, e[1] = dist.New[D](x)
		r, e[2] = dist.New[R](y)
		cg, e[3] = newConjugateGradients[D](x, in)
		err = errors.Join(e[:]...)
	}
	t := 0.0 // στ
	apply := func(ctx context.Context, dst, src dist.Array[D]) error {
		err := a.Forward(ctx, r, src)
		if err == nil {
			err = a.Adjoint(ctx, dst, r)
		}
		dist.Axpby(1, src, number[D](t), dst)
		return err
	}
	residual := func(ctx context.Context, x dist.Array[D]) error {
		err := a.Forward(ctx, r, x)
		dist.Sub(r, r, b)
		return err
	}
	f, err := build(ctx, "L2Operator", x, err, Definition[D]{
		Value: func(ctx context.Context, x dist.Array[D]) (float64, error) {
			if err := residual(ctx, x); err != nil {
				return math.NaN(), err
			}
			n, err := dist.Norm(ctx, r, 2)
			return sigma / 2 * n * n, err
		},
		Prox: func(ctx context.Context, y dist.Array[D], tau float64, x dist.Array[D]) error {
			t = sigma * tau
			dist.Combine(rhs, 1, x, number[D](t), ab)
			z, err := cg.solve(ctx, apply, rhs, x)
			if err == nil {
				dist.Copy(y, z)
			}
			return err
		},
		Gradient: func(ctx context.Context, g, x dist.Array[D]) error {
			if err := residual(ctx, x); err != nil {
				return err
			}
			err := a.Adjoint(ctx, g, r)
			dist.Scale(g, number[D](sigma), g)
			return err
		},
		State: cg.state,
	}, "sigma ", sigma, in)
	if err == nil {
		err = a.Adjoint(ctx, ab, b)
	}
	return f, err
}

// Quadratic returns ½·Re xᴴAx + Re bᴴx + c for a Hermitian positive A, which may be nil.
// The zero Array stands for a b of zeros. It keeps b. It has a gradient. The prox
// solves (I + τA)·prox(x) = x - τ·b by conjugate gradients, with 2 messages per step
// and one more beside those of A.
func Quadratic[T scalar.Scalar](ctx context.Context, x *dist.Space, a Map[T, T], b dist.Array[T], c float64, in Inner) (Function[T], error) {
	err := errors.Join(belongs("b", b, x, true), in.Validate())
	if math.IsNaN(c) || math.IsInf(c, 0) {
		err = errors.Join(err, fmt.Errorf("c is %g, must be finite", c))
	}
	square := !isNil(a)
	if square && x != nil && (!a.Domain().Equal(x) || !a.Range().Equal(x)) {
		err = errors.Join(err, fmt.Errorf("the operator goes from %v to %v, must map %v to itself", a.Domain(), a.Range(), x))
	}
	var rhs, ax dist.Array[T]
	var cg *conjugateGradients[T]
	var red *dist.Reduction
	if err == nil && x != nil {
		var e [3]error
		rhs, e[0] = dist.New[T](x)
		ax, e[1] = dist.New[T](x)
		cg, e[2] = newConjugateGradients[T](x, in)
		err, red = errors.Join(e[:]...), dist.NewReduction(x, 2)
	}
	linear, step := b.Space() != nil, 0.0
	apply := func(ctx context.Context, dst, src dist.Array[T]) error {
		err := a.Forward(ctx, dst, src)
		dist.Axpby(1, src, number[T](step), dst)
		return err
	}
	d := Definition[T]{
		Value: func(ctx context.Context, x dist.Array[T]) (v float64, err error) {
			if square {
				if err := a.Forward(ctx, ax, x); err != nil {
					return math.NaN(), err
				}
			} else {
				dist.Zero(ax)
			}
			half := dist.AddDot(red, x, ax)
			dot := half
			if linear {
				dot = dist.AddDot(red, b, x)
			}
			if err := red.Do(ctx); err != nil {
				return math.NaN(), err
			}
			if v = half.Float()/2 + c; linear {
				v += dot.Float()
			}
			return v, nil
		},
		Prox: func(ctx context.Context, y dist.Array[T], tau float64, x dist.Array[T]) error {
			dist.Copy(rhs, x)
			if linear {
				dist.Axpby(number[T](-tau), b, 1, rhs)
			}
			z, err := rhs, error(nil)
			if square {
				step = tau
				z, err = cg.solve(ctx, apply, rhs, x)
			}
			if err == nil {
				dist.Copy(y, z)
			}
			return err
		},
		Gradient: func(ctx context.Context, g, x dist.Array[T]) error {
			if square {
				if err := a.Forward(ctx, ax, x); err != nil {
					return err
				}
			} else {
				dist.Zero(ax)
			}
			if linear {
				dist.Axpby(1, b, 1, ax)
			}
			dist.Copy(g, ax)
			return nil
		},
	}
	if square {
		d.State = cg.state
	}
	return build(ctx, "Quadratic", x, err, d, "c ", c, in, square, linear)
}
