package linop

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/trace"
)

// BlockDiag returns the block-diagonal operator of operators that all
// live on the same ranks, from stacks of their domains to stacks of their
// ranges. A domain or range may be a stack itself. It does not communicate.
func BlockDiag[D, R scalar.Scalar](ops ...Map[D, R]) (Map[D, R], error) {
	b := &stackedDiag[D, R]{ops: append([]Map[D, R](nil), ops...)}
	doms, rngs, err := stackedSpaces(ops)
	if err == nil {
		b.Dom, err = dist.Stack(doms...)
	}
	if err == nil {
		b.Rng, err = dist.Stack(rngs...)
	}
	if err != nil {
		return nil, fmt.Errorf("linop: block diagonal: %w", err)
	}
	return b, nil
}

// VStack returns the operator from the domain of ops[0] to the stack of
// all ranges, [A₀; A₁; …]. Its adjoint adds up A₀ᴴy₀ + A₁ᴴy₁ + …. All operators
// live on the same ranks and take arrays of one shape; where those lie
// differently, they are moved. It does not communicate.
func VStack[D, R scalar.Scalar](ops ...Map[D, R]) (Map[D, R], error) {
	const what = "linop: vertical stack"
	v, err := newStackedV(what, ops)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return v, nil
}

// HStack returns the operator from the stack of all domains to the range
// of ops[0], [A₀ A₁ …]: the adjoint of the VStack of the adjoints.
func HStack[D, R scalar.Scalar](ops ...Map[D, R]) (Map[D, R], error) {
	h := make([]Map[R, D], len(ops))
	for i, a := range ops {
		h[i] = H(a)
	}
	const what = "linop: horizontal stack, as the adjoint of a vertical one"
	v, err := newStackedV(what, h)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return H[R, D](v), nil
}

// stackedSpaces checks operators and returns their domains and ranges.
func stackedSpaces[D, R scalar.Scalar](ops []Map[D, R]) (doms, rngs []*dist.Space, err error) {
	if len(ops) == 0 {
		return nil, nil, errors.New("no operators given")
	}
	for i, a := range ops {
		if err := valid(a); err != nil {
			return nil, nil, fmt.Errorf("operator %d: %w", i, err)
		}
		if d := ops[0].Domain(); a.Domain().Comm() != d.Comm() || a.Range().Comm() != d.Comm() {
			return nil, nil, fmt.Errorf("operators %d and 0 are on different communicators: one goes from %v to %v, the other from %v to %v", i, a.Domain(), a.Range(), d, ops[0].Range())
		}
		doms, rngs = append(doms, a.Domain()), append(rngs, a.Range())
	}
	return doms, rngs, nil
}

type stackedDiag[D, R scalar.Scalar] struct {
	Spaces
	ops []Map[D, R]
}

func (b *stackedDiag[D, R]) Forward(ctx context.Context, dst dist.Array[R], src dist.Array[D]) error {
	if err := dist.Check("linop: block diagonal", "forward", &dst, b.Rng, &src, b.Dom); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, "linop: block diagonal", "forward").End()
	for i, a := range b.ops {
		if err := a.Forward(ctx, dst.Part(i), src.Part(i)); err != nil {
			return err
		}
	}
	return nil
}

func (b *stackedDiag[D, R]) Adjoint(ctx context.Context, dst dist.Array[D], src dist.Array[R]) error {
	if err := dist.Check("linop: block diagonal", "adjoint", &dst, b.Dom, &src, b.Rng); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, "linop: block diagonal", "adjoint").End()
	for i, a := range b.ops {
		if err := a.Adjoint(ctx, dst.Part(i), src.Part(i)); err != nil {
			return err
		}
	}
	return nil
}

type stackedV[D, R scalar.Scalar] struct {
	Spaces
	what string // for errors
	ops  []Map[D, R]
	add  []func(ctx context.Context, dst dist.Array[D], src dist.Array[R]) error // of each, nil where it has none
	set  int                                                                     // the operator whose adjoint is first
	tmp  dist.Array[D]                                                           // the adjoint of another one without add
}

func newStackedV[D, R scalar.Scalar](what string, ops []Map[D, R]) (*stackedV[D, R], error) {
	doms, rngs, err := stackedSpaces(ops)
	if err != nil {
		return nil, err
	}
	v := &stackedV[D, R]{what: what, ops: append([]Map[D, R](nil), ops...)}
	v.Dom = doms[0]
	if v.Rng, err = dist.Stack(rngs...); err != nil {
		return nil, err
	}
	for i, a := range ops {
		if v.ops[i], err = fit(a, v.Dom, a.Range(), fmt.Sprint("operator ", i), "operator 0"); err != nil {
			return nil, err
		}
		v.add = append(v.add, addAdjoint(v.ops[i]))
	}
	none := func(add func(context.Context, dist.Array[D], dist.Array[R]) error) bool { return add == nil }
	v.set = max(0, slices.IndexFunc(v.add, none))
	if slices.ContainsFunc(v.add[v.set+1:], none) {
		if v.tmp, err = dist.New[D](v.Dom); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (v *stackedV[D, R]) Forward(ctx context.Context, dst dist.Array[R], src dist.Array[D]) error {
	if err := dist.Check(v.what, "forward", &dst, v.Rng, &src, v.Dom); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, v.what, "forward").End()
	for i, a := range v.ops {
		if err := a.Forward(ctx, dst.Part(i), src); err != nil {
			return err
		}
	}
	return nil
}

func (v *stackedV[D, R]) Adjoint(ctx context.Context, dst dist.Array[D], src dist.Array[R]) error {
	if err := dist.Check(v.what, "adjoint", &dst, v.Dom, &src, v.Rng); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, v.what, "adjoint").End()
	if err := v.ops[v.set].Adjoint(ctx, dst, src.Part(v.set)); err != nil {
		return err
	}
	for i, a := range v.ops {
		if i == v.set {
			continue
		}
		if add := v.add[i]; add != nil {
			if err := add(ctx, dst, src.Part(i)); err != nil {
				return err
			}
			continue
		}
		if err := a.Adjoint(ctx, v.tmp, src.Part(i)); err != nil {
			return err
		}
		dist.Axpby(1, v.tmp, 1, dst)
	}
	return nil
}
