package ops_test

import (
	"testing"

	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(sumTest[float32], sumTest[float64], sumTest[complex64], sumTest[complex128])

func sumTest[T scalar.Scalar]() operatorTest[T] {
	return operatorTest[T]{
		forms:   []form[T]{{name: "sum", make: sum[T]}},
		along:   ops.Sum[T],
		extreme: []extremeCase[T]{{"sum axis", ops.Sum[T], nil}},
		golden: goldenTest[T]{names: []string{"Sum"}, make: func(_ *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			return ops.Sum[T](ctx, x, c.Int("axis"))
		}},
		messages: []messageCase[T]{{"sum", sum[T], sentNone, 1}},
	}
}

func sum[T scalar.Scalar](ctx ctxt, x space) (op[T], error) { return ops.Sum[T](ctx, x, 0) }

func BenchmarkSum(b *testing.B) { onTypes(b, plain, sum[float32], sum[float64]) }

func ExampleSum() {
	show([]int{2, 3}, []float64{1, 2, 3, 4, 5, 6}, sum[float64])
	// Output: [5 7 9]
}
