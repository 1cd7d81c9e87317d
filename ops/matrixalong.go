package ops

import (
	"context"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// matrixAlong returns the product with a dense real matrix along an axis of x. Its
// elements are a(i, j). It is MatrixMult with the axis brought to the front and back.
func matrixAlong[T scalar.Scalar](ctx context.Context, x *dist.Space, axis, rows int, a func(i, j int) float64) (linop.Operator[T], error) {
	order, back := []int{axis}, []int{}
	for k := range x.Shape().NDim() {
		switch {
		case k < axis:
			order, back = append(order, k), append(back, k+1)
		case k == axis:
			back = append(back, 0)
		default:
			order, back = append(order, k), append(back, k)
		}
	}
	turn, err := Transpose[T](ctx, x, order...)
	if err != nil {
		return nil, err
	}
	s, err := rowsOfMatrix(turn.Range(), rows, x.Shape().Dim(axis))
	if err != nil {
		return nil, err
	}
	box := s.Box(s.Comm().Rank())
	elements := make([]T, 0, s.LocalShape().Size())
	for i := box.Lo[0]; i < box.Hi[0]; i++ {
		for j := range x.Shape().Dim(axis) {
			elements = append(elements, scalar.From[T](complex(a(i, j), 0)))
		}
	}
	product, err := MatrixMult(ctx, turn.Range(), rows, elements)
	if axis == 0 || err != nil {
		return product, err
	}
	turnBack, err := Transpose[T](ctx, product.Range(), back...)
	if err != nil {
		return nil, err
	}
	product, err = chain(turn, product, turnBack)
	return product, dist.Agree(ctx, x.Comm(), "ops: matrix along an axis", err)
}
