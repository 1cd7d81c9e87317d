package ops_test

import (
	"context"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(dwtTest[float32], dwtTest[float64], dwtTest[complex64], dwtTest[complex128])

func dwtTest[T scalar.Scalar]() operatorTest[T] {
	with := func(wavelet string, level int, axes ...int) func(ctx ctxt, x space, _ int) (op[T], error) {
		return func(ctx ctxt, x space, _ int) (op[T], error) {
			return ops.DWTND[T](ctx, x, axes, ops.WaveletOptions{Wavelet: wavelet, Level: level})
		}
	}
	return operatorTest[T]{
		forms: []form[T]{{name: "wavelets", make: func(ctx ctxt, x space) (op[T], error) {
			if x.Shape().NDim() == 1 {
				return with("db2", 3, 0)(ctx, x, 0)
			}
			return ops.DWT2D[T](ctx, x, [2]int{-1, 0}, ops.WaveletOptions{Wavelet: "db2", Level: 2})
		}}},
		along: func(ctx ctxt, x space, axis int) (op[T], error) {
			return ops.DWT[T](ctx, x, axis, ops.WaveletDefaults())
		},
		bad: []badCase[T]{
			{"wavelet", with("db11", 1, 0), []string{"wavelet transform", `"db11"`, "coif5", "db10"}},
			{"level", with("haar", -1, 0), []string{"level is -1", "0 to 40"}},
			{"axes of wavelets", with("haar", 1, 0, -2), []string{"twice"}},
			{"no axes of wavelets", with("haar", 1), []string{"no axes"}},
			{"level on one rank", func(ctx ctxt, x space, me int) (op[T], error) {
				return with("haar", onRank1(me, 1, 2), 0)(ctx, x, 0)
			}, []string{"wavelet transform"}},
		},
		extreme: []extremeCase[T]{{"level", func(ctx ctxt, x space, v int) (op[T], error) { return with("haar", v, 0)(ctx, x, v) }, nil}},
		golden: goldenTest[T]{names: []string{"DWT", "DWT2D", "DWTND"}, make: func(_ *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			axes, o := c.Ints("axes"), ops.WaveletOptions{Wavelet: c.String("wavelet"), Level: c.Int("level")}
			switch c.Op {
			case "DWT":
				return ops.DWT[T](ctx, x, axes[0], o)
			case "DWT2D":
				return ops.DWT2D[T](ctx, x, [2]int(axes), o)
			}
			return ops.DWTND[T](ctx, x, axes, o)
		}},
	}
}

// The adjoint of every wavelet transform is its inverse.
func TestWaveletsAreOrthogonal(t *testing.T) {
	err := testdevices.Local(t.Context(), 2, func(ctx context.Context, r dist.Proc) error {
		x, err := dist.NewSpace(ctx, r, dist.Layout{}, 32)
		if err != nil {
			return err
		}
		want, err := dist.Random[float64](ctx, x, 3)
		if err != nil {
			return err
		}
		for _, name := range ops.Wavelets() {
			a, err := ops.DWT[float64](ctx, x, 0, ops.WaveletOptions{Wavelet: name, Level: 2})
			if err != nil {
				return err
			}
			y, err := linop.Apply(ctx, a, want)
			if err != nil {
				return err
			}
			back, err := linop.Apply(ctx, linop.H(a), y)
			if err != nil {
				return err
			}
			dist.Sub(back, back, want)
			if d, err := dist.Norm(ctx, back, 2); err != nil || d > 1e-10 {
				t.Errorf("%s: the adjoint is off by %g from the inverse (%v)", name, d, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func BenchmarkDWT(b *testing.B) { onTypes(b, plain, benchDWT[float32], benchDWT[float64]) }

func benchDWT[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	return ops.DWT[T](ctx, x, 0, ops.WaveletOptions{Wavelet: "db4", Level: 3})
}

func ExampleDWT() {
	show([]int{4}, []float64{1, 1, 1, 1}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.DWT[float64](ctx, x, 0, ops.WaveletOptions{Wavelet: "haar", Level: 2})
	})
	// Output: [2 0 0 0]
}

func ExampleDWT2D() {
	show([]int{2, 2}, []float64{4, 2, 0, 2}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.DWT2D[float64](ctx, x, [2]int{0, 1}, ops.WaveletDefaults())
	})
	// Output: [4 0 2 2]
}

func ExampleDWTND() {
	show([]int{2, 1, 2}, []float64{4, 2, 0, 2}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.DWTND[float64](ctx, x, []int{0, 2}, ops.WaveletDefaults())
	})
	// Output: [4 0 2 2]
}
