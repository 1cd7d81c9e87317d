package linop

import (
	"context"
	"fmt"

	"github.com/golops/golops/array"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// BlockDiagRanks returns the block-diagonal operator
//
//	⎡ A₀       ⎤
//	⎢    A₁    ⎥
//	⎣       A₂ ⎦
//
// of all ranks' operators, those of rank 0 first. Each rank gives operators of
// its own, over spaces that it holds alone (see dist.Proc.Alone), of any shapes;
// it may give none. Domain and range are of one axis, and each rank holds what
// its operators take and give, so nothing is sent. BlockDiag is collective.
func BlockDiagRanks[E scalar.Scalar](ctx context.Context, r dist.Proc, ops ...Operator[E]) (Operator[E], error) {
	return StackConfig[E]{}.BlockDiagRanks(ctx, r, ops...)
}

// VStackRanks returns the operator that puts the results of all ranks' operators
// below each other, those of rank 0 first:
//
//	    ⎡ A₀ ⎤
//	y = ⎢ A₁ ⎥ x,   x = A₀ᴴy₀ + A₁ᴴy₁ + A₂ᴴy₂
//	    ⎣ A₂ ⎦
//
// Each rank gives operators of its own, over spaces that it holds alone, or
// none. All take vectors of one shape; the domain has that shape and every rank
// holds it whole. The range is of one axis, and each rank holds what its
// operators give. The adjoint takes one AllReduce. VStack is collective.
func VStackRanks[E scalar.Scalar](ctx context.Context, r dist.Proc, ops ...Operator[E]) (Operator[E], error) {
	return StackConfig[E]{}.VStackRanks(ctx, r, ops...)
}

// HStackRanks returns the operator that adds up what all ranks' operators make of
// their parts of the model:
//
//	y = [A₀ A₁ A₂] x = A₀x₀ + A₁x₁ + A₂x₂
//
// It is the adjoint of the VStack of the adjoints: the domain is of one axis, the
// range is held whole by every rank, and forward takes one AllReduce.
func HStackRanks[E scalar.Scalar](ctx context.Context, r dist.Proc, ops ...Operator[E]) (Operator[E], error) {
	return StackConfig[E]{}.HStackRanks(ctx, r, ops...)
}

// StackConfig makes stacks with other than the usual choices, which are those
// of the zero StackConfig.
type StackConfig[E scalar.Scalar] struct {
	// Mask is a color per rank: ranks of one color make a stack of their own, and
	// reductions of arrays stay among them. nil means that all ranks are one.
	Mask []int
}

// BlockDiagRanks is the function BlockDiag with the choices of c.
func (c StackConfig[E]) BlockDiagRanks(ctx context.Context, r dist.Proc, ops ...Operator[E]) (Operator[E], error) {
	const what = "linop: block diagonal"
	l, err := newLocals(r, ops)
	sizes, err := gatherSizes(ctx, r, what, err, l.in, l.out)
	if err != nil {
		return nil, err
	}
	b := &blockDiag[E]{locals: l}
	n, line := lineOf(sizes[0])
	line.Mask = c.Mask
	if b.Dom, err = dist.NewSpace(ctx, r, line, n); err == nil {
		n, line = lineOf(sizes[1])
		b.Rng, err = b.Dom.Like(line, n)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return b, nil
}

// lineOf returns the size and layout of one axis of which each rank has so many
// rows.
func lineOf(counts []int) (n int, l dist.Layout) {
	for _, k := range counts {
		n += k
	}
	return n, dist.Layout{Counts: [][]int{counts}}
}

// VStackRanks is the function VStack with the choices of c.
func (c StackConfig[E]) VStackRanks(ctx context.Context, r dist.Proc, ops ...Operator[E]) (Operator[E], error) {
	v, err := c.vstack(ctx, r, "linop: vertical stack", "takes", ops)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// HStackRanks is the function HStack with the choices of c.
func (c StackConfig[E]) HStackRanks(ctx context.Context, r dist.Proc, ops ...Operator[E]) (Operator[E], error) {
	h := make([]Operator[E], len(ops))
	for i, a := range ops {
		h[i] = H(a)
	}
	v, err := c.vstack(ctx, r, "linop: horizontal stack, as the adjoint of a vertical one", "gives", h)
	if err != nil {
		return nil, err
	}
	return H[E, E](v), nil
}

// vstack makes a VStack. what and verb are words for errors: a horizontal stack
// is made of adjoints, whose domains are the ranges that the user knows.
func (c StackConfig[E]) vstack(ctx context.Context, r dist.Proc, what, verb string, ops []Operator[E]) (*vstack[E], error) {
	l, err := newLocals(r, ops)
	if err == nil {
		err = l.sameDomain(r, verb)
	}
	sizes, err := gatherSizes(ctx, r, what, err, l.out)
	if err != nil {
		return nil, err
	}
	dims, err := commonShape(ctx, r, what, verb, l)
	if err != nil {
		return nil, err
	}
	v := &vstack[E]{locals: l, what: what}
	if v.Dom, err = dist.NewSpace(ctx, r, dist.Layout{Replicate: dist.Unchecked, Mask: c.Mask}, dims...); err == nil {
		n, line := lineOf(sizes[0])
		v.Rng, err = v.Dom.Like(line, n) // with the groups of the mask
	}
	if err == nil && len(l.ops) > 1 {
		v.tmp, err = array.New[E](r.Device, v.Dom.LocalShape())
	}
	if err = dist.Agree(ctx, r.Comm, what, err); err != nil {
		return nil, err
	}
	return v, nil
}

type blockDiag[E scalar.Scalar] struct {
	Spaces
	locals[E]
}

func (b *blockDiag[E]) Forward(ctx context.Context, dst, src dist.Array[E]) error {
	if err := dist.Check("linop: block diagonal", "forward", &dst, b.Rng, &src, b.Dom); err != nil {
		return err
	}
	for i, a := range b.ops {
		if err := a.Forward(ctx, b.outPart(i, dst), b.inPart(i, src)); err != nil {
			return err
		}
	}
	return nil
}

func (b *blockDiag[E]) Adjoint(ctx context.Context, dst, src dist.Array[E]) error {
	if err := dist.Check("linop: block diagonal", "adjoint", &dst, b.Dom, &src, b.Rng); err != nil {
		return err
	}
	for i, a := range b.ops {
		if err := a.Adjoint(ctx, b.inPart(i, dst), b.outPart(i, src)); err != nil {
			return err
		}
	}
	return nil
}

type vstack[E scalar.Scalar] struct {
	Spaces
	what string // for errors
	locals[E]
	tmp array.Array[E] // one operator's adjoint, if there are several
}

func (v *vstack[E]) Forward(ctx context.Context, dst, src dist.Array[E]) error {
	if err := dist.Check(v.what, "forward", &dst, v.Rng, &src, v.Dom); err != nil {
		return err
	}
	for i, a := range v.ops {
		if err := a.Forward(ctx, v.outPart(i, dst), dist.Wrap(a.Domain(), src.Local())); err != nil {
			return err
		}
	}
	return nil
}

// labelStack marks the sum over ranks of a stack, the only thing that it sends.
var labelStack = comm.LabelOf("stack")

func (v *vstack[E]) Adjoint(ctx context.Context, dst, src dist.Array[E]) error {
	if err := dist.Check(v.what, "adjoint", &dst, v.Dom, &src, v.Rng); err != nil {
		return err
	}
	sum := dst.Local()
	for i, a := range v.ops {
		x := sum
		if i > 0 {
			x = v.tmp
		}
		if err := a.Adjoint(ctx, dist.Wrap(a.Domain(), x), v.outPart(i, src)); err != nil {
			return err
		}
		if i > 0 {
			array.Axpby(1, v.tmp, 1, sum)
		}
	}
	if len(v.ops) == 0 {
		array.Fill(sum, 0)
	}
	group := v.Dom.Group() // that of the mask
	if group.Size() == 1 {
		return nil
	}
	b := comm.OfMem(sum.Mem()).Labelled(labelStack)
	return group.AllReduce(ctx, b, b, comm.Sum)
}
