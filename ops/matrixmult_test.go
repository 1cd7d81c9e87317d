package ops_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/fakegpu"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

var _ = register(matrixMultTest[float32], matrixMultTest[float64], matrixMultTest[complex64], matrixMultTest[complex128])

func matrixMultTest[T scalar.Scalar]() operatorTest[T] {
	return operatorTest[T]{
		forms: []form[T]{{name: "matrix product", make: func(ctx ctxt, x space) (op[T], error) {
			lo, hi := rowsOf(x, 6)
			return ops.MatrixMult(ctx, x, 6, numbers[T]((hi-lo)*x.Shape().Dim(0)))
		}}},
		nowhere: func(ctx ctxt) (op[T], error) { return ops.MatrixMult[T](ctx, nil, 1, nil) },
		bad: []badCase[T]{
			{"matrix", func(ctx ctxt, x space, me int) (op[T], error) {
				return ops.MatrixMult(ctx, x, 3, make([]T, onRank1(me, 7, 8)))
			}, []string{"rank 1", "8 numbers", "1 × 7"}},
			{"whole matrix", func(ctx ctxt, x space, _ int) (op[T], error) {
				return ops.MatrixMult(ctx, x, 3, make([]T, 3*7))
			}, []string{"21 numbers", "1 × 7", "all 3 rows", "give this rank's rows, 7 numbers"}},
			{"part of a matrix", func(ctx ctxt, x space, _ int) (op[T], error) {
				return on(x, dist.Replicated, []int{7, 5}, func(y space) (op[T], error) { return ops.MatrixMult(ctx, y, 3, make([]T, 7)) })
			}, []string{"7 numbers", "1 of 3 rows", "give all rows, 21 numbers"}},
		},
		extreme: []extremeCase[T]{
			{"matrix rows", func(ctx ctxt, x space, v int) (op[T], error) { return ops.MatrixMult(ctx, x, v, []T{}) }, sizeGiven},
		},
		golden: goldenTest[T]{names: []string{"MatrixMult", "MPIMatrixMult"}, make: func(t *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			sh, a := golden.Array[T](t, c, "A")
			lo, hi := rowsOf(x, sh[0])
			return ops.MatrixMult(ctx, x, sh[0], a[lo*sh[1]:hi*sh[1]])
		}},
	}
}

// rowsOf returns the rows of a matrix that this rank gives for x.
func rowsOf(x space, rows int) (lo, hi int) {
	g, counts := x.SplitBy(0)
	if g == dist.NoAxis {
		return 0, rows
	}
	for p, n := range dist.Balanced(rows, len(counts)) {
		if hi = lo + n; p == x.Coords(x.Comm().Rank())[g] {
			break
		}
		lo = hi
	}
	return lo, hi
}

func BenchmarkMatrixMult(b *testing.B) {
	onTypes(b, with(benchRows*benchRows), benchMatrixVector[float32], benchMatrixVector[float64])
}

func benchMatrixVector[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	return on(x, dist.Split(0), []int{benchRows}, func(v space) (op[T], error) {
		return ops.MatrixMult(ctx, v, benchRows, numbers[T](v.LocalShape().Dim(0)*benchRows))
	})
}

func BenchmarkMatrixMultColumns(b *testing.B) {
	onTypes(b, with(64*benchRows), benchMatrixMatrix[float32], benchMatrixMatrix[float64])
}

func benchMatrixMatrix[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	lo, hi := rowsOf(x, 64)
	return ops.MatrixMult(ctx, x, 64, numbers[T]((hi-lo)*benchRows))
}

func ExampleMatrixMult() {
	show([]int{3}, []float64{1, 2, 3}, func(ctx ctxt, x space) (op[float64], error) {
		a := []float64{1, 1, 1, 0, 0, 1} // the rows of both ranks
		me := x.Comm().Rank()
		return ops.MatrixMult(ctx, x, 2, a[3*me:3*me+3])
	})
	// Output: [6 3]
}

