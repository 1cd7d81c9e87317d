package array

import (
	"fmt"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// Shrink maps the vectors whose elements lie in the blocks of x; see
// device.ShrinkKind. There are 1 to device.MaxTuple blocks of one length. A block of
// dst may be the same block of x.
func Shrink[T scalar.Scalar](dst, x []Array[T], by device.Shrinkage) {
	k := sameTuple("Shrink", dst, x)
	k.Shrink(tuple(dst), tuple(x), by)
}

// ShrinkSum returns two sums over these vectors; see device.ShrinkKind.
func ShrinkSum[T scalar.Scalar](x []Array[T], by device.Shrinkage) (sum, count float64, err error) {
	return sameTuple("ShrinkSum", x, x).ShrinkSum(tuple(x), by)
}

// sameTuple panics unless all blocks have the same length and device.
func sameTuple[T scalar.Scalar](op string, dst, x []Array[T]) device.Kernels[T] {
	if len(x) == 0 || len(x) > device.MaxTuple || len(dst) != len(x) {
		panic(Error{fmt.Sprintf("array: %s: %d blocks to %d: must be as many, from 1 to %d", op, len(x), len(dst), device.MaxTuple)})
	}
	for i := range x {
		same(op, &dst[i], &x[0])
		same(op, &x[i], &x[0])
	}
	return x[0].k
}

func tuple[T scalar.Scalar](x []Array[T]) (t device.Tuple[T]) {
	t.Count = len(x)
	for i := range x {
		t.Part[i] = x[i].mem
	}
	return t
}
