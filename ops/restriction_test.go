package ops_test

import (
	"testing"

	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(restrictionTest[float32], restrictionTest[float64], restrictionTest[complex64], restrictionTest[complex128])

func restrictionTest[T scalar.Scalar]() operatorTest[T] {
	at := func(index ...int) newOp[T] {
		return func(ctx ctxt, x space) (op[T], error) { return ops.Restriction[T](ctx, x, 0, index) }
	}
	return operatorTest[T]{
		forms: []form[T]{
			{name: "restriction", make: at(0, 1, 3)},
			{name: "restriction unsorted", make: at(3, 0, 1, 0)},
		},
		along: func(ctx ctxt, x space, axis int) (op[T], error) { return ops.Restriction[T](ctx, x, axis, []int{0}) },
		bad: []badCase[T]{
			{"restriction", func(ctx ctxt, x space, me int) (op[T], error) {
				return ops.Restriction[T](ctx, x, 0, []int{0, onRank1(me, 3, 7)})
			}, []string{"rank 1", "index 1 is 7", "0 to 6"}},
		},
		extreme: []extremeCase[T]{
			{"restriction", func(ctx ctxt, x space, v int) (op[T], error) {
				return ops.Restriction[T](ctx, x, 0, []int{0, v})
			}, func(_, _ float64) float64 { return 2 }},
		},
		golden: goldenTest[T]{names: []string{"Restriction"}, make: func(_ *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			return ops.Restriction[T](ctx, x, c.Int("axis"), c.Ints("iava"))
		}},
		messages: []messageCase[T]{{"restriction", at(1, 2, 9, 15), sentNone, 0}},
	}
}

func BenchmarkRestriction(b *testing.B) {
	onTypes(b, fewer, benchRestriction[float32], benchRestriction[float64])
}

func benchRestriction[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	var every []int
	for i := 0; i < benchRows; i += 3 {
		every = append(every, i)
	}
	return ops.Restriction[T](ctx, x, 0, every)
}

func ExampleRestriction() {
	show([]int{5}, []float64{0, 1, 2, 3, 4}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.Restriction[float64](ctx, x, 0, []int{1, 4})
	})
	// Output: [1 4]
}
