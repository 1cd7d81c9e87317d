package ops

import (
	"context"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Fredholm1 returns the Fredholm integral of the first kind of each slice s, such as
// a frequency:
//
//	y[s,i,k] = Σⱼ g[s,i,j]·x[s,j,k]
//
// x has the axes s, j and any number of columns k. Where slices of g and x lie on the
// same ranks, nothing is sent. Other layouts are those of Product, of which this is a
// case. T is the element type of x, and g may have half of its bits. It keeps g, which
// must not be changed.
func Fredholm1[T, G scalar.Scalar](ctx context.Context, g dist.Array[G], x *dist.Space, o ProductOptions) (linop.Operator[T], error) {
	const what = "ops: Fredholm integral"
	if s := g.Space(); s != nil && s.Parts() == nil && s.Shape().NDim() != 3 {
		return nil, fmt.Errorf("%s: a kernel of shape %v: it needs three axes: slices, rows and columns", what, s.Shape())
	}
	return newProduct[T](ctx, what, g, x, o)
}
