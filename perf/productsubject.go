package perf

import (
	"context"
	"fmt"

	"github.com/golops/golops/cost"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

// layouts returns the layouts of A, batch × rows × depth, and of X, batch × depth ×
// columns, that a product of package cost stands for.
func layouts(p cost.Product) (a, x dist.Layout) {
	ofA := map[rune]int{'b': 0, 'i': 1, 'j': 2, cost.Copied: dist.NoAxis}
	ofX := map[rune]int{'b': 0, 'j': 1, 'k': 2, cost.Copied: dist.NoAxis}
	for _, axis := range p.Axes {
		la, lx, _ := axis.Case.Letters()
		a.Grid, a.Axes = append(a.Grid, axis.Ranks), append(a.Axes, ofA[la])
		x.Grid, x.Axes = append(x.Grid, axis.Ranks), append(x.Axes, ofX[lx])
	}
	return a, x
}

// productSubject is a product on the grid of p.
func productSubject[T scalar.Scalar](ctx context.Context, r dist.Proc, p cost.Product) (s subject[T], err error) {
	la, lx := layouts(p)
	aSpace, err := dist.NewSpace(ctx, r, la, p.Batch, p.Rows, p.Depth)
	if err != nil {
		return s, err
	}
	x, err := dist.NewSpace(ctx, r, lx, p.Batch, p.Depth, p.Columns)
	if err != nil {
		return s, err
	}
	a, err := dist.FromFunc(ctx, aSpace, func(i []int) T { return entry[T](i[0], i[1], i[2]) })
	if err != nil {
		return s, err
	}
	o := ops.ProductOptions{Panel: p.Panel, Share: p.Kind() == cost.Copied25D}
	if p.OneSided {
		o.Way = dist.OneSided
	}
	if s.op, err = ops.Product[T](ctx, a, x, o); err != nil {
		return s, err
	}
	p.OneSided = false
	s.layout = p.String()
	s.amount = 2 * float64(p.Batch) * float64(p.Rows) * float64(p.Depth) * float64(p.Columns)
	if scalar.Of[T]().IsComplex() {
		s.amount *= 4
	}
	s.check = func(ctx context.Context) error { return checkProduct(ctx, s, p) }
	return s, nil
}

// entry is an element of a matrix: a small integer, so that sums of products are exact in
// all types.
func entry[T scalar.Scalar](b, i, j int) T {
	return scalar.From[T](complex(float64((5*b+3*i+2*j)%7-3), float64((b+i+3*j)%5-2)))
}

// checkProduct compares one row of this rank's block of Y with the definition.
func checkProduct[T scalar.Scalar](ctx context.Context, s subject[T], p cost.Product) error {
	v, err := dist.FromFunc(ctx, s.op.Domain(), func(i []int) T { return entry[T](i[0]+1, i[1], i[2]) })
	if err != nil {
		return err
	}
	y, err := dist.New[T](s.op.Range())
	if err != nil {
		return err
	}
	if err := s.op.Forward(ctx, y, v); err != nil {
		return err
	}
	space := s.op.Range()
	if space.LocalShape().Size() == 0 {
		return nil
	}
	got := make([]T, y.Local().Len())
	if err := y.Local().CopyOut(got); err != nil {
		return err
	}
	box := space.Box(space.Comm().Rank())
	b, i := box.Hi[0]-1, box.Hi[1]-1 // the last row
	got = got[len(got)-(box.Hi[2]-box.Lo[2]):]
	for at, have := range got {
		k := box.Lo[2] + at
		var want T
		for j := range p.Depth {
			want += entry[T](b, i, j) * entry[T](b+1, j, k)
		}
		if have != want {
			return fmt.Errorf("element %d, %d, %d of Y is %v, want %v", b, i, k, have, want)
		}
	}
	return nil
}
