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

// Real returns the real part, y = Re x. R must be the real type of the complex type
// C. The adjoint is x = y + 0i. The map is linear over the real numbers: its dot test
// compares real parts. It does not communicate.
func Real[C, R scalar.Scalar](x *dist.Space) (linop.Map[C, R], error) {
	return newComponent[C, R](x, 0)
}

// Imag returns the imaginary part, y = Im x. The adjoint is x = 0 + yi. Otherwise it
// is like Real.
func Imag[C, R scalar.Scalar](x *dist.Space) (linop.Map[C, R], error) {
	return newComponent[C, R](x, 1)
}

func newComponent[C, R scalar.Scalar](x *dist.Space, at int) (linop.Map[C, R], error) {
	c, r := scalar.Of[C](), scalar.Of[R]()
	switch {
	case x == nil || x.Parts() != nil:
		return nil, errors.New("ops: real and imaginary part: need a space that is no stack")
	case !c.IsComplex() || r.IsComplex() || c.Size() != 2*r.Size():
		return nil, fmt.Errorf("ops: real and imaginary part of %v are not %v", c, r)
	}
	take := device.Strided{Shape: shape.Of(x.LocalShape().Size()), SrcAt: at}
	take.Dst[0], take.Src[0] = 1, 2
	give := take.Flipped()
	return linop.Func("ops: real or imaginary part", x, x,
		func(_ context.Context, dst dist.Array[R], src dist.Array[C]) error {
			array.CopyND(dst.Local(), array.Parts[R](src.Local()), &take, false)
			return nil
		},
		func(_ context.Context, dst dist.Array[C], src dist.Array[R]) error {
			array.Fill(dst.Local(), 0)
			array.CopyND(array.Parts[R](dst.Local()), src.Local(), &give, false)
			return nil
		})
}
