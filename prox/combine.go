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

// asSmooth returns the gradient of f, nil if it has none.
func asSmooth[T scalar.Scalar](f solve.Function[T]) solve.Smooth[T] {
	s, _ := f.(solve.Smooth[T])
	return s
}

// Scale returns σ·f: the postcomposition.
//
//	prox(x) with τ = prox of f with στ
func Scale[T scalar.Scalar](ctx context.Context, sigma float64, f solve.Function[T]) (Function[T], error) {
	x, err := spaceOf(f)
	if x == nil {
		return nil, fmt.Errorf("prox: Scale: %w", err)
	}
	d := Definition[T]{
		Value: func(ctx context.Context, x dist.Array[T]) (float64, error) {
			v, err := f.Value(ctx, x)
			return sigma * v, err
		},
		Prox: func(ctx context.Context, y dist.Array[T], tau float64, x dist.Array[T]) error {
			return f.Prox(ctx, y, sigma*tau, x)
		},
		State: stateOf(f),
	}
	if g := asSmooth(f); g != nil {
		d.Gradient = func(ctx context.Context, y, x dist.Array[T]) error {
			err := g.Gradient(ctx, y, x)
			dist.Scale(y, number[T](sigma), y)
			return err
		}
	}
	if g, ok := f.(solve.Dual[T]); ok { // (σf)* = σ·f*(x/σ)
		d.DualProx = func(ctx context.Context, y dist.Array[T], s float64, x dist.Array[T]) error {
			dist.Scale(y, number[T](1/sigma), x)
			err := g.DualProx(ctx, y, s/sigma, y)
			dist.Scale(y, number[T](sigma), y)
			return err
		}
	}
	return build(ctx, "Scale", x, positive("sigma", sigma), d, "sigma ", sigma)
}

// Precompose returns f(a·x + b): the precomposition. The zero Array stands for a b of
// zeros. It keeps b.
//
//	prox(x) with τ = (prox of f with a²τ at a·x + b, minus b)/a
func Precompose[T scalar.Scalar](ctx context.Context, f solve.Function[T], a float64, b dist.Array[T]) (Function[T], error) {
	return affine(ctx, "Precompose", f, a, 1, b)
}

// Translate returns f(x - b). It keeps b.
func Translate[T scalar.Scalar](ctx context.Context, f solve.Function[T], b dist.Array[T]) (Function[T], error) {
	return affine(ctx, "Translate", f, 1, -1, b)
}

// affine is f(a·x + s·b).
func affine[T scalar.Scalar](ctx context.Context, name string, f solve.Function[T], a, s float64, b dist.Array[T]) (Function[T], error) {
	x, err := spaceOf(f)
	if x == nil {
		return nil, fmt.Errorf("prox: %s: %w", name, err)
	}
	err = belongs("b", b, x, true)
	if a == 0 || math.IsNaN(a) || math.IsInf(a, 0) {
		err = errors.Join(err, fmt.Errorf("a is %g, must be finite and not 0", a))
	}
	moved := b.Space() != nil
	var scratch dist.Array[T]
	if err == nil {
		scratch, err = dist.New[T](x)
	}
	inside := func(dst, x dist.Array[T]) {
		if moved {
			dist.Combine(dst, number[T](a), x, number[T](s), b)
		} else {
			dist.Scale(dst, number[T](a), x)
		}
	}
	d := Definition[T]{
		Value: func(ctx context.Context, x dist.Array[T]) (float64, error) {
			inside(scratch, x)
			return f.Value(ctx, scratch)
		},
		Prox: func(ctx context.Context, y dist.Array[T], tau float64, x dist.Array[T]) error {
			inside(y, x)
			if err := f.Prox(ctx, y, a*a*tau, y); err != nil {
				return err
			}
			if moved {
				dist.Combine(y, number[T](1/a), y, number[T](-s/a), b)
			} else {
				dist.Scale(y, number[T](1/a), y)
			}
			return nil
		},
		State: stateOf(f),
	}
	if g := asSmooth(f); g != nil {
		d.Gradient = func(ctx context.Context, y, x dist.Array[T]) error {
			inside(y, x)
			err := g.Gradient(ctx, y, y)
			dist.Scale(y, number[T](a), y)
			return err
		}
	}
	return build(ctx, name, x, err, d, "a ", a, ", b ", moved)
}

// AddLinear returns f(x) + Re vᴴx. It keeps v. Its value is one message more.
//
//	prox(x) with τ = prox of f with τ at x - τ·v
func AddLinear[T scalar.Scalar](ctx context.Context, f solve.Function[T], v dist.Array[T]) (Function[T], error) {
	x, err := spaceOf(f)
	if x == nil {
		return nil, fmt.Errorf("prox: AddLinear: %w", err)
	}
	d := Definition[T]{
		Value: func(ctx context.Context, x dist.Array[T]) (float64, error) {
			value, err := f.Value(ctx, x)
			if err != nil {
				return value, err
			}
			dot, err := dist.Dot(ctx, v, x)
			return value + real(scalar.Complex(dot)), err
		},
		Prox: func(ctx context.Context, y dist.Array[T], tau float64, x dist.Array[T]) error {
			dist.Combine(y, 1, x, number[T](-tau), v)
			return f.Prox(ctx, y, tau, y)
		},
		State: stateOf(f),
	}
	if g := asSmooth(f); g != nil {
		d.Gradient = func(ctx context.Context, y, x dist.Array[T]) error {
			err := g.Gradient(ctx, y, x)
			dist.Axpby(1, v, 1, y)
			return err
		}
	}
	return build(ctx, "AddLinear", x, belongs("v", v, x, false), d)
}

