package ops_test

import (
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(zeroTest[float32], zeroTest[float64], zeroTest[complex64], zeroTest[complex128])

func zeroTest[T scalar.Scalar]() operatorTest[T] {
	return operatorTest[T]{
		forms:   []form[T]{{name: "zero", make: zero[T]}},
		nowhere: func(ctxt) (op[T], error) { return ops.Zero[T, T](nil, nil) },
		golden: goldenTest[T]{names: []string{"Zero"}, make: func(_ *testing.T, _ ctxt, x space, c golden.Case) (op[T], error) {
			return on(x, dist.Split(0), c.Dimsd, func(y space) (op[T], error) { return ops.Zero[T, T](x, y) })
		}},
	}
}

func zero[T scalar.Scalar](_ ctxt, x space) (op[T], error) { return ops.Zero[T, T](x, x) }

func BenchmarkZero(b *testing.B) {
	onTypes(b, func(x, y, _ int) (forward, adjoint int) { return y, x }, zero[float32], zero[float64])
}

func ExampleZero() {
	show([]int{3}, []float64{1, 2, 3}, zero[float64])
	// Output: [0 0 0]
}
