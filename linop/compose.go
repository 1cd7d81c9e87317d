package linop

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/trace"
)

// Compose returns the product outer·inner, which applies inner first. If inner
// gives arrays of the shape that outer takes, on the same ranks but laid out
// differently, they are moved on the way.
func Compose[A, B, C scalar.Scalar](outer Map[B, C], inner Map[A, B]) (Map[A, C], error) {
	p, err := newProduct(outer, inner)
	if err != nil {
		return nil, fmt.Errorf("linop: compose: %w", err)
	}
	return p, nil
}

// Directed is for operators that move arrays. A product says before it applies them
// whether it goes forward or is its adjoint, and their messages carry that. Otherwise ranks
// of which some apply Mᴴ·D·M and some its adjoint would not be told: M then Mᴴ both times.
type Directed interface{ SetAdjoint(adjoint bool) }

func setAdjoint(a any, adjoint bool) {
	if d, ok := a.(Directed); ok {
		d.SetAdjoint(adjoint)
	}
}

// product keeps what lies between its factors: right as inner gives it, left
// as outer takes it. They are the same unless there is a move between them.
type product[A, B, C scalar.Scalar] struct {
	Spaces
	outer       Map[B, C]
	inner       Map[A, B]
	left, right dist.Array[B]
	move        *dist.Move[B]
}

func newProduct[A, B, C scalar.Scalar](outer Map[B, C], inner Map[A, B]) (*product[A, B, C], error) {
	if err := valid(outer); err != nil {
		return nil, fmt.Errorf("outer: %w", err)
	}
	if err := valid(inner); err != nil {
		return nil, fmt.Errorf("inner: %w", err)
	}
	p := &product[A, B, C]{Spaces: Spaces{inner.Domain(), outer.Range()}, outer: outer, inner: inner}
	var err error
	if p.move, err = bridge[B](inner.Range(), outer.Domain(), "the inner operator gives", "the outer one takes"); err != nil {
		return nil, err
	}
	if p.right, err = dist.New[B](inner.Range()); err != nil {
		return nil, err
	}
	p.left = p.right
	if p.move != nil {
		if p.left, err = dist.New[B](outer.Domain()); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *product[A, B, C]) Forward(ctx context.Context, dst dist.Array[C], src dist.Array[A]) error {
	if err := dist.Check("linop: product", "forward", &dst, p.Rng, &src, p.Dom); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, "linop: product", "forward").End()
	setAdjoint(p.outer, false)
	setAdjoint(p.inner, false)
	if err := p.inner.Forward(ctx, p.right, src); err != nil {
		return err
	}
	if p.move != nil {
		if err := p.move.Forward(ctx, p.left, p.right); err != nil {
			return err
		}
	}
	return p.outer.Forward(ctx, dst, p.left)
}

func (p *product[A, B, C]) Adjoint(ctx context.Context, dst dist.Array[A], src dist.Array[C]) error {
	if err := dist.Check("linop: product", "adjoint", &dst, p.Dom, &src, p.Rng); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, "linop: product", "adjoint").End()
	setAdjoint(p.outer, true)
	setAdjoint(p.inner, true)
	if err := p.outer.Adjoint(ctx, p.left, src); err != nil {
		return err
	}
	if p.move != nil {
		if err := p.move.Adjoint(ctx, p.right, p.left); err != nil {
			return err
		}
	}
	return p.inner.Adjoint(ctx, dst, p.right)
}

// Redistribute returns the operator that moves arrays from one layout to
// another of the same shape on the same ranks. Its adjoint is its inverse.
func Redistribute[E scalar.Scalar](from, to *dist.Space) (Operator[E], error) {
	if from == nil || to == nil {
		return nil, errors.New("linop: redistribute: a space is nil")
	}
	m, err := dist.NewRedistribution[E](from, to)
	if err != nil {
		return nil, fmt.Errorf("linop: redistribute: %w", err)
	}
	return m, nil
}

// fit returns a with arguments and results laid out like dom and rng, moving
// them where they lie differently. For errors, this is what a is called and
// other is the operator that dom and rng belong to.
func fit[D, R scalar.Scalar](a Map[D, R], dom, rng *dist.Space, this, other string) (Map[D, R], error) {
	in, err := bridge[D](dom, a.Domain(), other+" takes", this+" takes")
	if err != nil {
		return nil, fmt.Errorf("the domains: %w", err)
	}
	out, err := bridge[R](a.Range(), rng, this+" gives", other+" gives")
	if err != nil {
		return nil, fmt.Errorf("the ranges: %w", err)
	}
	if in != nil {
		if a, err = newProduct(a, Map[D, D](in)); err != nil {
			return nil, err
		}
	}
	if out != nil {
		if a, err = newProduct(Map[R, R](out), a); err != nil {
			return nil, err
		}
	}
	return a, nil
}
