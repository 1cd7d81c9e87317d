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
)

// Bilinear returns values between the samples of the first two axes of x. y[k] is the
// mean of the four samples around the place (at[0][k], at[1][k]), counted in samples,
// weighted by how near they are:
//
//	y[k] = (1-v)·((1-w)·x[i,j] + w·x[i,j+1]) + v·((1-w)·x[i+1,j] + w·x[i+1,j+1])
//
// In y one axis of places stands for the two axes. Where these are split, all their
// ranks get all places, in one message. The adjoint sends nothing.
func Bilinear[T scalar.Scalar](ctx context.Context, x *dist.Space, at [2][]float64) (linop.Operator[T], error) {
	const name = "ops: bilinear interpolation"
	var y *dist.Space
	n0, n1, err := firstTwo(x)
	if err == nil && len(at[0]) != len(at[1]) {
		err = fmt.Errorf("%d places along axis 0 and %d along axis 1: give pairs", len(at[0]), len(at[1]))
	}
	for a, n := range [2]int{n0, n1} {
		if e := checkPlaces(at[a], n); err == nil && e != nil {
			err = fmt.Errorf("axis %d: %w", a, e)
		}
	}
	if err == nil {
		y, err = x.DropAxis(1)
	}
	if err == nil {
		y, err = wholeAxis(y, 0, len(at[0]))
	}
	if err := agree(ctx, name, x, err, "places ", at); err != nil {
		return nil, err
	}
	var axes []int
	for a := range 2 {
		if g, _ := x.SplitBy(a); g != dist.NoAxis {
			axes = append(axes, g)
		}
	}
	group, err := x.GridGroup(ctx, axes...)
	if err != nil {
		return nil, err
	}
	m := bilinearBlock[T](x, at)
	_, _, inner := x.LocalShape().Around(1)
	forward, adjoint := m.inBlock(1, inner), m.adjoint().inBlock(1, inner)
	return linop.Func(name, x, y, func(ctx context.Context, dst, src dist.Array[T]) error {
		array.Bands(dst.Local(), src.Local(), src.Local().Slice(0, 0), forward, 0, false)
		return dist.SumOver(ctx, group, dst.Local(), dist.LabelForward)
	}, func(_ context.Context, dst, src dist.Array[T]) error {
		array.Bands(dst.Local(), src.Local(), src.Local().Slice(0, 0), adjoint, 0, false)
		return nil
	})
}

// firstTwo returns the extents of the first two axes of x.
func firstTwo(x *dist.Space) (n0, n1 int, err error) {
	if _, n0, err = axisOf(x, 0); err != nil {
		return 0, 0, err
	}
	if x.Shape().NDim() < 2 {
		return 0, 0, errors.New("the array has one axis: need two")
	}
	return n0, x.Shape().Dim(1), nil
}

// wholeAxis returns x with n rows along an axis that every rank holds whole.
func wholeAxis(x *dist.Space, axis, n int) (*dist.Space, error) {
	l := x.Layout()
	for g, a := range l.Axes {
		if a == axis {
			l.Axes[g], l.Counts[g] = dist.NoAxis, nil
		}
	}
	return x.Like(l, x.Shape().With(axis, n).Dims()...)
}

// bilinearBlock returns the matrix from this rank's block of the first two axes to
// the places, with zeros for samples of other ranks.
func bilinearBlock[T scalar.Scalar](x *dist.Space, at [2][]float64) matrix[T] {
	b := x.Box(x.Comm().Rank())
	n0, n1 := b.Hi[0]-b.Lo[0], b.Hi[1]-b.Lo[1]
	m := matrix[T]{rows: len(at[0]), cols: n0 * n1}
	for k := range at[0] {
		var left [2]int
		var weight [2][2]float64
		for a := range 2 {
			v := at[a][k]
			left[a] = min(int(v), max(x.Shape().Dim(a)-2, 0))
			w := v - float64(left[a])
			weight[a] = [2]float64{1 - w, w}
		}
		for p, v := range weight[0] {
			for q, w := range weight[1] {
				i, j := left[0]+p-b.Lo[0], left[1]+q-b.Lo[1]
				if i >= 0 && i < n0 && j >= 0 && j < n1 {
					m.stencil(k, k+1, i*n1+j-k, v*w)
				}
			}
		}
	}
	return m
}

// inBlock returns m for the kernel, as a matrix along the middle axis of a block of
// outer × cols × inner elements.
func (m matrix[T]) inBlock(outer, inner int) *device.Banded[T] {
	ends := []int{0, m.cols}
	b := banded(m, 0, m.rows, ends, 0, m.needs(0, m.rows, ends), []int{0})
	b.Outer, b.Inner = outer, inner
	return b
}