// A product of 1476 elements into an array of 20 is refused, by the operator and by
// package array below it. The 1456 elements behind the array stay as they were.
func TestProductIntoShortArray(t *testing.T) {
	const rows, cols, columns = 36, 10, 41
	err := testdevices.Local(t.Context(), 1, func(ctx context.Context, r dist.Proc) error {
		x, err := dist.NewSpace(ctx, r, dist.Layout{}, cols, columns)
		if err != nil {
			return err
		}
		small, err := dist.NewSpace(ctx, r, dist.Layout{}, 20)
		if err != nil {
			return err
		}
		op, err := ops.MatrixMult(ctx, x, rows, make([]float64, rows*cols))
		if err != nil {
			return err
		}
		memory, err := array.New[float64](r.Device, shape.Of(rows*columns))
		if err != nil {
			return err
		}
		array.Fill(memory, 7)
		src, err := dist.New[float64](x)
		if err != nil {
			return err
		}
		short := memory.Slice(0, 20)
		if err := op.Forward(ctx, dist.Wrap(small, short), src); err == nil {
			return errors.New("the operator took an array of 20 elements for 1476")
		}
		a, err := array.New[float64](r.Device, shape.Of(rows, cols))
		if err != nil {
			return err
		}
		if err := product(short, a, src.Local(), rows, columns, cols); !errors.As(err, new(array.Error)) {
			return fmt.Errorf("package array: %v, want an array.Error", err)
		}
		got := make([]float64, rows*columns)
		if err := memory.CopyOut(got); err != nil {
			return err
		}
		for i, v := range got {
			if v != 7 {
				return fmt.Errorf("element %d is %g, was 7", i, v)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// product returns the panic of a product as an error.
func product(dst, a, src array.Array[float64], m, n, k int) (err error) {
	defer func() {
		if p, ok := recover().(error); ok {
			err = p
		}
	}()
	return array.Gemm(device.NoTrans, device.NoTrans, m, n, k, 1, a, src, 0, dst)
}

// A matrix product with an array that is too short returns an error that names
// both spaces. OpenBLAS, which gets addresses, wrote up to 60,000 elements past
// its end.
func TestShortMatrixMult(t *testing.T) {
	for _, ranks := range []int{1, 2} {
		for _, cols := range []int{2, 7, 64, 300} {
			err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
				return errors.Join(shortProduct[float32](ctx, r, cols), shortProduct[float64](ctx, r, cols),
					shortProduct[complex64](ctx, r, cols), shortProduct[complex128](ctx, r, cols))
			})
			if err != nil {
				t.Errorf("ranks=%d/columns=%d: %v", ranks, cols, err)
			}
		}
	}
}

func shortProduct[T scalar.Scalar](ctx context.Context, r dist.Proc, cols int) error {
	const rows, n = 300, 400
	x, err := dist.NewSpace(ctx, r, dist.Layout{}, n, cols)
	if err != nil {
		return err
	}
	op, err := ops.MatrixMult(ctx, x, rows, make([]T, rows/r.Size()*n))
	if err != nil {
		return err
	}
	for _, a := range []linop.Operator[T]{op, linop.H(op)} {
		full, err := dist.New[T](a.Domain())
		if err != nil {
			return err
		}
		to, err := dist.New[T](a.Range())
		if err != nil {
			return err
		}
		for _, part := range []int{2, 4} {
			y, err := a.Range().Like(dist.Layout{}, a.Range().Shape().Dim(0)/part, cols)
			if err != nil {
				return err
			}
			const guard = 70_000
			room, err := array.New[T](r.Device, shape.Of(y.LocalShape().Size()+2*guard))
			if err != nil {
				return err
			}
			array.Fill(room, 7)
			short := dist.Wrap(y, room.Slice(guard, room.Len()-guard))
			err = a.Forward(ctx, short, full)
			if err == nil || !strings.Contains(err.Error(), y.String()) || !strings.Contains(err.Error(), a.Range().String()) {
				return fmt.Errorf("dst of %v: got error %v", y, err)
			}
			if err := a.Adjoint(ctx, full, short); err == nil {
				return fmt.Errorf("src of %v: no error", y)
			}
			lo, hi, err := extremes(room)
			if err != nil || lo != 7 || hi != 7 {
				return fmt.Errorf("elements in or around an array that was refused are now %g to %g, error %v", lo, hi, err)
			}
		}
		if err := a.Forward(ctx, to, full); err != nil {
			return err
		}
	}
	return nil
}

// extremes returns the smallest and the largest real part.
func extremes[T scalar.Scalar](a array.Array[T]) (lo, hi float64, err error) {
	h := make([]T, a.Len())
	err = a.CopyOut(h)
	lo, hi = real(scalar.Complex(h[0])), real(scalar.Complex(h[0]))
	for _, v := range h {
		lo, hi = min(lo, real(scalar.Complex(v))), max(hi, real(scalar.Complex(v)))
	}
	return lo, hi, err
}

// An operator has one copy of its matrix, and makes no other when it is applied,
// conjugated or not. (Limit 27.)
func TestOneMatrix(t *testing.T) {
	err := testdevices.On(t.Context(), "hidden", 1, func(ctx context.Context, r dist.Proc) error {
		d := r.Device.(*fakegpu.Device)
		x, err := dist.NewSpace(ctx, r, dist.Layout{}, 5)
		if err != nil {
			return err
		}
		before := d.Live
		op, err := ops.MatrixMult(ctx, x, 3, numbers[complex64](15))
		if err != nil {
			return err
		}
		if made := d.Live - before; made != 1 {
			return fmt.Errorf("it has %d blocks of memory, want 1", made)
		}
		if err := optest.Allocs(ctx, op); err != nil { // of the host's memory
			return err
		}
		a, err := dist.New[complex64](op.Domain())
		if err != nil {
			return err
		}
		b, err := dist.New[complex64](op.Range())
		if err != nil {
			return err
		}
		before, d.Spare = d.Live, 1 // one more fails
		err = errors.Join(op.Forward(ctx, b, a), op.Adjoint(ctx, a, b))
		if err == nil && d.Live != before {
			err = fmt.Errorf("%d blocks of memory were made", d.Live-before)
		}
		d.Spare = 0
		runtime.KeepAlive(op)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
