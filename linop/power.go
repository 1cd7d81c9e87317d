package linop

import (
	"context"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/trace"
)

// Power returns aⁿ for n ≥ 0; a⁰ is the identity. Domain and range of a must
// have the same shape; where they lie differently, arrays are moved, and those
// of the result lie like the domain. One vector is kept in between, for any n.
func Power[E scalar.Scalar](a Operator[E], n int) (Operator[E], error) {
	if err := valid(a); err != nil {
		return nil, fmt.Errorf("linop: power %d: %w", n, err)
	}
	if n < 0 {
		return nil, fmt.Errorf("linop: power %d: must not be negative", n)
	}
	back, err := bridge[E](a.Range(), a.Domain(), "it gives", "it takes")
	if err != nil {
		return nil, fmt.Errorf("linop: power %d: the operator does not map a space to itself: %w", n, err)
	}
	if back != nil {
		if a, err = newProduct[E, E, E](back, a); err != nil {
			return nil, fmt.Errorf("linop: power %d: %w", n, err)
		}
	}
	p := &power[E]{Spaces: Spaces{a.Domain(), a.Domain()}, a: a, n: n}
	switch n {
	case 0:
		return p, nil
	case 1:
		return a, nil
	}
	if p.tmp, err = dist.New[E](a.Domain()); err != nil {
		return nil, fmt.Errorf("linop: power %d: %w", n, err)
	}
	return p, nil
}

type power[E scalar.Scalar] struct {
	Spaces
	a   Operator[E]
	n   int
	tmp dist.Array[E]
}

func (p *power[E]) Forward(ctx context.Context, dst, src dist.Array[E]) error {
	if err := dist.Check("linop: power", "forward", &dst, p.Rng, &src, p.Dom); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, "linop: power", "forward").End()
	return p.repeat(ctx, dst, src, false)
}

func (p *power[E]) Adjoint(ctx context.Context, dst, src dist.Array[E]) error {
	if err := dist.Check("linop: power", "adjoint", &dst, p.Dom, &src, p.Rng); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, "linop: power", "adjoint").End()
	return p.repeat(ctx, dst, src, true)
}

// repeat goes from src to dst in n steps, by turns through dst and tmp so that
// the last one ends in dst.
func (p *power[E]) repeat(ctx context.Context, dst, src dist.Array[E], adjoint bool) (err error) {
	if p.n == 0 {
		dist.Copy(dst, src)
	}
	for left := p.n; left > 0; left-- {
		to := dst
		if left%2 == 0 {
			to = p.tmp
		}
		if adjoint {
			err = p.a.Adjoint(ctx, to, src)
		} else {
			err = p.a.Forward(ctx, to, src)
		}
		if err != nil {
			return err
		}
		src = to
	}
	return nil
}
