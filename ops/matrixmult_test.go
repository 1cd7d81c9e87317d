package ops_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/shape"
)

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
