package ops_test

import (
	"slices"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(directionalTest[float32], directionalTest[float64], directionalTest[complex64], directionalTest[complex128])

func directionalTest[T scalar.Scalar]() operatorTest[T] {
	forward := ops.GradientOptions{Kind: ops.DerivativeForward}
	over := func(n int, o ops.GradientOptions) func(ctx ctxt, x space, _ int) (op[T], error) {
		return func(ctx ctxt, x space, _ int) (op[T], error) { return directional[T](ctx, x, n, o) }
	}
	return operatorTest[T]{
		forms: []form[T]{{"directional derivative", func(ctx ctxt, x space) (op[T], error) {
			return directional[T](ctx, x, x.Shape().NDim(), forward)
		}, func(x func(...int) T, dims, i []int) (y T) {
			for a := range i {
				if i[a] == dims[a]-1 {
					continue // the last difference of an axis is zero
				}
				next := slices.Clone(i)
				next[a]++
				y += direction[T](a, i) * (x(next...) - x(i...))
			}
			return y
		}}},
		nowhere: func(ctx ctxt) (op[T], error) { return ops.DirectionalDerivative(ctx, dist.Array[T]{}, forward) },
		bad: []badCase[T]{
			{"directions along one axis of two", over(1, forward), []string{"directional derivative", "one array of", "each of its 2 axes"}},
			{"sampling of directions", over(2, ops.GradientOptions{Samplings: []float64{1, -2}}), []string{"directional derivative", "sampling is -2"}},
		},
		messages: []messageCase[T]{{"directional derivative", func(ctx ctxt, x space) (op[T], error) {
			return directional[T](ctx, x, 2, ops.GradientOptions{})
		}, sentToNeighbours, 0}},
	}
}

// direction is the direction along axis a at indices i.
func direction[T scalar.Scalar](a int, i []int) T { return number[T](2*a + i[0] + 3*i[len(i)-1]) }

// directional has directions along n axes.
func directional[T scalar.Scalar](ctx ctxt, x space, n int, o ops.GradientOptions) (op[T], error) {
	var parts []dist.Array[T]
	for a := range n {
		p, err := dist.FromFunc(ctx, x, func(i []int) T { return direction[T](a, i) })
		if err := dist.Agree(ctx, x.Comm(), "directions", err); err != nil { // memory may be short on one rank
			return nil, err
		}
		parts = append(parts, p)
	}
	v, err := dist.StackOf(parts...)
	if err != nil {
		return nil, err
	}
	return ops.DirectionalDerivative(ctx, v, o)
}

func BenchmarkDirectionalDerivative(b *testing.B) {
	onTypes(b, with(2*benchRows*benchCols), benchDirectional[float32], benchDirectional[float64])
}

func benchDirectional[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	return directional[T](ctx, x, 2, ops.GradientOptions{})
}

func ExampleDirectionalDerivative() {
	show([]int{2, 2}, []float64{0, 1, 10, 11}, func(ctx ctxt, x space) (op[float64], error) {
		s, err := dist.Stack(x, x)
		if err != nil {
			return nil, err
		}
		v, err := dist.New[float64](s)
		if err != nil {
			return nil, err
		}
		dist.Fill(v.Part(0), 2) // twice down, once to the right
		dist.Fill(v.Part(1), 1)
		return ops.DirectionalDerivative(ctx, v, ops.GradientOptions{Kind: ops.DerivativeForward})
	})
	// Output: [21 20 1 0]
}
