package prox

import (
	"context"
	"errors"
	"math"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// L0 returns σ times the number of elements that are not zero. It is not convex.
//
//	prox(x)ᵢ = xᵢ if |xᵢ| > √(2στ), otherwise 0: the hard threshold
func L0[T scalar.Scalar](ctx context.Context, x *dist.Space, sigma float64) (Function[T], error) {
	return thresholding[T](ctx, "L0", x, sigma, 0, device.HardThreshold, 1)
}

// L1 returns σ·‖x‖₁ = σ·Σ|xᵢ|.
//
//	prox(x)ᵢ = xᵢ·max(|xᵢ| - στ, 0)/|xᵢ|: the soft threshold
func L1[T scalar.Scalar](ctx context.Context, x *dist.Space, sigma float64) (Function[T], error) {
	return thresholding[T](ctx, "L1", x, sigma, 1, device.SoftThreshold, 1)
}

// LHalf returns σ·Σ√|xᵢ|. It is not convex.
//
//	prox(x)ᵢ = (2/3)·xᵢ·(1 + cos(2/3·(π - acos(στ/4·(|xᵢ|/3)^-3/2)))) beyond (54^⅓/4)·(2στ)^⅔, otherwise 0: the half threshold
//
// Z. Xu, X. Chang, F. Xu and H. Zhang, L1/2 Regularization: A Thresholding
// Representation Theory and a Fast Solver, 2012.
func LHalf[T scalar.Scalar](ctx context.Context, x *dist.Space, sigma float64) (Function[T], error) {
	return thresholding[T](ctx, "LHalf", x, sigma, 0.5, device.HalfThreshold, 2)
}

// thresholding is σ·Σ|xᵢ|^p, whose prox is a threshold of factor·σ·τ.
func thresholding[T scalar.Scalar](ctx context.Context, name string, x *dist.Space, sigma, p float64, kind device.ThresholdKind, factor float64) (Function[T], error) {
	d := Definition[T]{
		Value: func(ctx context.Context, x dist.Array[T]) (float64, error) {
			v, err := dist.Norm(ctx, x, p)
			if p > 0 {
				v = math.Pow(v, p)
			}
			return sigma * v, err
		},
		Prox: func(_ context.Context, y dist.Array[T], tau float64, x dist.Array[T]) error {
			dist.Threshold(y, x, kind, factor*sigma*tau)
			return nil
		},
	}
	if kind == device.SoftThreshold {
		d.DualProx = func(_ context.Context, y dist.Array[T], _ float64, x dist.Array[T]) error {
			dist.Shrink(y, x, device.Shrinkage{Kind: device.ShrinkClip, T: sigma})
			return nil
		}
	}
	return build(ctx, name, x, weight("sigma", sigma), d, "sigma ", sigma)
}

// Euclidean returns σ·‖x‖₂, without the square.
//
//	prox(x) = x·max(1 - στ/‖x‖, 0)
//
// The prox is one message.
func Euclidean[T scalar.Scalar](ctx context.Context, x *dist.Space, sigma float64) (Function[T], error) {
	return build(ctx, "Euclidean", x, weight("sigma", sigma), Definition[T]{
		Value: func(ctx context.Context, x dist.Array[T]) (float64, error) {
			n, err := dist.Norm(ctx, x, 2)
			return sigma * n, err
		},
		Prox: func(ctx context.Context, y dist.Array[T], tau float64, x dist.Array[T]) error {
			n, err := dist.Norm(ctx, x, 2)
			f := 0.0
			if t := sigma * tau; !(n <= t) {
				f = 1 - t/n
			}
			dist.Scale(y, number[T](f), x)
			return err
		},
		DualProx: func(ctx context.Context, y dist.Array[T], _ float64, x dist.Array[T]) error {
			n, err := dist.Norm(ctx, x, 2)
			dist.Scale(y, number[T](min(1, sigma/max(n, math.SmallestNonzeroFloat64))), x)
			return err
		},
	}, "sigma ", sigma)
}

// L21 returns σ·Σᵢ√Σₖ|xₖᵢ|² of a stack of arrays that lie alike, such as a gradient:
// the lengths of the vectors that element i of all parts make up.
//
//	prox(x)ᵢ = xᵢ·max(1 - στ/‖xᵢ‖, 0)
func L21[T scalar.Scalar](ctx context.Context, x *dist.Space, sigma float64) (Function[T], error) {
	err := weight("sigma", sigma)
	var red *dist.Reduction
	if x != nil {
		err = errors.Join(err, x.Tuple())
		red = dist.NewReduction(x, 2)
	}
	return build(ctx, "L21", x, err, Definition[T]{
		Value: func(ctx context.Context, x dist.Array[T]) (float64, error) {
			sum, _ := dist.AddShrinkSumParts(red, x, device.Shrinkage{Kind: device.ShrinkSoft})
			err := red.Do(ctx)
			return sigma * sum.Float(), err
		},
		Prox: func(_ context.Context, y dist.Array[T], tau float64, x dist.Array[T]) error {
			dist.ShrinkParts(y, x, device.Shrinkage{Kind: device.ShrinkSoft, T: sigma * tau})
			return nil
		},
		DualProx: func(_ context.Context, y dist.Array[T], _ float64, x dist.Array[T]) error {
			dist.ShrinkParts(y, x, device.Shrinkage{Kind: device.ShrinkClip, T: sigma})
			return nil
		},
	}, "sigma ", sigma)
}

// Huber returns Σh(|xᵢ|) with h(r) = r²/(2α) for r ≤ α and r - α/2 beyond. It has a
// gradient.
//
//	prox(x)ᵢ = xᵢ·(1 - τ/max(|xᵢ|, τ+α))
func Huber[T scalar.Scalar](ctx context.Context, x *dist.Space, alpha float64) (Function[T], error) {
	value := sumOf[T](x, device.Shrinkage{Kind: device.ShrinkHuber, T: alpha})
	return build(ctx, "Huber", x, positive("alpha", alpha), Definition[T]{
		Value: value,
		Prox: func(_ context.Context, y dist.Array[T], tau float64, x dist.Array[T]) error {
			dist.Shrink(y, x, device.Shrinkage{Kind: device.ShrinkHuber, T: tau, U: tau + alpha})
			return nil
		},
		Gradient: func(_ context.Context, g, x dist.Array[T]) error {
			dist.Shrink(g, x, device.Shrinkage{Kind: device.ShrinkClip, T: alpha})
			dist.Scale(g, number[T](1/alpha), g)
			return nil
		},
	}, "alpha ", alpha)
}

// Log returns σ/log(γ+1)·Σlog(γ|xᵢ|+1), which favours zeros more than L1 does. It is
// not convex.
//
//	prox(x)ᵢ = xᵢ·z/|xᵢ|, where z is 0 or (γ|xᵢ| - 1 + √((γ|xᵢ|-1)² - 4γ(kγ-|xᵢ|)))/(2γ), k = στ/log(γ+1)
func Log[T scalar.Scalar](ctx context.Context, x *dist.Space, sigma, gamma float64) (Function[T], error) {
	value, scale := sumOf[T](x, device.Shrinkage{Kind: device.ShrinkLog, U: gamma}), sigma/math.Log1p(gamma)
	return build(ctx, "Log", x, errors.Join(weight("sigma", sigma), positive("gamma", gamma)), Definition[T]{
		Value: func(ctx context.Context, x dist.Array[T]) (float64, error) {
			v, err := value(ctx, x)
			return scale * v, err
		},
		Prox: func(_ context.Context, y dist.Array[T], tau float64, x dist.Array[T]) error {
			dist.Shrink(y, x, device.Shrinkage{Kind: device.ShrinkLog, T: scale * tau, U: gamma})
			return nil
		},
	}, "sigma ", sigma, ", gamma ", gamma)
}

// sumOf returns the function that adds up a Shrinkage, in one message.
func sumOf[T scalar.Scalar](x *dist.Space, by device.Shrinkage) func(ctx context.Context, x dist.Array[T]) (float64, error) {
	if x == nil {
		return nil
	}
	red := dist.NewReduction(x, 2)
	return func(ctx context.Context, x dist.Array[T]) (float64, error) {
		sum, _ := dist.AddShrinkSum(red, x, by)
		err := red.Do(ctx)
		return sum.Float(), err
	}
}
