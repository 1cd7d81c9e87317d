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
// of operators over spaces that it holds alone, or none. All rows have as many
// operators, and those of a column take vectors of one size. It is the
// VStackRanks of the HStackRanks of the rows: every rank holds the model whole
// and what its own rows give. Both are stacked along axis 0, as BlockDiagRanks
// does it; the model has one axis too where rows take it in different shapes.
// BlockRanks is collective.
func BlockRanks[E scalar.Scalar](ctx context.Context, r dist.Proc, rows [][]Operator[E]) (Operator[E], error) {
	return StackConfig[E]{}.BlockRanks(ctx, r, rows)
}

// BlockRanks is the function BlockRanks with the choices of c.
func (c StackConfig[E]) BlockRanks(ctx context.Context, r dist.Proc, rows [][]Operator[E]) (Operator[E], error) {
	const what = "linop: block over ranks"
	stacked, cols, err := blockRows(ctx, r, rows)
	if err := dist.Agree(ctx, r.Comm, what, err); err != nil {
		return nil, err
	}
	all, err := comm.AllGatherObjects(ctx, r.Comm, cols)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	dims, err := modelDims(all)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	v, err := c.vstack(ctx, r, what, "takes", stacked, dims)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// blockColumns says what rows of operators take.
type blockColumns struct {
	Widths []int // elements of each column
	Dims   []int // the shape of the columns on top of each other
}

// blockRows makes one operator of each of this rank's rows, and returns what
// they take.
func blockRows[E scalar.Scalar](ctx context.Context, r dist.Proc, rows [][]Operator[E]) (stacked []Operator[E], c blockColumns, err error) {
	me := r.Rank()
	for i, row := range rows {
		var w []int
		for j, a := range row {
			err := valid(a)
			if err == nil {
				err = checkAlone(r, a)
			}
			if got, want := row[j], row[0]; err == nil && got.Range().Shape() != want.Range().Shape() {
				err = fmt.Errorf("it gives vectors of shape %v, column 0 of shape %v", got.Range().Shape(), want.Range().Shape())
			}
			if err != nil {
				return nil, c, fmt.Errorf("row %d, column %d of rank %d: %w", i, j, me, err)
			}
			w = append(w, a.Domain().Size())
		}
		if i > 0 && !slices.Equal(w, c.Widths) {
			return nil, c, fmt.Errorf("row %d of rank %d has operators that take %v elements, row 0 has %v", i, me, w, c.Widths)
		}
		h, err := HStackRanks(ctx, r.Alone(), row...)
		if err != nil {
			return nil, c, fmt.Errorf("row %d of rank %d: %w", i, me, err)
		}
		stacked = append(stacked, h)
		c = blockColumns{w, c.join(i == 0, h.Domain())}
	}
	return stacked, c, nil
}

// join returns the shape of the model of rows that take c and of one that takes s.
func (c blockColumns) join(first bool, s *dist.Space) []int {
	if d := s.Shape().Dims(); first || slices.Equal(d, c.Dims) {
		return d
	}
	return []int{s.Size()}
}

// modelDims compares the columns of all ranks that have rows and returns the shape
// of the model. It is nil where no rank has rows.
func modelDims(all []blockColumns) (dims []int, err error) {
	first := slices.IndexFunc(all, func(c blockColumns) bool { return len(c.Widths) > 0 })
	for k, c := range all {
		switch a := all[max(first, 0)]; {
		case len(c.Widths) == 0:
		case !slices.Equal(c.Widths, a.Widths):
			return nil, fmt.Errorf("the rows of rank %d have operators that take %v elements, those of rank %d have %v", k, c.Widths, first, a.Widths)
		case k == first || slices.Equal(dims, c.Dims):
			dims = c.Dims
		default:
			dims = []int{0}
			for _, w := range c.Widths {
				dims[0] += w
			}
		}
	}
	return dims, nil
}
