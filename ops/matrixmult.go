package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// matrixMult multiplies by this rank's rows of a dense matrix.
type matrixMult[T scalar.Scalar] struct {
	a          array.Array[T] // rows × cols
	rows, cols int
	columns    int            // columns of x, all axes but the first taken together
	group      dist.AxisGroup // ranks that share the first axis
	counts     []int          // elements of x on each of them
	all        array.Array[T]
}

// MatrixMult returns y = A·x along the first axis of x, for each index of the
// others, with a dense A of rows × x.Shape().Dim(0) numbers, row after row.
//
// Where the first axis of x is whole, every rank gives all of A, and nothing is sent.
// Where it is split, the first axis of y is split evenly, and each rank gives the
// rows of A for its rows of y. Then the forward product gathers x, and the adjoint
// sums and scatters.
func MatrixMult[T scalar.Scalar](ctx context.Context, x *dist.Space, rows int, a []T) (linop.Operator[T], error) {
	_, n, err := axisOf(x, 0)
	o := &matrixMult[T]{cols: n}
	var y *dist.Space
	if err == nil && rows < 0 {
		err = fmt.Errorf("%d rows, must not be negative", rows)
	}
	if err == nil {
		y, err = resized(x, 0, rows, nil)
	}
	if err == nil {
		o.rows = y.LocalShape().Dim(0)
		_, _, o.columns = x.LocalShape().Around(0)
		err = checkMatrix(len(a), o.rows, rows, n, x.Comm().Rank())
	}
	if err == nil {
		o.a, err = array.FromHost(x.Device(), shape.Of(o.rows, n), a)
	}
	if err := agree(ctx, "ops: matrix product", x, err, rows, " × ", n); err != nil {
		return nil, err
	}
	if o.group, err = x.AxisGroup(ctx, 0); err != nil {
		return nil, err
	}
	if o.group.Size() > 1 {
		_, counts := x.SplitBy(0)
		for _, c := range counts {
			o.counts = append(o.counts, c*o.columns)
		}
		o.all, err = array.New[T](x.Device(), shape.Of(n*o.columns))
		if err := dist.Agree(ctx, x.Comm(), "ops: matrix product", err); err != nil {
			return nil, err
		}
	}
	return linop.Func("ops: matrix product", x, y, o.forward, o.adjoint)
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

func (o *matrixMult[T]) forward(ctx context.Context, dst, src dist.Array[T]) error {
	x := src.Local()
	if o.counts != nil {
		if err := dist.GatherOver(ctx, o.group, o.all, o.counts, x, dist.LabelForward); err != nil {
			return err
		}
		x = o.all
	}
	return o.product(dst.Local(), x, device.NoTrans, o.rows, o.cols)
}

func (o *matrixMult[T]) adjoint(ctx context.Context, dst, src dist.Array[T]) error {
	if o.counts == nil {
		return o.product(dst.Local(), src.Local(), device.ConjTrans, o.cols, o.rows)
	}
	if err := o.product(o.all, src.Local(), device.ConjTrans, o.cols, o.rows); err != nil {
		return err
	}
	return dist.SumScatterOver(ctx, o.group, dst.Local(), o.all, o.counts, dist.LabelAdjoint)
}

// product sets y = op(A)·x for op(A) of m × k.
func (o *matrixMult[T]) product(y, x array.Array[T], op device.Trans, m, k int) error {
	if o.columns == 1 {
		return array.Gemv(op, o.rows, o.cols, 1, o.a, x, 0, y)
	}
	return array.Gemm(op, device.NoTrans, m, o.columns, k, 1, o.a, x, 0, y)
}
