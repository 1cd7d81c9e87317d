package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// MatrixMult returns y = A·x along the first axis of x, for each index of the
// others, with a dense A of rows × x.Shape().Dim(0) numbers, row after row.
//
// Where the first axis of x is whole, every rank gives all of A, and nothing is sent.
// Where it is split, the first axis of y is split evenly, and each rank gives the
// rows of A for its rows of y. Then x travels in panels, or whole if it is no larger than
// two of them. It is a case of Product.
func MatrixMult[T scalar.Scalar](ctx context.Context, x *dist.Space, rows int, a []T) (linop.Operator[T], error) {
	const what = "ops: matrix product"
	_, n, err := axisOf(x, 0)
	if err == nil && rows < 0 {
		err = fmt.Errorf("%d rows, must not be negative", rows)
	}
	var s *dist.Space
	if err == nil {
		s, err = rowsOfMatrix(x, rows, n)
	}
	if err == nil {
		err = checkMatrix(len(a), s.LocalShape().Dim(0), rows, n, x.Comm().Rank())
	}
	if err := agree(ctx, what, x, err, rows, " × ", n); err != nil {
		return nil, err
	}
	block, err := dist.FromBlock(ctx, s, a)
	if err != nil {
		return nil, err
	}
	return newProduct[T](ctx, what, block, x, ProductOptions{})
}

// rowsOfMatrix returns the space of a matrix whose rows are split evenly over the ranks
// that share the first axis of x.
func rowsOfMatrix(x *dist.Space, rows, cols int) (*dist.Space, error) {
	l := x.Layout()
	l.Counts, l.Mask = nil, nil
	if l.Replicate != dist.Scattered {
		l.Grid, l.Axes = nil, nil
	}
	for g, axis := range l.Axes {
		if axis != 0 {
			l.Axes[g] = dist.NoAxis
		}
	}
	return x.Like(l, rows, cols)
}

// checkMatrix compares the number of elements that a rank gives with its rows of a
// matrix of all × cols elements.
func checkMatrix(given, rows, all, cols, rank int) error {
	sh, err := shape.New(rows, cols)
	if err == nil && given == sh.Size() {
		return nil
	}
	text := fmt.Sprintf("%d numbers on rank %d for a matrix of %d × %d", given, rank, rows, cols)
	if whole, err := shape.New(all, cols); err == nil && rows != all && given == whole.Size() {
		return fmt.Errorf("%s: these are all %d rows of the matrix, and axis 0 is split: give this rank's rows, %d numbers", text, all, sh.Size())
	}
	if err == nil && rows == all && given > 0 && given < sh.Size() && given%cols == 0 {
		return fmt.Errorf("%s: these are %d of %d rows, and axis 0 is whole on this rank: give all rows, %d numbers", text, given/cols, rows, sh.Size())
	}
	return errors.New(text)
}
