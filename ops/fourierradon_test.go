package ops_test

import (
	"testing"

	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(fourierRadonTest[float32], fourierRadonTest[float64], fourierRadonTest[complex64], fourierRadonTest[complex128])

func fourierRadonTest[T scalar.Scalar]() operatorTest[T] {
	h := ops.RadonAxis{Offsets: []float64{0, 1, 2, 3}, Slopes: []float64{-0.75, 0.3, 0.8}}
	over := func(dims []int, o ops.FourierRadonOptions) func(ctx ctxt, x space, _ int) (op[T], error) {
		return func(ctx ctxt, x space, _ int) (op[T], error) {
			return onDims(x, dims, func(y space) (op[T], error) {
				if len(dims) == 3 {
					return ops.FourierRadon3D[T](ctx, y, [2]ops.RadonAxis{h, {Offsets: []float64{-1, 1}, Slopes: []float64{0.5, 0.25}}}, o)
				}
				return ops.FourierRadon2D[T](ctx, y, h, o)
			})
		}
	}
	good := ops.FourierRadonOptions{Sampling: 1, Size: 8, First: 1, Last: 4}
	kinds := map[string]ops.RadonKind{"linear": ops.RadonLinear, "parabolic": ops.RadonParabolic}
	return operatorTest[T]{
		forms: []form[T]{{name: "Fourier Radon", make: func(ctx ctxt, x space) (op[T], error) {
			return over([]int{3, 2, 6}, good)(ctx, x, 0)
		}}},
		nowhere: func(ctx ctxt) (op[T], error) { return ops.FourierRadon2D[T](ctx, nil, h, good) },
		bad: []badCase[T]{
			{"model of a Fourier Radon transform", over([]int{3, 2, 2, 2}, good), []string{"Fourier Radon", "need 2 axes"}},
			{"slopes of frequencies", over([]int{4, 6}, good), []string{"3 slopes for axis 0", "which has 4"}},
			{"size of a Radon transform", over([]int{3, 9}, good), []string{"size is 8", "at least the 9"}},
			{"negative size of a Radon transform", over([]int{3, 6}, ops.FourierRadonOptions{Sampling: 1, Size: -8}), []string{"size is -8", "at least the 6"}},
			{"hyperbola of frequencies", over([]int{3, 6}, ops.FourierRadonOptions{Sampling: 1, Kinds: []ops.RadonKind{ops.RadonHyperbolic}}), []string{"kind is 2", "RadonParabolic"}},
			{"kinds of directions", over([]int{3, 6}, ops.FourierRadonOptions{Sampling: 1, Kinds: make([]ops.RadonKind, 2)}), []string{"2 kinds for 1 directions"}},
			{"coefficients", over([]int{3, 6}, ops.FourierRadonOptions{Sampling: 1, First: 3, Last: 2}), []string{"coefficients 3 to 2"}},
		},
		golden: goldenTest[T]{names: []string{"FourierRadon2D", "FourierRadon3D"}, make: func(_ *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			var k []ops.RadonKind
			for _, name := range c.Strings("kinds") {
				k = append(k, kinds[name])
			}
			band := c.Ints("flims")
			o := ops.FourierRadonOptions{Sampling: c.Float("dt"), Size: c.Int("nfft"), First: band[0], Last: band[1]}
			h := ops.RadonAxis{Offsets: c.Floats("hx"), Slopes: c.Floats("px")}
			if c.Op == "FourierRadon2D" {
				o.Kinds = k[:1]
				return ops.FourierRadon2D[T](ctx, x, h, o)
			}
			o.Kinds = k
			return ops.FourierRadon3D[T](ctx, x, [2]ops.RadonAxis{{Offsets: c.Floats("hy"), Slopes: c.Floats("py")}, h}, o)
		}},
	}
}

func BenchmarkFourierRadon2D(b *testing.B) {
	onTypes(b, plain, benchFourierRadon[float32], benchFourierRadon[float64])
}

func benchFourierRadon[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	var h ops.RadonAxis
	for i := range 40 {
		h.Offsets, h.Slopes = append(h.Offsets, float64(i)), append(h.Slopes, 0.1*float64(i)-2)
	}
	return onDims(x, []int{40, 500}, func(y space) (op[T], error) {
		return ops.FourierRadon2D[T](ctx, y, h, ops.FourierRadonDefaults())
	})
}

func ExampleFourierRadon2D() {
	// All of one slope, zero, goes to every offset. The mean over time remains.
	show([]int{1, 2}, []float64{2, 0}, func(ctx ctxt, x space) (op[float64], error) {
		o := ops.FourierRadonOptions{Sampling: 1, Last: 1}
		return ops.FourierRadon2D[float64](ctx, x, ops.RadonAxis{Offsets: []float64{0, 1}, Slopes: []float64{0}}, o)
	})
	// Output: [1 1 1 1]
}

func ExampleFourierRadon3D() {
	show([]int{1, 1, 2}, []float64{2, 0}, func(ctx ctxt, x space) (op[float64], error) {
		h := ops.RadonAxis{Offsets: []float64{0, 1}, Slopes: []float64{0}}
		return ops.FourierRadon3D[float64](ctx, x, [2]ops.RadonAxis{h, h}, ops.FourierRadonOptions{Sampling: 1, Last: 1})
	})
	// Output: [1 1 1 1 1 1 1 1]
}
