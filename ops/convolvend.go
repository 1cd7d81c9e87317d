package ops

import (
	"context"
	"fmt"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// ConvolveOptions say what the numbers of a filter of several axes are.
type ConvolveOptions struct {
	Axes    []int // of the array; nil means the last ones, as many as the filter has
	Extents []int // of the filter along each of the axes
	Offset  []int // the sample of the filter that lies at zero; nil means the first
	Method  ConvolveMethod
}

// Convolve2D filters along two axes of x. h has extents[0] × extents[1] numbers, of
// which the one at offset lies at zero. It is a case of ConvolveND.
func Convolve2D[T scalar.Scalar](ctx context.Context, x *dist.Space, axes [2]int, h []T, extents, offset [2]int) (linop.Operator[T], error) {
	return ConvolveND(ctx, x, h, ConvolveOptions{Axes: axes[:], Extents: extents[:], Offset: offset[:]})
}

// ConvolveND filters along several axes of x with a compact filter h, whose last axis
// runs fastest:
//
//	y[i] = Σₖ h[k]·x[i+offset-k]
//
// with zeros beyond the ends. y has the shape of x. Where axes are split, ranks
// exchange a halo as wide as the filter, corners included. The work grows with the
// number of samples of the filter. ConvolveFFT suits filters of some hundred samples or more. It
// moves split axes as FFT does, and holds the transform of x and as many factors.
func ConvolveND[T scalar.Scalar](ctx context.Context, x *dist.Space, h []T, o ConvolveOptions) (linop.Operator[T], error) {
	const name = "ops: convolve in several axes"
	o, err := o.of(x, len(h))
	var c *convolution[T]
	if err == nil && x.Shape().Size() == 0 {
		o.Method = ConvolveDirect // nothing to transform
	}
	if err == nil && o.Method == ConvolveDirect {
		c, err = newConvolution(x, h, o)
	}
	if err := agree(ctx, name, x, err, "filter ", h, o); err != nil {
		return nil, err
	}
	switch {
	case o.Method == ConvolveDirect:
		return linop.Func(name, x, x, c.forward, c.adjoint)
	case scalar.Of[T]() == scalar.Float32 || scalar.Of[T]() == scalar.Complex64:
		return convolveFFT[complex64](ctx, x, h, o)
	}
	return convolveFFT[complex128](ctx, x, h, o)
}

// convolution filters a block with a halo as if it had one axis: a step along any axis
// is a number of elements. What that makes of the elements of the halo is not used.
type convolution[T scalar.Scalar] struct {
	halo            *dist.Move[T]
	wide            dist.Array[T]  // the block with its halo
	flat            array.Array[T] // from the first to the last filtered element of the block, as far apart as in wide
	filter, reverse *device.Banded[T]
	crop, place     device.Strided // from flat to the block, and back
}

func newConvolution[T scalar.Scalar](x *dist.Space, h []T, o ConvolveOptions) (*convolution[T], error) {
	n := x.Shape().NDim()
	front, back := make([]int, n), make([]int, n)
	for k, a := range o.Axes {
		// A filter that is longer than the axis finds nothing further away.
		most := max(x.Shape().Dim(a)-1, 0)
		front[a], back[a] = min(o.Extents[k]-1-o.Offset[k], most), min(o.Offset[k], most)
	}
	c := &convolution[T]{}
	var err error
	if c.halo, err = dist.NewHalo[T](x, front, back, true); err != nil {
		return nil, err
	}
	if c.wide, err = dist.New[T](c.halo.Range()); err != nil {
		return nil, err
	}
	block, wide := x.LocalShape(), c.halo.Range().LocalShape()
	c.crop = device.Strided{Shape: block, Dst: block.Strides(), Src: wide.Strides()}
	c.place = c.crop.Flipped()
	m := matrix[T]{cols: wide.Size()}
	first := 0 // the first element of the block in wide
	if block.Size() > 0 {
		m.rows = 1
		for a := range n {
			first += front[a] * c.crop.Src[a]
			m.rows += (block.Dim(a) - 1) * c.crop.Src[a]
		}
	}
	filter := shape.Of(o.Extents...)
	for k, v := range h {
		at, i := first, k
		reaches := v != 0
		for f := len(o.Axes) - 1; f >= 0; f-- {
			a := o.Axes[f]
			step := o.Offset[f] - i%filter.Dim(f)
			i /= filter.Dim(f)
			at += step * c.crop.Src[a]
			reaches = reaches && step >= -front[a] && step <= back[a]
		}
		if reaches {
			m.add(0, m.rows, at, 1, v)
		}
	}
	c.filter, c.reverse = m.inBlock(1, 1), m.adjoint().inBlock(1, 1)
	c.flat, err = array.New[T](x.Device(), shape.Of(m.rows))
	return c, err
}

// of returns the options with all that nil stands for, for a filter of n numbers.
func (o ConvolveOptions) of(x *dist.Space, n int) (ConvolveOptions, error) {
	if _, _, err := axisOf(x, 0); err != nil {
		return o, err
	}
	if o.Method > ConvolveFFT {
		return o, fmt.Errorf("method is %d: have ConvolveDirect, ConvolveFFT", o.Method)
	}
	ndim, axes := x.Shape().NDim(), len(o.Extents)
	if axes == 0 || axes > ndim {
		return o, fmt.Errorf("the filter has %d axes, the array %d", axes, ndim)
	}
	size := 1
	for k, e := range o.Extents {
		if e < 1 || e > max(n, 1) {
			return o, fmt.Errorf("extent %d of the filter is %d: it has %d numbers", k, e, n)
		}
		size *= e
		if size > n {
			break
		}
	}
	if size != n {
		return o, fmt.Errorf("the filter has %d numbers, its extents are %v", n, o.Extents)
	}
	given := o.Axes
	if o.Axes == nil {
		for k := range axes {
			given = append(given, ndim-axes+k)
		}
	}
	if o.Offset == nil {
		o.Offset = make([]int, axes)
	}
	if len(given) != axes || len(o.Offset) != axes {
		return o, fmt.Errorf("axes %v and offset %v for a filter of %d axes", given, o.Offset, axes)
	}
	var err error
	if o.Axes, err = distinctAxes(x, given); err != nil {
		return o, err
	}
	for k, at := range o.Offset {
		if at < 0 || at >= o.Extents[k] {
			return o, fmt.Errorf("offset %d is %d: samples of the filter are 0 to %d", k, at, o.Extents[k]-1)
		}
	}
	const perTap = 256 // bytes that the matrix of a filter takes, about
	return o, device.CheckHostMemory(n, perTap)
}

func (c *convolution[T]) forward(ctx context.Context, dst, src dist.Array[T]) error {
	if err := c.halo.Forward(ctx, c.wide, src); err != nil {
		return err
	}
	array.Bands(c.flat, c.wide.Local(), c.flat.Slice(0, 0), c.filter, 0, false)
	array.CopyND(dst.Local(), c.flat, &c.crop, false)
	return nil
}

func (c *convolution[T]) adjoint(ctx context.Context, dst, src dist.Array[T]) error {
	array.Fill(c.flat, 0)
	array.CopyND(c.flat, src.Local(), &c.place, false)
	array.Bands(c.wide.Local(), c.flat, c.flat.Slice(0, 0), c.reverse, 0, false)
	return c.halo.Adjoint(ctx, dst, c.wide)
}
