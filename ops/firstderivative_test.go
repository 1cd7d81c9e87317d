package ops_test

import (
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(firstTest[float32], firstTest[float64], firstTest[complex64], firstTest[complex128])

func firstTest[T scalar.Scalar]() operatorTest[T] {
	perSample := func(ctx ctxt, x space, axis int) (op[T], error) {
		return ops.FirstDerivative[T](ctx, x, axis, ops.DerivativeDefaults())
	}
	bad := func(o ops.DerivativeOptions) func(ctx ctxt, x space, me int) (op[T], error) {
		return func(ctx ctxt, x space, _ int) (op[T], error) { return ops.FirstDerivative[T](ctx, x, 0, o) }
	}
	wide := first[T](0, ops.DerivativeOptions{Sampling: 1, Kind: ops.DerivativeCentered5, Edge: true})
	all := onAxes("first derivative of 5", func(ctx ctxt, x space, axis int) (op[T], error) {
		return ops.FirstDerivative[T](ctx, x, axis, ops.DerivativeOptions{Sampling: 1, Kind: ops.DerivativeCentered5, Edge: axis == 0})
	})
	for _, k := range []ops.DerivativeKind{ops.DerivativeCentered, ops.DerivativeForward, ops.DerivativeBackward} {
		all = append(all, onAxes("first derivative "+k.String(), func(ctx ctxt, x space, axis int) (op[T], error) {
			return ops.FirstDerivative[T](ctx, x, axis, ops.DerivativeOptions{Kind: k, Sampling: 0.5, Edge: k == ops.DerivativeCentered})
		})...)
	}
	return operatorTest[T]{
		forms: all,
		along: perSample,
		bad: []badCase[T]{
			{"axis", func(ctx ctxt, x space, _ int) (op[T], error) { return perSample(ctx, x, 2) }, []string{"first derivative", "axis 2", "[7 5]"}},
			{"sampling on one rank", func(ctx ctxt, x space, me int) (op[T], error) {
				return ops.FirstDerivative[T](ctx, x, 0, ops.DerivativeOptions{Sampling: float64(onRank1(me, 1, 2))})
			}, []string{"ranks disagree", "rank 1"}},
			{"sampling and kind", bad(ops.DerivativeOptions{Kind: 9}), []string{"sampling is 0: give the distance between samples", "kind is 9"}},
			{"edge of a short axis", func(ctx ctxt, x space, _ int) (op[T], error) {
				return on(x, dist.Split(0), []int{1, 2}, func(y space) (op[T], error) {
					return ops.FirstDerivative[T](ctx, y, 0, ops.DerivativeOptions{Sampling: 1, Edge: true})
				})
			}, []string{"at least 2 samples", "has 1"}},
			{"edge of a forward derivative", bad(ops.DerivativeOptions{Sampling: 1, Kind: ops.DerivativeForward, Edge: true}), []string{"Edge is set", "the kind is forward"}},
		},
		extreme: []extremeCase[T]{
			{"derivative axis", perSample, nil},
			{"derivative kind", func(ctx ctxt, x space, v int) (op[T], error) {
				return ops.FirstDerivative[T](ctx, x, 0, ops.DerivativeOptions{Sampling: 1, Kind: ops.DerivativeKind(v)})
			}, sizeSame},
		},
		golden: goldenTest[T]{names: []string{"FirstDerivative", "MPIFirstDerivative"}, make: func(_ *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			axis := 0 // those of PyLops-MPI
			if c.Op == "FirstDerivative" && c.Params["axis"] != nil {
				axis = c.Int("axis")
			}
			return ops.FirstDerivative[T](ctx, x, axis, derivative(c))
		}},
		messages: []messageCase[T]{
			{"first derivative", wide, sentToNeighbours, 0},
			{"along a whole axis", first[T](1, ops.DerivativeDefaults()), sentNone, 0},
		},
		overlap: []form[T]{{name: "first derivative", make: wide}},
	}
}

func first[T scalar.Scalar](axis int, o ops.DerivativeOptions) newOp[T] {
	return func(ctx ctxt, x space) (op[T], error) { return ops.FirstDerivative[T](ctx, x, axis, o) }
}

// derivative reads the options of a derivative.
func derivative(c golden.Case) ops.DerivativeOptions {
	return ops.DerivativeOptions{Sampling: c.Float("sampling"), Kind: kind(c), Edge: edge(c)}
}

func kind(c golden.Case) ops.DerivativeKind {
	k := map[string]ops.DerivativeKind{"centered": ops.DerivativeCentered, "forward": ops.DerivativeForward, "backward": ops.DerivativeBackward}[c.String("kind")]
	if k == ops.DerivativeCentered && c.Params["order"] != nil && c.Int("order") == 5 {
		k = ops.DerivativeCentered5
	}
	return k
}

// edge is whether a case has other formulas at the ends. PyLops takes edge=True for
// one-sided kinds too, where it changes nothing.
func edge(c golden.Case) bool {
	return c.Bool("edge") && c.String("kind") == "centered"
}

func benchFirst(b *testing.B, axis int, o ops.DerivativeOptions) {
	onTypes(b, plain, first[float32](axis, o), first[float64](axis, o))
}

func BenchmarkFirstDerivative(b *testing.B) { benchFirst(b, 0, ops.DerivativeDefaults()) }

func BenchmarkFirstDerivativeForward(b *testing.B) {
	benchFirst(b, 0, ops.DerivativeOptions{Sampling: 1, Kind: ops.DerivativeForward})
}

func BenchmarkFirstDerivativeOrder5(b *testing.B) {
	benchFirst(b, 0, ops.DerivativeOptions{Sampling: 1, Kind: ops.DerivativeCentered5})
}

func BenchmarkFirstDerivativeLastAxis(b *testing.B) { benchFirst(b, -1, ops.DerivativeDefaults()) }

func ExampleFirstDerivative() {
	show([]int{5}, []float64{0, 1, 4, 9, 16}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.FirstDerivative[float64](ctx, x, 0, ops.DerivativeDefaults())
	})
	// Output: [0 2 4 6 0]
}
