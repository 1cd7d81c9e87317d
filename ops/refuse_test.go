package ops_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/golops/golops/array"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// Every operator refuses arrays of other spaces and arrays that share memory.
func TestRefuses(t *testing.T) {
	for _, h := range homes {
		if h.ranks > 2 {
			continue
		}
		err := testdevices.Local(t.Context(), h.ranks, func(ctx context.Context, r dist.Proc) error {
			x, err := dist.NewSpace(ctx, r, h.layout, h.dims...)
			if err != nil {
				return err
			}
			re, err := ops.Real[complex64, float32](x)
			if err != nil {
				return err
			}
			return errors.Join(check(ctx, x, optest.Refuses[float64, float64]), check(ctx, x, optest.Refuses[complex64, complex64]), optest.Refuses(ctx, re))
		})
		if err != nil {
			t.Errorf("ranks=%d/shape=%v: %v", h.ranks, h.dims, err)
		}
	}
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
