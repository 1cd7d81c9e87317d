package ops_test

import (
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(flipTest[float32], flipTest[float64], flipTest[complex64], flipTest[complex128])

func flipTest[T scalar.Scalar]() operatorTest[T] {
	return operatorTest[T]{
		forms: onAxes("flip", ops.Flip[T]),
		along: ops.Flip[T],
		bad: []badCase[T]{
			{"axis on one rank", func(ctx ctxt, x space, me int) (op[T], error) {
				return ops.Flip[T](ctx, x, onRank1(me, 0, -3))
			}, []string{"rank 1", "flip", "axis -3"}},
			{"another axis on one rank", func(ctx ctxt, x space, me int) (op[T], error) {
				return ops.Flip[T](ctx, x, onRank1(me, 0, 1))
			}, []string{"ranks disagree", "rank 1", "axis 1"}},
			{"a stack", func(ctx ctxt, x space, _ int) (op[T], error) {
				s, err := dist.Stack(x, x)
				if err != nil {
					return nil, err
				}
				return ops.Flip[T](ctx, s, 0)
			}, []string{"stack"}},
		},
		extreme: []extremeCase[T]{{"flip axis", ops.Flip[T], nil}},
		golden: goldenTest[T]{names: []string{"Flip"}, make: func(_ *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			return ops.Flip[T](ctx, x, c.Int("axis"))
		}},
	}
}

func BenchmarkFlip(b *testing.B) { onTypes(b, plain, benchFlip[float32], benchFlip[float64]) }

func benchFlip[T scalar.Scalar](ctx ctxt, x space) (op[T], error) { return ops.Flip[T](ctx, x, 0) }

func ExampleFlip() {
	show([]int{5}, []float64{1, 2, 3, 4, 5}, func(ctx ctxt, x space) (op[float64], error) { return ops.Flip[float64](ctx, x, 0) })
	// Output: [5 4 3 2 1]
}
