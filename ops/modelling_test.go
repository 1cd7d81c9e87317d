package ops_test

import (
	"testing"

	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var (
	_ = register(poststackTest[float32], poststackTest[float64], poststackTest[complex64], poststackTest[complex128])
	_ = register(prestackTest[float32], prestackTest[float64], prestackTest[complex64], prestackTest[complex128])
)

var modellingKinds = map[string]ops.DerivativeKind{"centered": ops.DerivativeCentered, "forward": ops.DerivativeForward}

func poststackTest[T scalar.Scalar]() operatorTest[T] {
	with := func(kind ops.DerivativeKind, wavelets ...[]T) func(ctx ctxt, x space, _ int) (op[T], error) {
		return func(ctx ctxt, x space, _ int) (op[T], error) {
			return ops.PoststackLinearModelling(ctx, x, wavelets, kind)
		}
	}
	three := func(ctx ctxt, x space) (op[T], error) {
		return with(ops.DerivativeForward, numbers[T](3))(ctx, x, 0)
	}
	return operatorTest[T]{
		forms:   []form[T]{{name: "poststack", make: three}},
		nowhere: func(ctx ctxt) (op[T], error) { return three(ctx, nil) },
		bad: []badCase[T]{
			{"wavelets", with(0, numbers[T](3), numbers[T](3)), []string{"poststack", "2 wavelets", "each of 7 time samples"}},
			{"no samples of a wavelet", with(0, nil), []string{"give one with samples"}},
			{"lengths of wavelets", with(0, numbers[T](3), numbers[T](4), nil, nil, nil, nil, nil), []string{"filter 1 has 4 samples", "odd"}},
			{"derivative", with(ops.DerivativeBackward, numbers[T](3)), []string{"the derivative is backward", "DerivativeForward"}},
		},
		golden: goldenTest[T]{names: []string{"PoststackLinearModelling"}, make: func(t *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			return ops.PoststackLinearModelling(ctx, x, goldenWavelets[T](t, c), modellingKinds[c.String("kind")])
		}},
	}
}

// goldenWavelets returns the wavelets of a case, one after the other.
func goldenWavelets[T scalar.Scalar](t *testing.T, c golden.Case) (all [][]T) {
	dims, w := golden.Array[T](t, c, "wav")
	n := dims[len(dims)-1]
	for ; len(w) > 0; w = w[n:] {
		all = append(all, w[:n])
	}
	return all
}

func prestackTest[T scalar.Scalar]() operatorTest[T] {
	good := ops.AVOOptions{Angles: []float64{5, 25}, VsVp: []float64{0.5}}
	over := func(dims []int, o ops.AVOOptions, wavelets ...[]T) func(ctx ctxt, x space, _ int) (op[T], error) {
		return func(ctx ctxt, x space, _ int) (op[T], error) {
			return onDims(x, dims, func(y space) (op[T], error) {
				return ops.PrestackLinearModelling(ctx, y, wavelets, o, ops.DerivativeCentered)
			})
		}
	}
	three := func(ctx ctxt, x space) (op[T], error) { return over([]int{6, 3, 2}, good, numbers[T](3))(ctx, x, 0) }
	return operatorTest[T]{
		forms: []form[T]{{name: "prestack", make: three}},
		nowhere: func(ctx ctxt) (op[T], error) {
			return ops.PrestackLinearModelling(ctx, nil, [][]T{{1}}, good, ops.DerivativeCentered)
		},
		bad: []badCase[T]{
			{"no wavelet", over([]int{6, 3}, good), []string{"prestack", "0 wavelets"}},
			{"parameters of prestack", over([]int{6, 4}, good, numbers[T](3)), []string{"prestack", "4 parameters"}},
		},
		golden: goldenTest[T]{names: []string{"PrestackLinearModelling"}, make: func(t *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			return ops.PrestackLinearModelling(ctx, x, goldenWavelets[T](t, c), goldenAVO(c), modellingKinds[c.String("kind")])
		}},
	}
}

func BenchmarkPoststackLinearModelling(b *testing.B) {
	onTypes(b, plain, benchPoststack[float32], benchPoststack[float64])
}

func benchPoststack[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	return ops.PoststackLinearModelling(ctx, x, [][]T{numbers[T](41)}, ops.DerivativeCentered)
}

func ExamplePoststackLinearModelling() {
	show([]int{6}, []float64{0, 0, 0, 8, 8, 8}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.PoststackLinearModelling(ctx, x, [][]float64{{-0.5, 1, -0.5}}, ops.DerivativeForward)
	})
	// Output: [0 -4 8 -4 0 0]
}

func ExamplePrestackLinearModelling() {
	show([]int{4, 3}, []float64{0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.PrestackLinearModelling(ctx, x, [][]float64{{-0.5, 1, -0.5}}, ops.AVOOptions{Angles: []float64{0}, VsVp: []float64{0.5}}, ops.DerivativeForward)
	})
	// Output: [-4 8 -4 0]
}
