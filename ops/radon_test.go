package ops_test

import (
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(radonTest[float32], radonTest[float64], radonTest[complex64], radonTest[complex128])

func radonTest[T scalar.Scalar]() operatorTest[T] {
	offsets := []float64{0, 1, 2, 3}
	over := func(dims []int, slopes []float64, change func(h *ops.RadonAxis, o *ops.RadonOptions)) func(ctx ctxt, x space, _ int) (op[T], error) {
		return func(ctx ctxt, x space, _ int) (op[T], error) {
			h, o := ops.RadonAxis{Offsets: offsets, Slopes: slopes}, ops.RadonDefaults()
			if change != nil {
				change(&h, &o)
			}
			return on(x, dist.Layout{}, dims, func(y space) (op[T], error) {
				if len(dims) == 3 {
					return ops.Radon3D[T](ctx, y, [2]ops.RadonAxis{h, {Offsets: []float64{-1, 1}, Slopes: []float64{0.5, 0.25}}}, o)
				}
				return ops.Radon2D[T](ctx, y, h, o)
			})
		}
	}
	three := []float64{-0.75, 0.3, 0.8}
	kinds := map[string]ops.RadonKind{"linear": ops.RadonLinear, "parabolic": ops.RadonParabolic, "hyperbolic": ops.RadonHyperbolic}
	return operatorTest[T]{
		forms: []form[T]{
			{name: "Radon", make: func(ctx ctxt, x space) (op[T], error) { return over([]int{3, 6}, three, nil)(ctx, x, 0) }},
			{name: "Radon 3D", make: func(ctx ctxt, x space) (op[T], error) { return over([]int{3, 2, 6}, three, nil)(ctx, x, 0) }},
		},
		nowhere: func(ctx ctxt) (op[T], error) {
			return ops.Radon2D[T](ctx, nil, ops.RadonAxis{Offsets: offsets, Slopes: three}, ops.RadonDefaults())
		},
		bad: []badCase[T]{
			{"model of a Radon transform", over([]int{3, 2, 2, 2}, three, nil), []string{"Radon", "need 2 axes"}},
			{"slopes", over([]int{4, 6}, three, nil), []string{"3 slopes for axis 0", "which has 4"}},
			{"table of a Radon transform", over([]int{3, 1 << 40}, three, nil), []string{"table", "each of [4] offsets", "FourierRadon"}},
			{"slope of a hyperbola", over([]int{1, 6}, []float64{0}, func(_ *ops.RadonAxis, o *ops.RadonOptions) { o.Kind = ops.RadonHyperbolic }), []string{"slope 0", "is 0"}},
			{"offsets", over([]int{3, 6}, three, func(h *ops.RadonAxis, _ *ops.RadonOptions) { h.Offsets = []float64{2} }), []string{"offsets [2]", "at least two"}},
			{"kind of Radon transform", over([]int{3, 6}, three, func(_ *ops.RadonAxis, o *ops.RadonOptions) { o.Kind = 5 }), []string{"kind is 5", "RadonParabolic"}},
			{"sampling of time", over([]int{3, 6}, three, func(_ *ops.RadonAxis, o *ops.RadonOptions) { o.Sampling = 0 }), []string{"sampling is 0"}},
			{"split slopes", func(ctx ctxt, x space, _ int) (op[T], error) {
				return on(x, dist.Split(1), []int{3, 2, 6}, func(y space) (op[T], error) {
					h := ops.RadonAxis{Offsets: offsets, Slopes: three}
					return ops.Radon3D[T](ctx, y, [2]ops.RadonAxis{h, {Offsets: offsets, Slopes: three[:2]}}, ops.RadonDefaults())
				})
			}, []string{"axis 1 of the model is split"}},
		},
		golden: goldenTest[T]{
			names: []string{"Radon2D", "Radon3D"},
			dims:  func(c golden.Case) []int { return c.Ints("dims") },
			fits:  func(l dist.Layout) bool { return len(l.Axes) == 0 || len(l.Axes) == 1 && l.Axes[0] == 0 },
			make: func(_ *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
				o := ops.RadonOptions{Sampling: c.Float("dt"), Kind: kinds[c.String("kind")], Centered: c.Bool("centered"), Interpolate: c.Bool("interp")}
				h := ops.RadonAxis{Offsets: c.Floats("hx"), Slopes: c.Floats("px")}
				if c.Op == "Radon2D" {
					return ops.Radon2D[T](ctx, x, h, o)
				}
				return ops.Radon3D[T](ctx, x, [2]ops.RadonAxis{{Offsets: c.Floats("hy"), Slopes: c.Floats("py")}, h}, o)
			}},
		messages: []messageCase[T]{{"Radon", func(ctx ctxt, x space) (op[T], error) { return over([]int{3, 6}, three, nil)(ctx, x, 0) }, sentNone, 1}},
	}
}

func BenchmarkRadon2D(b *testing.B) { onTypes(b, plain, benchRadon[float32], benchRadon[float64]) }

func benchRadon[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	var h ops.RadonAxis
	for i := range 40 {
		h.Offsets, h.Slopes = append(h.Offsets, float64(i)), append(h.Slopes, 0.1*float64(i)-2)
	}
	return on(x, dist.Layout{}, []int{40, 500}, func(y space) (op[T], error) { return ops.Radon2D[T](ctx, y, h, ops.RadonDefaults()) })
}

func ExampleRadon2D() {
	// One sample becomes a line with a slope of one sample per offset.
	show([]int{1, 4}, []float64{1, 0, 0, 0}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.Radon2D[float64](ctx, x, ops.RadonAxis{Offsets: []float64{0, 1, 2}, Slopes: []float64{1}}, ops.RadonOptions{Sampling: 1})
	})
	// Output: [1 0 0 0 0 1 0 0 0 0 1 0]
}

func ExampleRadon3D() {
	show([]int{1, 1, 3}, []float64{1, 0, 0}, func(ctx ctxt, x space) (op[float64], error) {
		h := ops.RadonAxis{Offsets: []float64{0, 1}, Slopes: []float64{1}}
		return ops.Radon3D[float64](ctx, x, [2]ops.RadonAxis{h, h}, ops.RadonOptions{Sampling: 1})
	})
	// Output: [1 0 0 0 1 0 0 1 0 0 0 1]
}
