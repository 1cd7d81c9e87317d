package ops

import (
	"context"
	"fmt"
	"strings"

	"github.com/golops/golops/cost"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// ProductKind is an algorithm of Product.
type ProductKind uint8

// The kinds. All work on any number of ranks. Which grid of ranks a kind takes is chosen
// by package cost.
const (
	ProductAsLaidOut     ProductKind = iota // what the layouts of A and x say
	ProductAuto                             // the kind that takes the least time
	ProductBlock                            // A does not travel, and x does not
	ProductSUMMA                            // panels of A and of x travel along the rows and columns of a grid
	ProductOneSidedSUMMA                    // the same, read from windows
	Product25D                              // copies of A and x share the sum of SUMMA
)

// cost returns the kind as package cost calls it.
func (k ProductKind) cost() cost.Kind { return cost.Auto + cost.Kind(k-ProductAuto) }

// ProductSpaces returns spaces of A and of x, of these extents, for a Product with the
// same options, whose Kind must not be ProductAsLaidOut. A Product of arrays of these
// spaces moves nothing. T and A are the element types of x and of A. It is collective.
func ProductSpaces[T, A scalar.Scalar](ctx context.Context, r dist.Proc, a, x []int, o ProductOptions) (aSpace, xSpace *dist.Space, err error) {
	const what = "ops: spaces of a product"
	whole := dist.Layout{Replicate: dist.Unchecked}
	if aSpace, err = dist.NewSpace(ctx, r, whole, a...); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", what, err)
	}
	if xSpace, err = dist.NewSpace(ctx, r, whole, x...); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", what, err)
	}
	err = checkProduct(aSpace, xSpace, scalar.Of[A](), scalar.Of[T](), o)
	if err == nil && o.Kind == ProductAsLaidOut {
		err = fmt.Errorf("no kind: choose one, such as ProductAuto or ProductSUMMA")
	}
	var plan cost.Product
	if err == nil {
		plan, err = planProduct(aSpace.Shape(), xSpace.Shape(), scalar.Of[A](), scalar.Of[T](), r.Size(), o)
	}
	if err := dist.Agree(ctx, r.Comm, what, err, a, x, o); err != nil {
		return nil, nil, err
	}
	la, lx := layoutsOf(plan, aSpace.Shape(), xSpace.Shape())
	if aSpace, err = aSpace.Like(la, a...); err == nil {
		xSpace, err = xSpace.Like(lx, x...)
	}
	return aSpace, xSpace, err
}

// choose moves A to the layout of a kind, sets the layout that X must have, and returns
// the options that go with it.
func (p *product[T, N]) choose(ctx context.Context, o ProductOptions) (ProductOptions, error) {
	if o.Kind == ProductAsLaidOut {
		return o, nil
	}
	a, x := p.block.Space(), p.x
	plan, err := planProduct(a.Shape(), x.Shape(), scalar.Of[N](), scalar.Of[T](), x.Comm().Size(), o)
	if err != nil {
		return o, err
	}
	la, lx := layoutsOf(plan, a.Shape(), x.Shape())
	to, err := a.Like(la, a.Shape().Dims()...)
	if err != nil {
		return o, err
	}
	if p.x, err = x.Like(lx, x.Shape().Dims()...); err != nil {
		return o, err
	}
	if !to.Equal(a) {
		if p.block, err = dist.Redistribute(ctx, p.block, to); err != nil {
			return o, err
		}
	} else {
		p.block = dist.Wrap(to, p.block.Local()) // grids may differ in axes of one rank
	}
	o.Share = plan.Kind() == cost.Copied25D
	if plan.OneSided {
		o.Way = dist.OneSided
	}
	if o.Panel == 0 {
		o.Panel = plan.Panel
	}
	return o, nil
}

// planProduct asks package cost for the grid of a kind.
func planProduct(a, x shape.Shape, stored, of scalar.DType, ranks int, o ProductOptions) (cost.Product, error) {
	m, kind := o.Machine, o.Kind
	if m.Gemm == nil {
		m = cost.Defaults()
		if kind == ProductAuto || kind == Product25D {
			m.OneSided = cost.Link{} // windows may be missing
		}
	}
	if kind == ProductSUMMA && o.Way == dist.OneSided {
		kind = ProductOneSidedSUMMA
	}
	b := a.NDim() - 2
	batch, depth, columns := x.Around(b)
	problem := cost.Problem{Batch: batch, Rows: a.Dim(b), Depth: depth, Columns: columns, DType: of, Stored: stored}
	plan, _, err := cost.Best(m, problem, kind.cost(), ranks, o.Memory)
	return plan, err
}

// layoutsOf returns the layouts of A and X for a plan. Of several axes of batches or of
// columns the longest is split. Where there is none, ranks hold copies.
func layoutsOf(plan cost.Product, a, x shape.Shape) (la, lx dist.Layout) {
	b := a.NDim() - 2
	longest := func(lo, hi int) int {
		best := dist.NoAxis
		for i := lo; i < hi; i++ {
			if best == dist.NoAxis || x.Dim(i) > x.Dim(best) {
				best = i
			}
		}
		return best
	}
	ofA := map[rune]int{'b': longest(0, b), 'i': b, 'j': b + 1, cost.Copied: dist.NoAxis}
	ofX := map[rune]int{'b': longest(0, b), 'j': b, 'k': longest(b+1, x.NDim()), cost.Copied: dist.NoAxis}
	for _, axis := range plan.Axes {
		i, j, _ := axis.Case.Letters()
		la.Grid, la.Axes = append(la.Grid, axis.Ranks), append(la.Axes, ofA[i])
		lx.Grid, lx.Axes = append(lx.Grid, axis.Ranks), append(lx.Axes, ofX[j])
	}
	if len(plan.Axes) == 0 { // one rank
		la, lx = dist.Layout{Grid: []int{1}, Axes: []int{b}}, dist.Layout{Grid: []int{1}, Axes: []int{b}}
	}
	return la, lx
}

// describe says how the product works, for an x of this space.
func (p *product[T, N]) describe(o ProductOptions, x *dist.Space) string {
	l := &p.layout
	var s []string
	for g, n := range l.grid {
		if n > 1 {
			s = append(s, fmt.Sprintf("%d (%c,%c,%c)", n, l.letterOfA(l.a[g]), l.letterOfX(l.x[g]), l.letterOfY(l.y[g])))
		}
	}
	text := "on 1 rank"
	if len(s) > 0 {
		text = "on ranks " + strings.Join(s, " × ")
	}
	switch {
	case p.whole:
		text += ", x gathered"
	case l.aTravels != dist.NoAxis || l.xTravels != dist.NoAxis:
		text += fmt.Sprintf(", panels of %d", p.panelWidth(o))
		if o.Way == dist.OneSided {
			text += ", one-sided"
		}
	}
	if p.narrow {
		text += fmt.Sprintf(", A in %v", scalar.Of[N]())
	}
	if !p.x.Equal(x) {
		text += ", x moved"
	}
	return text
}
