package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/array"
	"github.com/golops/golops/cost"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// ProductOptions says how a Product is computed.
type ProductOptions struct {
	// Kind names an algorithm. Product then moves A to the layout of that kind, once, and
	// x before each application. ProductSpaces returns spaces where nothing is moved.
	Kind ProductKind
	// Panel is the most rows of X in a panel that travels. 0 lets Product choose. Then X
	// travels whole where that is no more than two panels.
	Panel int
	// Share lets ranks that hold the same blocks of A and X take parts of the sum (2.5-D).
	// Otherwise each of them does all of the work.
	Share bool
	// Way is how panels travel: by broadcasts and sums, or by reading and adding to windows
	// on the memory of their owners. Sums in windows come in any order, so the last digits
	// of an adjoint may differ from one application to the next.
	Way dist.Way
	// Machine is where a kind with several grids is to be fast, and Memory the bytes that
	// a rank may use for A, X, Y and panels. Without a Machine it is that of cost.Defaults,
	// and ProductAuto sends messages only. 0 means any memory.
	Machine cost.Machine
	Memory  int64
}

const (
	defaultPanel = cost.DefaultPanel // the depth of a block of Gemm
	thinPanel    = 1 << 15           // elements of a panel if X has few columns
)

// Product returns
//
//	Y[b,i,k] = Σⱼ A[b,i,j]·X[b,j,k]
//
// where b stands for any number of axes, as many as A has besides its last two, and
// k for the axes of x that are left, which may be none. The layouts of A and x choose
// the algorithm. Along each axis of the grid of ranks,
//
//   - b of both may be split (nothing is sent),
//   - i of A, with x whole (the adjoint sums) or with j of x split (x travels),
//   - k of x, with A whole (nothing is sent) or with j of A split (A travels),
//   - j of A and of x, or of one of them (the forward product sums).
//
// SUMMA is i of A and j of x along one axis, j of A and k of x along the other. What
// travels does so in panels: a rank has its blocks and two panels, and the next panel
// travels while one is multiplied. If the layouts do not fit, x is moved before each
// product. A Kind chooses the layouts. The operator's String says what was chosen.
//
// T is the element type of x. A may have half of its bits: float32 if T is float64,
// complex64 if T is complex128. It is then kept and sent so, and widened piece by piece
// when it is multiplied.
//
// Where A is multiplied in one panel, Product keeps it, and it must not be changed.
// Otherwise Product copies it panel by panel, and A may be freed.
func Product[T, A scalar.Scalar](ctx context.Context, a dist.Array[A], x *dist.Space, o ProductOptions) (linop.Operator[T], error) {
	return newProduct[T](ctx, "ops: product", a, x, o)
}

// newProduct is Product under the name of the operator that asks for it.
func newProduct[T, A scalar.Scalar](ctx context.Context, what string, a dist.Array[A], x *dist.Space, o ProductOptions) (linop.Operator[T], error) {
	if x == nil || a.Space() == nil {
		return nil, errors.New(what + ": no matrix or no space given")
	}
	err := checkProduct(a.Space(), x, scalar.Of[A](), scalar.Of[T](), o)
	if err := dist.Agree(ctx, x.Comm(), what, err, a.Space().Shape(), x.Shape(), o); err != nil {
		return nil, err
	}
	p := &product[T, A]{block: a, x: x, narrow: scalar.Of[A]() != scalar.Of[T]()}
	if o, err = p.choose(ctx, o); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if err := p.layOut(ctx, o); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	err = p.cut(o)
	if err := dist.Agree(ctx, x.Comm(), what, err); err != nil {
		return nil, err
	}
	if err := p.groups(ctx, o.Way); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	op, err := linop.Func(what, p.x, p.y, p.forward, p.adjoint)
	if err == nil && !p.x.Equal(x) {
		var moved linop.Operator[T]
		if moved, err = linop.Redistribute[T](x, p.x); err == nil {
			op, err = linop.Compose(op, moved)
		}
	}
	if err != nil {
		return nil, err
	}
	return &described[T]{op, what + " " + p.describe(o, x)}, nil
}

// described is an operator with a text that says how it works.
type described[T scalar.Scalar] struct {
	linop.Operator[T]
	text string
}

func (d *described[T]) String() string { return d.text }

