package prox

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// TV returns the total variation σ·Σᵢ‖∇xᵢ‖ of an array of 1 to 3 axes. The gradient has
// forward differences along all axes, with zeros at the ends.
//
// The prox is iterative. It goes up the dual problem by accelerated steps:
//
//	z = x - ∇ᴴq,  q_next = clip(v + ∇z/L, στ),  v = q_next + (t-1)/t_next·(q_next - q),  L = 4·axes
//
// It keeps 3 gradients and sends what ∇ and ∇ᴴ send in each step; every tenth step
// one more message tells the duality gap. RelTol is that of the gap.
//
// A. Beck and M. Teboulle, Fast Gradient-Based Algorithms for Constrained Total
// Variation Image Denoising and Deblurring Problems, 2009.
func TV[T scalar.Scalar](ctx context.Context, x *dist.Space, sigma float64, in Inner) (Function[T], error) {
	if x == nil {
		return nil, errors.New("prox: TV: no space given")
	}
	err := errors.Join(weight("sigma", sigma), in.Validate())
	if n := x.Shape().NDim(); x.Parts() != nil || n < 1 || n > 3 {
		err = errors.Join(err, fmt.Errorf("%v must be one array of 1 to 3 axes", x))
	}
	if err := dist.Agree(ctx, x.Comm(), "prox: TV", err, sigma, in); err != nil {
		return nil, err
	}
	grad, err := ops.Gradient[T](ctx, x, ops.GradientOptions{Kind: ops.DerivativeForward})
	if err != nil {
		return nil, fmt.Errorf("prox: TV: %w", err)
	}
	v := &variation[T]{Inner: in, grad: grad, sigma: sigma, axes: x.Shape().NDim(), red: dist.NewReduction(x, 4)}
	var e [5]error
	v.z, e[0] = dist.New[T](x)
	for i, a := range []*dist.Array[T]{&v.q, &v.old, &v.v, &v.dz} {
		*a, e[i+1] = dist.New[T](grad.Range())
	}
	return build(ctx, "TV", x, errors.Join(e[:]...), Definition[T]{Value: v.value, Prox: v.prox, State: v.state})
}

type variation[T scalar.Scalar] struct {
	Inner
	grad      Map[T, T]
	sigma     float64
	axes      int
	red       *dist.Reduction
	z         dist.Array[T]
	q, old, v dist.Array[T] // dual variable, the one before it, extrapolated
	dz        dist.Array[T] // ∇z
	started   float64       // στ of the last call that ended well
}

// state is what the next prox reads of the last one.
func (f *variation[T]) state() ([]solve.NamedArray, []solve.NamedNumber) {
	if !f.Warm {
		return nil, nil
	}
	return []solve.NamedArray{{Name: "dual variable", Array: f.q}}, []solve.NamedNumber{{Name: "στ of it", Value: &f.started}}
}

func (f *variation[T]) value(ctx context.Context, x dist.Array[T]) (float64, error) {
	if err := f.grad.Forward(ctx, f.dz, x); err != nil {
		return math.NaN(), err
	}
	sum, _ := dist.AddShrinkSumParts(f.red, f.dz, device.Shrinkage{Kind: device.ShrinkSoft})
	err := f.red.Do(ctx)
	return f.sigma * sum.Float(), err
}

func (f *variation[T]) prox(ctx context.Context, y dist.Array[T], tau float64, x dist.Array[T]) error {
	bound := f.sigma * tau
	if !f.Warm || f.started != bound {
		dist.Zero(f.q)
	}
	f.started = math.NaN() // unless this call ends well
	dist.Copy(f.v, f.q)
	t := 1.0
	for k := 1; k <= f.MaxIter; k++ {
		if err := f.primal(ctx, f.v, x); err != nil {
			return err
		}
		if err := f.grad.Forward(ctx, f.dz, f.z); err != nil {
			return err
		}
		f.q, f.old = f.old, f.q
		dist.Combine(f.q, 1, f.v, number[T](1/(4*float64(f.axes))), f.dz)
		dist.ShrinkParts(f.q, f.q, device.Shrinkage{Kind: device.ShrinkClip, T: bound})
		next := (1 + math.Sqrt(1+4*t*t)) / 2
		c := (t - 1) / next
		dist.Combine(f.v, number[T](1+c), f.q, number[T](-c), f.old)
		t = next
		if k%10 == 0 || k == f.MaxIter {
			if done, err := f.done(ctx, bound, x); done || err != nil {
				if err != nil {
					return err
				}
				break
			}
		}
	}
	f.started = bound
	dist.Copy(y, f.z)
	return nil
}

// primal sets z = x - ∇ᴴq.
func (f *variation[T]) primal(ctx context.Context, q, x dist.Array[T]) error {
	err := f.grad.Adjoint(ctx, f.z, q)
	dist.Axpby(1, x, -1, f.z)
	return err
}

// done works z out from q and reports whether the gap between the primal and the dual
// value is small: bound·‖∇z‖₂₁ - Re qᴴ∇z, relative to ‖z - x‖²/2 + bound·‖∇z‖₂₁.
func (f *variation[T]) done(ctx context.Context, bound float64, x dist.Array[T]) (bool, error) {
	if err := f.primal(ctx, f.q, x); err != nil {
		return false, err
	}
	if err := f.grad.Forward(ctx, f.dz, f.z); err != nil {
		return false, err
	}
	sum, _ := dist.AddShrinkSumParts(f.red, f.dz, device.Shrinkage{Kind: device.ShrinkSoft})
	dot := dist.AddDot(f.red, f.q, f.dz)
	xx, zx, zz := dist.AddNorm2(f.red, x), dist.AddDot(f.red, f.z, x), dist.AddNorm2(f.red, f.z)
	if err := f.red.Do(ctx); err != nil {
		return false, err
	}
	tv := bound * sum.Float()
	cost := (xx.Float()-2*zx.Float()+zz.Float())/2 + tv
	if math.IsNaN(cost) || math.IsInf(cost, 0) {
		return false, fmt.Errorf("the cost is %g: %w", cost, solve.ErrNotFinite)
	}
	return tv-dot.Float() <= f.RelTol*cost, nil
}
