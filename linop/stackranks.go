package linop

import (
	"context"
	"fmt"

	"github.com/golops/golops/array"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
	"github.com/golops/golops/trace"
)

// BlockDiagRanks returns the block-diagonal operator
//
//	⎡ A₀       ⎤
//	⎢    A₁    ⎥
//	⎣       A₂ ⎦
//
// of all ranks' operators, those of rank 0 first. Each rank gives operators over
// spaces that it holds alone (see dist.Proc.Alone). A rank may give none.
//
// Domain and range are stacked along axis 0: operators over (nᵢ, ny, nz) give an
// operator over (Σnᵢ, ny, nz), split along axis 0 by what each rank's operators
// take and give. A rank without operators has no rows. Where the axes behind
// axis 0, or the numbers of axes, are not the same in all operators of all
// ranks, there is one axis of all elements. Domain and range are stacked each by
// itself. Forward and adjoint send nothing. BlockDiagRanks is collective.
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
// Each rank gives operators over spaces that it holds alone, or none. All take
// vectors of one shape. The domain has that shape and every rank holds it whole.
// The range is stacked along axis 0, as BlockDiagRanks does it. The adjoint takes
// one AllReduce. VStackRanks is collective.
func VStackRanks[E scalar.Scalar](ctx context.Context, r dist.Proc, ops ...Operator[E]) (Operator[E], error) {
	return StackConfig[E]{}.VStackRanks(ctx, r, ops...)
}

// HStackRanks returns the operator that adds up what all ranks' operators make of
// their parts of the model:
//
//	y = [A₀ A₁ A₂] x = A₀x₀ + A₁x₁ + A₂x₂
//
// It is the adjoint of the VStackRanks of the adjoints: the domain is stacked
// along axis 0, every rank holds the range whole, and forward takes one AllReduce.
func HStackRanks[E scalar.Scalar](ctx context.Context, r dist.Proc, ops ...Operator[E]) (Operator[E], error) {
	return StackConfig[E]{}.HStackRanks(ctx, r, ops...)
}

// StackConfig makes stacks over ranks with a mask. The zero StackConfig has none.
type StackConfig[E scalar.Scalar] struct {
	// Mask is a color per rank. Ranks of one color make one stack, and reductions
	// of arrays stay among them. nil means that all ranks are one.
	Mask []int
}

// BlockDiagRanks is the function BlockDiagRanks with the choices of c.
func (c StackConfig[E]) BlockDiagRanks(ctx context.Context, r dist.Proc, ops ...Operator[E]) (Operator[E], error) {
	const what = "linop: block diagonal over ranks"
	l, err := newRankOps(r, ops)
	shapes, err := gatherShapes(ctx, r, what, err, len(ops), l.in.shape, l.out.shape)
	if err != nil {
		return nil, err
	}
	b := &blockDiag[E]{rankOps: l}
	dims, layout, err := rowLayout(shapes[0], r.Size())
	if layout.Mask = c.Mask; err == nil {
		b.Dom, err = dist.NewSpace(ctx, r, layout, dims...)
	}
	if err == nil {
		b.Rng, err = rowsLike(b.Dom, shapes[1])
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return b, nil
}

// rowsLike returns the space of the blocks of all ranks on top of each other, on
// the ranks of s and with its mask.
func rowsLike(s *dist.Space, blocks []rankShape) (*dist.Space, error) {
	dims, layout, err := rowLayout(blocks, s.Comm().Size())
	if err != nil {
		return nil, err
	}
	return s.Like(layout, dims...)
}

// VStackRanks is the function VStackRanks with the choices of c.
func (c StackConfig[E]) VStackRanks(ctx context.Context, r dist.Proc, ops ...Operator[E]) (Operator[E], error) {
	v, err := c.vstack(ctx, r, "linop: vertical stack over ranks", "takes", ops, nil)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// HStackRanks is the function HStackRanks with the choices of c.
func (c StackConfig[E]) HStackRanks(ctx context.Context, r dist.Proc, ops ...Operator[E]) (Operator[E], error) {
	h := make([]Operator[E], len(ops))
	for i, a := range ops {
		h[i] = H(a)
	}
	v, err := c.vstack(ctx, r, "linop: horizontal stack over ranks, as the adjoint of a vertical one", "gives", h, nil)
	if err != nil {
		return nil, err
	}
	return H[E, E](v), nil
}

// vstack makes a VStackRanks. what and verb are for errors: a horizontal stack is
// made of adjoints, whose domains are the ranges that the user knows. dims is
// the shape of the domain; nil means the one shape that all operators take.
func (c StackConfig[E]) vstack(ctx context.Context, r dist.Proc, what, verb string, ops []Operator[E], dims []int) (*vstack[E], error) {
	l, err := newRankOps(r, ops)
	if err == nil && dims == nil {
		err = l.sameDomain(r, verb)
	}
	var dom shape.Shape
	if err == nil && len(ops) > 0 {
		dom = l.ops[0].Domain().Shape()
	}
	shapes, err := gatherShapes(ctx, r, what, err, len(ops), dom, l.out.shape)
	if err == nil && dims == nil {
		dims, err = commonShape(what, verb, shapes[0])
	}
	if err != nil {
		return nil, err
	}
	v := &vstack[E]{rankOps: l, what: what}
	if v.Dom, err = dist.NewSpace(ctx, r, dist.Layout{Replicate: dist.Unchecked, Mask: c.Mask}, dims...); err == nil {
		v.Rng, err = rowsLike(v.Dom, shapes[1])
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
	rankOps[E]
}

func (b *blockDiag[E]) Forward(ctx context.Context, dst, src dist.Array[E]) error {
	if err := dist.Check("linop: block diagonal over ranks", "forward", &dst, b.Rng, &src, b.Dom); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, "linop: block diagonal over ranks", "forward").End()
	for i, a := range b.ops {
		if err := a.Forward(ctx, b.outPart(i, dst), b.inPart(i, src)); err != nil {
			return err
		}
	}
	return nil
}

func (b *blockDiag[E]) Adjoint(ctx context.Context, dst, src dist.Array[E]) error {
	if err := dist.Check("linop: block diagonal over ranks", "adjoint", &dst, b.Dom, &src, b.Rng); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, "linop: block diagonal over ranks", "adjoint").End()
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
	rankOps[E]
	tmp array.Array[E] // one operator's adjoint, if there are several
}

func (v *vstack[E]) Forward(ctx context.Context, dst, src dist.Array[E]) error {
	if err := dist.Check(v.what, "forward", &dst, v.Rng, &src, v.Dom); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, v.what, "forward").End()
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
	defer trace.BeginPart(ctx, v.what, "adjoint").End()
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