// Stack returns Σfₖ(xₖ) over the parts of a stack, one function for each part. Its value
// and its prox send what those of the parts send.
func Stack[T scalar.Scalar](ctx context.Context, parts ...solve.Function[T]) (Function[T], error) {
	spaces := make([]*dist.Space, len(parts))
	smooth := len(parts) > 0
	var err error
	for i, f := range parts {
		var e error
		if spaces[i], e = spaceOf(f); e != nil {
			return nil, fmt.Errorf("prox: Stack: function %d: %w", i, e)
		}
		smooth = smooth && asSmooth(f) != nil
	}
	x, err := dist.Stack(spaces...)
	if err != nil {
		return nil, fmt.Errorf("prox: Stack: %w", err)
	}
	d := Definition[T]{
		Value: func(ctx context.Context, x dist.Array[T]) (sum float64, err error) {
			for i, f := range parts {
				v, err := f.Value(ctx, x.Part(i))
				if err != nil {
					return math.NaN(), fmt.Errorf("part %d: %w", i, err)
				}
				sum += v
			}
			return sum, nil
		},
		Prox: func(ctx context.Context, y dist.Array[T], tau float64, x dist.Array[T]) error {
			for i, f := range parts {
				if err := f.Prox(ctx, y.Part(i), tau, x.Part(i)); err != nil {
					return fmt.Errorf("part %d: %w", i, err)
				}
			}
			return nil
		},
		State: stateOf(parts...),
	}
	if smooth {
		d.Gradient = func(ctx context.Context, g, x dist.Array[T]) error {
			for i, f := range parts {
				if err := asSmooth(f).Gradient(ctx, g.Part(i), x.Part(i)); err != nil {
					return fmt.Errorf("part %d: %w", i, err)
				}
			}
			return nil
		}
	}
	return build(ctx, "Stack", x, nil, d, len(parts))
}

// Orthogonal returns f(Q·x + b) for an operator with Q·Qᴴ = α·I, such as a Fourier
// transform or a wavelet transform. It keeps b; the zero Array stands for zeros. One
// product with a random vector checks Q and α.
//
//	prox(x) with τ = x + Qᴴ(prox of f with ατ at u, minus u)/α with u = Q·x + b
func Orthogonal[D, R scalar.Scalar](ctx context.Context, f solve.Function[R], q Map[D, R], b dist.Array[R], alpha float64) (Function[D], error) {
	if isNil(q) {
		return nil, errors.New("prox: Orthogonal: no operator given")
	}
	x, y := q.Domain(), q.Range()
	_, err := spaceOf(f)
	err = errors.Join(err, belongs("b", b, y, true), positive("alpha", alpha), sameGroup(x, y))
	var u, v dist.Array[R]
	var w dist.Array[D]
	if err == nil {
		var e [3]error
		u, e[0] = dist.New[R](y)
		v, e[1] = dist.New[R](y)
		w, e[2] = dist.New[D](x)
		err = errors.Join(e[:]...)
	}
	moved := b.Space() != nil
	inside := func(ctx context.Context, x dist.Array[D]) error {
		err := q.Forward(ctx, u, x)
		if moved {
			dist.Axpby(1, b, 1, u)
		}
		return err
	}
	d := Definition[D]{
		Value: func(ctx context.Context, x dist.Array[D]) (float64, error) {
			if err := inside(ctx, x); err != nil {
				return math.NaN(), err
			}
			return f.Value(ctx, u)
		},
		Prox: func(ctx context.Context, y dist.Array[D], tau float64, x dist.Array[D]) error {
			if err := inside(ctx, x); err != nil {
				return err
			}
			if err := f.Prox(ctx, v, alpha*tau, u); err != nil {
				return err
			}
			dist.Sub(v, v, u)
			if err := q.Adjoint(ctx, w, v); err != nil {
				return err
			}
			dist.Combine(y, 1, x, number[D](1/alpha), w)
			return nil
		},
		State: stateOf(f),
	}
	if g := asSmooth(f); g != nil {
		d.Gradient = func(ctx context.Context, y, x dist.Array[D]) error {
			if err := inside(ctx, x); err != nil {
				return err
			}
			if err := g.Gradient(ctx, v, u); err != nil {
				return err
			}
			return q.Adjoint(ctx, y, v)
		}
	}
	built, err := build(ctx, "Orthogonal", x, err, d, "alpha ", alpha, ", b ", moved)
	if err != nil {
		return nil, err
	}
	return built, orthogonal(ctx, q, alpha)
}

// orthogonal returns an error unless Q·Qᴴu = α·u for an image u = Q·v of a random v.
// Images are enough: a real v may have no others.
func orthogonal[D, R scalar.Scalar](ctx context.Context, q Map[D, R], alpha float64) error {
	v, err := dist.Random[D](ctx, q.Domain(), 1)
	if err != nil {
		return err
	}
	defer v.Free()
	u, err := linop.Apply(ctx, q, v)
	if err != nil {
		return err
	}
	defer u.Free()
	if err := q.Adjoint(ctx, v, u); err != nil {
		return err
	}
	w, err := linop.Apply(ctx, q, v)
	if err != nil {
		return err
	}
	defer w.Free()
	dist.Axpby(number[R](-alpha), u, 1, w)
	off, err := dist.Norm(ctx, w, 2)
	if err != nil {
		return err
	}
	size, err := dist.Norm(ctx, u, 2)
	if err == nil && !(off <= 1e-3*alpha*size) {
		err = fmt.Errorf("prox: Orthogonal: Q·Qᴴu differs from %g·u by %.2g of its norm: Q is not orthogonal, or alpha is wrong", alpha, off/(alpha*size))
	}
	return err
}
