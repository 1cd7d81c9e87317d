package ops_test

import (
	"slices"
	"testing"

	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(identityTest[float32], identityTest[float64], identityTest[complex64], identityTest[complex128])

func identityTest[T scalar.Scalar]() operatorTest[T] {
	return operatorTest[T]{
		forms:   []form[T]{{name: "identity", make: identity[T]}},
		nowhere: func(ctxt) (op[T], error) { return ops.Identity[T](nil) },
		golden:  goldenTest[T]{names: []string{"Identity"}, make: goldenIdentity[T]},
		messages: []messageCase[T]{
			{"identity", identity[T], sentNone, 0},
		},
	}
}

func identity[T scalar.Scalar](_ ctxt, x space) (op[T], error) { return ops.Identity[T](x) }

// goldenIdentity resizes all axes if the identity of PyLops has two sizes.
func goldenIdentity[T scalar.Scalar](_ *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
	if slices.Equal(c.Dims, c.Dimsd) {
		return ops.Identity[T](x)
	}
	all, err := ops.Resize[T](ctx, x, 0, c.Dimsd[0])
	for a := 1; err == nil && a < len(c.Dims); a++ {
		var next op[T]
		if next, err = ops.Resize[T](ctx, all.Range(), a, c.Dimsd[a]); err == nil {
			all, err = linop.Compose(next, all)
		}
	}
	return all, err
}

func BenchmarkIdentity(b *testing.B) { onTypes(b, plain, identity[float32], identity[float64]) }

func ExampleIdentity() {
	show([]int{3}, []float64{1, 2, 3}, identity[float64])
	// Output: [1 2 3]
}
