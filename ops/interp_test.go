package ops_test

import (
	"math"
	"testing"

	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(interpTest[float32], interpTest[float64], interpTest[complex64], interpTest[complex128])

func interpTest[T scalar.Scalar]() operatorTest[T] {
	at := func(o ops.InterpOptions, places ...float64) newOp[T] {
		return func(ctx ctxt, x space) (op[T], error) { return ops.Interp[T](ctx, x, 0, places, o) }
	}
	bad := func(o ops.InterpOptions, places ...float64) func(ctx ctxt, x space, _ int) (op[T], error) {
		return func(ctx ctxt, x space, _ int) (op[T], error) { return at(o, places...)(ctx, x) }
	}
	kinds := map[string]ops.InterpKind{"linear": ops.InterpLinear, "nearest": ops.InterpNearest, "sinc": ops.InterpSinc, "cubic_spline": ops.InterpCubicSpline}
	spline, dense := ops.InterpOptions{Kind: ops.InterpCubicSpline}, ops.InterpOptions{Kind: ops.InterpSinc}
	return operatorTest[T]{
		forms: []form[T]{
			{name: "interpolation", make: at(ops.InterpOptions{}, 0, 0.25, 1.5, 2.5, 3)},
			{name: "interpolation unsorted", make: at(spline, 3, 0.5, 2.25)},
			{name: "sinc interpolation along the last axis", make: func(ctx ctxt, x space) (op[T], error) {
				return ops.Interp[T](ctx, x, -1, []float64{1.75, 0.5}, dense)
			}},
		},
		along: func(ctx ctxt, x space, axis int) (op[T], error) {
			return ops.Interp[T](ctx, x, axis, []float64{0.5}, ops.InterpOptions{})
		},
		bad: []badCase[T]{
			{"place", func(ctx ctxt, x space, me int) (op[T], error) {
				return at(ops.InterpOptions{}, 0.5, float64(onRank1(me, 3, 7)))(ctx, x)
			}, []string{"rank 1", "place 1 is 7", "0 to 6"}},
			{"place is no number", bad(ops.InterpOptions{}, math.NaN()), []string{"place 0 is NaN"}},
			{"kind of interpolation", bad(ops.InterpOptions{Kind: 9}), []string{"kind is 9", "InterpNearest"}},
			{"tolerance", bad(ops.InterpOptions{Kind: ops.InterpSinc, Tolerance: -1}), []string{"tolerance is -1"}},
			{"tolerance of a line", bad(ops.InterpOptions{Tolerance: 0.1}), []string{"only InterpSinc"}},
		},
		golden: goldenTest[T]{names: []string{"Interp"}, make: func(t *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			_, at := golden.Array[float64](t, c, "iava")
			return ops.Interp[T](ctx, x, c.Int("axis"), at, ops.InterpOptions{Kind: kinds[c.String("kind")], Tolerance: c.Float("tol")})
		}},
		messages: []messageCase[T]{{"interpolation", at(ops.InterpOptions{}, 1.5, 2.5, 10.75), sentNone, 0}},
	}
}

func BenchmarkInterp(b *testing.B) { onTypes(b, plain, benchInterp[float32], benchInterp[float64]) }

func benchInterp[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	var at []float64
	for i := range benchRows - 1 {
		at = append(at, float64(i)+0.5)
	}
	return ops.Interp[T](ctx, x, 0, at, ops.InterpOptions{})
}

func ExampleInterp() {
	show([]int{5}, []float64{0, 1, 4, 9, 16}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.Interp[float64](ctx, x, 0, []float64{0.5, 2, 3.25}, ops.InterpOptions{})
	})
	// Output: [0.5 4 10.75]
}
