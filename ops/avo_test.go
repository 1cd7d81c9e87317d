package ops_test

import (
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(avoTest[float32], avoTest[float64], avoTest[complex64], avoTest[complex128])

var avoKinds = map[string]ops.AVOKind{"akirich": ops.AkiRichards, "fatti": ops.Fatti, "ps": ops.ConvertedPS}

// onDims returns f over a space of these dims that is split along the same axes as x.
func onDims[T scalar.Scalar](x space, dims []int, f func(y space) (op[T], error)) (op[T], error) {
	l := x.Layout()
	clear(l.Counts)
	return on(x, l, dims, f)
}

func avoTest[T scalar.Scalar]() operatorTest[T] {
	over := func(dims []int, o ops.AVOOptions) func(ctx ctxt, x space, _ int) (op[T], error) {
		return func(ctx ctxt, x space, _ int) (op[T], error) {
			return onDims(x, dims, func(y space) (op[T], error) { return ops.AVOLinearModelling[T](ctx, y, o) })
		}
	}
	good := ops.AVOOptions{Angles: []float64{0, 10, 20, 35}, VsVp: []float64{0.5, 0.45, 0.4, 0.5, 0.6, 0.5}, Kind: ops.Fatti}
	with := func(change func(o *ops.AVOOptions)) ops.AVOOptions {
		o := good
		change(&o)
		return o
	}
	return operatorTest[T]{
		forms:   []form[T]{{name: "AVO", make: func(ctx ctxt, x space) (op[T], error) { return over([]int{6, 3, 2}, good)(ctx, x, 0) }}},
		nowhere: func(ctx ctxt) (op[T], error) { return ops.AVOLinearModelling[T](ctx, nil, good) },
		bad: []badCase[T]{
			{"parameters", over([]int{6, 2, 2}, good), []string{"AVO", "2 parameters", "must have 3"}},
			{"parameters missing", over([]int{6}, good), []string{"one axis"}},
			{"ratios", over([]int{5, 3}, good), []string{"6 ratios", "each of 5 time samples"}},
			{"ratio", over([]int{6, 3}, with(func(o *ops.AVOOptions) { o.VsVp = []float64{-2} })), []string{"ratio 0 of VsVp is -2"}},
			{"angle", over([]int{6, 3}, with(func(o *ops.AVOOptions) { o.Angles = []float64{0, 95} })), []string{"angle 1 is 95", "between -90 and 90"}},
			{"kind of AVO", over([]int{6, 3}, with(func(o *ops.AVOOptions) { o.Kind = 7 })), []string{"kind is 7", "AkiRichards"}},
		},
		golden: goldenTest[T]{names: []string{"AVOLinearModelling"}, make: func(_ *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			return ops.AVOLinearModelling[T](ctx, x, goldenAVO(c))
		}},
		messages: []messageCase[T]{{"AVO", func(ctx ctxt, x space) (op[T], error) {
			return over([]int{17, 3, 2}, with(func(o *ops.AVOOptions) { o.VsVp = []float64{0.5} }))(ctx, x, 0)
		}, sentNone, 0}},
	}
}

func goldenAVO(c golden.Case) ops.AVOOptions {
	return ops.AVOOptions{Angles: c.Floats("theta"), VsVp: c.Floats("vsvp"), Kind: avoKinds[c.String("linearization")]}
}

func BenchmarkAVOLinearModelling(b *testing.B) {
	onTypes(b, plain, benchAVO[float32], benchAVO[float64])
}

func benchAVO[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	return on(x, dist.Layout{}, []int{benchRows, 3, benchCols / 3}, func(y space) (op[T], error) {
		return ops.AVOLinearModelling[T](ctx, y, ops.AVOOptions{Angles: []float64{0, 15, 30}, VsVp: []float64{0.5}})
	})
}

func ExampleAVOLinearModelling() {
	show([]int{2, 3}, []float64{4, 0, 0, 0, 8, 2}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.AVOLinearModelling[float64](ctx, x, ops.AVOOptions{Angles: []float64{0}, VsVp: []float64{0.5}})
	})
	// Output: [2 1]
}
