package ops

import (
	"context"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// stridedCopy returns one direction of an operator that copies elements inside each
// block. If zero is set, other elements of dst become zero.
func stridedCopy[T scalar.Scalar](c device.Strided, zero bool) func(context.Context, dist.Array[T], dist.Array[T]) error {
	return func(_ context.Context, dst, src dist.Array[T]) error {
		if zero {
			array.Fill(dst.Local(), 0)
		}
		array.CopyND(dst.Local(), src.Local(), &c, false)
		return nil
	}
}