// checkProduct reports what cannot be multiplied.
func checkProduct(a, x *dist.Space, stored, of scalar.DType, o ProductOptions) error {
	b := a.Shape().NDim() - 2
	switch {
	case a.Parts() != nil || x.Parts() != nil:
		return errors.New("a stack cannot be multiplied: take one of its parts")
	case a.Comm() != x.Comm() || a.Device() != x.Device():
		return fmt.Errorf("the matrix is on %v, x on %v: make both on the same ranks", a, x)
	case b < 0:
		return fmt.Errorf("a matrix of shape %v: it needs rows and columns as its last two axes", a.Shape())
	case x.Shape().NDim() < b+1:
		return fmt.Errorf("x of shape %v for a matrix of shape %v: x needs the %d axes of batches and that of the columns", x.Shape(), a.Shape(), b)
	case stored != of && (stored.IsComplex() != of.IsComplex() || 2*stored.Size() != of.Size()):
		return fmt.Errorf("a matrix of %v and x of %v: have the same type, or float32 with float64, or complex64 with complex128", stored, of)
	case o.Kind > Product25D:
		return fmt.Errorf("kind %d: have ProductAsLaidOut, ProductAuto, ProductBlock, ProductSUMMA, ProductOneSidedSUMMA and Product25D", o.Kind)
	case o.Memory < 0:
		return fmt.Errorf("memory of %d bytes: must not be negative", o.Memory)
	case o.Way > dist.OneSided:
		return fmt.Errorf("way %d: have dist.Messages and dist.OneSided", o.Way)
	case o.Panel < 0:
		return fmt.Errorf("panels of %d rows: must not be negative", o.Panel)
	}
	for i := range b {
		if a.Shape().Dim(i) != x.Shape().Dim(i) {
			return fmt.Errorf("a matrix of shape %v and x of shape %v: axis %d must have the same extent", a.Shape(), x.Shape(), i)
		}
	}
	if a.Shape().Dim(b+1) != x.Shape().Dim(b) {
		return fmt.Errorf("a matrix of shape %v and x of shape %v: the %d columns of the matrix must be the %d rows of x", a.Shape(), x.Shape(), a.Shape().Dim(b+1), x.Shape().Dim(b))
	}
	return nil
}

// product is this rank's part of a Product whose A has elements N.
type product[T, N scalar.Scalar] struct {
	layout productLayout
	block  dist.Array[N] // of A
	x, y   *dist.Space
	narrow bool // N has half of the bits of T

	batch, rows, columns int // of this rank's blocks
	depth                int // rows of this rank's block of X
	panels               []panel[N]
	covered              bool // the panels are all of this rank's block of X
	whole                bool // X travels in one piece

	aGroup, xGroup, sumGroup, backGroup dist.AxisGroup
	counts                              []int             // elements of X on each rank of xGroup
	aRoom                               [2]array.Array[N] // panels of other ranks
	xRoom                               [2]array.Array[T]
	aSent, xSent                        [2]dist.Request
	store                               array.Array[N] // this rank's panels of A
	wide                                array.Array[T] // a part of a panel of A
	aOpen                               *dist.Exposed[N]
	xOpen                               *dist.Exposed[T]
	first                               []int // rows of X: the first one at each place
}

// panel is a range of j that this rank multiplies.
type panel[N scalar.Scalar] struct {
	lo, hi       int
	aRoot, xRoot int            // the places that have it in A and in X
	a            array.Array[N] // batch × rows × (hi - lo), where this rank has it
	at           int            // its first row in this rank's block of X
	stored       int            // its first element in the store of the rank that has it
	out, in      device.Strided // from the block of X to a panel of its own, and back
}

// layOut finds layouts that fit, moves A if need be, and makes the range.
func (p *product[T, N]) layOut(ctx context.Context, o ProductOptions) error {
	a, x := p.block.Space(), p.x
	b := a.Shape().NDim() - 2
	for {
		l, moveA, moveX := readProduct(b, p.block.Space(), p.x, o.Share)
		var err error
		switch {
		case moveA != nil:
			var to *dist.Space
			if to, err = a.Like(*moveA, a.Shape().Dims()...); err == nil {
				p.block, err = dist.Redistribute(ctx, p.block, to)
			}
		case moveX != nil:
			p.x, err = x.Like(*moveX, x.Shape().Dims()...)
		default:
			p.layout = l
			return p.makeRange()
		}
		if err != nil {
			return err
		}
	}
}

// makeRange makes the space of Y.
func (p *product[T, N]) makeRange() (err error) {
	l := &p.layout
	a, x := p.block.Space(), p.x
	la, lx := a.Layout(), x.Layout()
	to := dist.Layout{Grid: l.grid, Axes: l.y, Counts: make([][]int, len(l.grid))}
	for g, axis := range l.y {
		switch {
		case axis == dist.NoAxis || l.grid[g] == 1:
		case axis == l.b:
			to.Counts[g] = la.Counts[g]
		default:
			to.Counts[g] = lx.Counts[g]
		}
	}
	if la.Replicate != dist.Scattered && lx.Replicate != dist.Scattered {
		to = dist.Layout{Replicate: lx.Replicate, Debug: lx.Debug}
	}
	if p.y, err = x.Like(to, x.Shape().With(l.b, a.Shape().Dim(l.b)).Dims()...); err != nil {
		return err
	}
	local := p.y.LocalShape()
	p.batch, p.rows, p.columns = local.Around(l.b)
	p.depth = x.LocalShape().Dim(l.b)
	return nil
}
