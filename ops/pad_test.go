package ops_test

import (
	"testing"

	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(padTest[float32], padTest[float64], padTest[complex64], padTest[complex128])

func padTest[T scalar.Scalar]() operatorTest[T] {
	by := func(before, after int) func(v, _ float64) float64 {
		return func(v, _ float64) float64 { return 24 + float64(before+after)*v }
	}
	return operatorTest[T]{
		forms: []form[T]{{name: "pad", make: func(ctx ctxt, x space) (op[T], error) {
			b := make([]int, x.Shape().NDim())
			b[0] = 2
			return ops.Pad[T](ctx, x, b, b)
		}}},
		nowhere: func(ctx ctxt) (op[T], error) { return ops.Pad[T](ctx, nil, nil, nil) },
		bad: []badCase[T]{
			{"padding", func(ctx ctxt, x space, _ int) (op[T], error) {
				return ops.Pad[T](ctx, x, []int{0, -1}, []int{0, 0})
			}, []string{"pad", "-1", "axis 1"}},
		},
		extreme: []extremeCase[T]{
			{"pad before", func(ctx ctxt, x space, v int) (op[T], error) { return ops.Pad[T](ctx, x, []int{v}, []int{0}) }, by(1, 0)},
			{"pad after", func(ctx ctxt, x space, v int) (op[T], error) { return ops.Pad[T](ctx, x, []int{0}, []int{v}) }, by(0, 1)},
			{"pad both", func(ctx ctxt, x space, v int) (op[T], error) { return ops.Pad[T](ctx, x, []int{v}, []int{v}) }, by(1, 1)},
		},
		golden: goldenTest[T]{names: []string{"Pad"}, make: goldenPad[T]},
		messages: []messageCase[T]{
			{"pad", func(ctx ctxt, x space) (op[T], error) { return ops.Pad[T](ctx, x, []int{3, 1}, []int{2, 0}) }, sentNone, 0},
		},
	}
}

// goldenPad reads the paddings of one axis, or a pair for each of several.
func goldenPad[T scalar.Scalar](_ *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
	var before, after []int
	if v, ok := c.Params["pad"].([]any); ok && len(v) > 0 {
		if _, pairs := v[0].([]any); pairs {
			for _, p := range c.IntRows("pad") {
				before, after = append(before, p[0]), append(after, p[1])
			}
		} else {
			before, after = c.Ints("pad")[:1], c.Ints("pad")[1:]
		}
	}
	return ops.Pad[T](ctx, x, before, after)
}

func BenchmarkPad(b *testing.B) {
	onTypes(b, func(x, y, _ int) (forward, adjoint int) { return x + y, 2 * x }, benchPad[float32], benchPad[float64])
}

func benchPad[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	return ops.Pad[T](ctx, x, []int{10, 20}, []int{30, 0})
}

func ExamplePad() {
	show([]int{3}, []float64{1, 2, 3}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.Pad[float64](ctx, x, []int{1}, []int{2})
	})
	// Output: [0 1 2 3 0 0]
}
