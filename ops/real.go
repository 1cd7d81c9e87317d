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

// component takes the real or the imaginary part of each element.
type component[C, R scalar.Scalar] struct {
	linop.Spaces
	take, give device.Strided
}

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
	p := &component[C, R]{Spaces: linop.Spaces{Dom: x, Rng: x}}
	p.take = device.Strided{Shape: shape.Of(x.LocalShape().Size()), SrcAt: at}
	p.take.Dst[0], p.take.Src[0] = 1, 2
	p.give = device.Strided{Shape: p.take.Shape, DstAt: at}
	p.give.Dst[0], p.give.Src[0] = 2, 1
	return p, nil
}

func (p *component[C, R]) Forward(_ context.Context, dst dist.Array[R], src dist.Array[C]) error {
	if err := dist.Check("ops: real or imaginary part", "forward", &dst, p.Rng, &src, p.Dom); err != nil {
		return err
	}
	y := dst.Local()
	array.CopyND(y, array.Parts[R](src.Local()), &p.take, false)
	return nil
}

func (p *component[C, R]) Adjoint(_ context.Context, dst dist.Array[C], src dist.Array[R]) error {
	if err := dist.Check("ops: real or imaginary part", "adjoint", &dst, p.Dom, &src, p.Rng); err != nil {
		return err
	}
	x := array.Parts[R](dst.Local())
	array.Fill(x, 0)
	array.CopyND(x, src.Local(), &p.give, false)
	return nil
}
