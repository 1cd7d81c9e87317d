package linop

import (
	"context"
	"fmt"
	"slices"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// BlockRanks returns the operator
//
//	⎡ A₀₀ A₀₁ ⎤
//	⎣ A₁₀ A₁₁ ⎦
//
// of all ranks' rows of operators, those of rank 0 first. Each rank gives rows
// of its own, of operators over spaces that it holds alone, or none; all rows
// have as many operators, and those of a column take vectors of one size. It is
// the VStack of the HStacks of the rows: every rank holds the model whole, on one
// axis, and what its own rows give. Block is collective.
func BlockRanks[E scalar.Scalar](ctx context.Context, r dist.Proc, rows [][]Operator[E]) (Operator[E], error) {
	return StackConfig[E]{}.BlockRanks(ctx, r, rows)
}

// BlockRanks is the function Block with the choices of c.
func (c StackConfig[E]) BlockRanks(ctx context.Context, r dist.Proc, rows [][]Operator[E]) (Operator[E], error) {
	const what = "linop: block"
	stacked, widths, err := blockRows(ctx, r, rows)
	if err := dist.Agree(ctx, r.Comm, what, err); err != nil {
		return nil, err
	}
	all, err := comm.AllGatherObjects(ctx, r.Comm, widths)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if err := sameWidths(all); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	v, err := c.vstack(ctx, r, what, "takes", stacked)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// blockRows makes one operator of each of this rank's rows, and returns how
// many elements each column takes.
func blockRows[E scalar.Scalar](ctx context.Context, r dist.Proc, rows [][]Operator[E]) (stacked []Operator[E], widths []int, err error) {
	me := r.Rank()
	for i, row := range rows {
		var w []int
		for j, a := range row {
			err := valid(a)
			if err == nil {
				err = alone(r, a)
			}
			if got, want := row[j], row[0]; err == nil && got.Range().Shape() != want.Range().Shape() {
				err = fmt.Errorf("it gives vectors of shape %v, column 0 of shape %v", got.Range().Shape(), want.Range().Shape())
			}
			if err != nil {
				return nil, nil, fmt.Errorf("row %d, column %d of rank %d: %w", i, j, me, err)
			}
			w = append(w, a.Domain().Size())
		}
		if i > 0 && !slices.Equal(w, widths) {
			return nil, nil, fmt.Errorf("row %d of rank %d has operators that take %v elements, row 0 has %v", i, me, w, widths)
		}
		h, err := HStackRanks(ctx, r.Alone(), row...)
		if err != nil {
			return nil, nil, fmt.Errorf("row %d of rank %d: %w", i, me, err)
		}
		stacked, widths = append(stacked, h), w
	}
	return stacked, widths, nil
}

// sameWidths compares the columns of all ranks that have rows.
func sameWidths(all [][]int) error {
	first := slices.IndexFunc(all, func(w []int) bool { return len(w) > 0 })
	for k, w := range all {
		if len(w) > 0 && !slices.Equal(w, all[first]) {
			return fmt.Errorf("the rows of rank %d have operators that take %v elements, those of rank %d have %v", k, w, first, all[first])
		}
	}
	return nil
}
