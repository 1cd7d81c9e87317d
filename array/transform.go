package array

import (
	"fmt"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// A function in this file returns device.ErrUnsupported where the device lacks its
// kernel.

// FFT sets dst to the unscaled Fourier transforms of batch blocks, stored one after
// the other in src. A block has one to three extents. The kernel is exp(-2πi·jk/n),
// or exp(+2πi·jk/n) if inverse. dst may be src.
func FFT[T scalar.Scalar](dst, src Array[T], extents []int, batch int, inverse bool) error {
	same("FFT", &dst, &src)
	dst.holds("FFT", "dst", device.Size(device.Size(extents...), batch), dst.dev)
	return device.FFT(dst.k, dst.mem, src.mem, extents, batch, inverse)
}

// RFFT is FFT of real blocks. The last axis has n/2+1 coefficients. F is the real
// type of T.
func RFFT[T, F scalar.Scalar](dst Array[T], src Array[F], extents []int, batch int) error {
	whole, half := realSizes("RFFT", extents, batch)
	dst.holds("RFFT", "dst", half, dst.dev)
	src.holds("RFFT", "src", whole, dst.dev)
	return device.RFFT(dst.k, dst.mem, src.mem, extents, batch)
}

// IRFFT is the inverse of RFFT times the product of the extents. It may overwrite src.
func IRFFT[T, F scalar.Scalar](dst Array[F], src Array[T], extents []int, batch int) error {
	whole, half := realSizes("IRFFT", extents, batch)
	dst.holds("IRFFT", "dst", whole, src.dev)
	src.holds("IRFFT", "src", half, src.dev)
	return device.IRFFT(src.k, dst.mem, src.mem, extents, batch)
}

// realSizes returns the elements of batch real blocks and of their coefficients.
func realSizes(op string, extents []int, batch int) (whole, half int) {
	if len(extents) == 0 {
		panic(Error{fmt.Sprintf("array: %s: no extents given", op)})
	}
	last := len(extents) - 1
	whole = device.Size(device.Size(extents...), batch)
	if whole == 0 {
		return 0, 0
	}
	return whole, device.Size(device.Size(extents[:last]...), extents[last]/2+1, batch)
}

// Spread models traces y from an image x; see device.Kirchhoff.
func Spread[T scalar.Scalar, F float32 | float64](y, x Array[T], t *device.TravelTables[F]) error {
	on("Spread", &y, &x)
	must("Spread", t.Check(x.mem.N, y.mem.N))
	return device.Spread(y.k, y.mem, x.mem, t)
}

// Stack is the adjoint of Spread.
func Stack[T scalar.Scalar, F float32 | float64](x, y Array[T], t *device.TravelTables[F]) error {
	on("Stack", &x, &y)
	must("Stack", t.Check(x.mem.N, y.mem.N))
	return device.Stack(x.k, x.mem, y.mem, t)
}
