package ops_test

import (
	"context"
	"math"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(chirpRadonTest[float32], chirpRadonTest[float64], chirpRadonTest[complex64], chirpRadonTest[complex128])

func chirpRadonTest[T scalar.Scalar]() operatorTest[T] {
	over := func(dims []int, o ops.ChirpRadonOptions) func(ctx ctxt, x space, _ int) (op[T], error) {
		return func(ctx ctxt, x space, _ int) (op[T], error) {
			return onDims(x, dims, func(y space) (op[T], error) {
				if len(dims) == 3 {
					return ops.ChirpRadon3D[T](ctx, y, o)
				}
				return ops.ChirpRadon2D[T](ctx, y, o)
			})
		}
	}
	slopes := func(p ...float64) ops.ChirpRadonOptions { return ops.ChirpRadonOptions{MaxSlopes: p} }
	return operatorTest[T]{
		forms: []form[T]{
			{name: "chirp Radon", make: func(ctx ctxt, x space) (op[T], error) { return over([]int{5, 6}, slopes(0.8))(ctx, x, 0) }},
			{name: "chirp Radon 3D, inverse", make: func(ctx ctxt, x space) (op[T], error) {
				return over([]int{3, 2, 6}, ops.ChirpRadonOptions{MaxSlopes: []float64{0.8, 0.5}, Inverse: true})(ctx, x, 0)
			}},
		},
		nowhere: func(ctx ctxt) (op[T], error) { return ops.ChirpRadon2D[T](ctx, nil, slopes(1)) },
		bad: []badCase[T]{
			{"data of a chirp Radon transform", over([]int{3, 2, 2, 2}, slopes(1)), []string{"chirp Radon", "need 2 axes"}},
			{"slope of a chirp", over([]int{3, 6}, slopes(-0.5)), []string{"max slope is -0.5", "above 0"}},
			{"no slope of a chirp", over([]int{3, 6}, slopes(math.NaN())), []string{"max slope is NaN", "finite"}},
			{"slopes of chirps", over([]int{3, 2, 6}, slopes(1)), []string{"max slopes [1]", "2 directions"}},
		},
		golden: goldenTest[T]{names: []string{"ChirpRadon2D", "ChirpRadon3D"}, make: func(_ *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			o := ops.ChirpRadonOptions{MaxSlopes: c.Floats("slopes"), Inverse: c.Bool("inverse")}
			if c.Op == "ChirpRadon2D" {
				return ops.ChirpRadon2D[T](ctx, x, o)
			}
			return ops.ChirpRadon3D[T](ctx, x, o)
		}},
	}
}

// The chirps give what the matrices of FourierRadon2D give, for the same slopes and offsets,
// around the middle.
func TestChirpRadonIsFourierRadon(t *testing.T) {
	const n, samples, p = 6, 9, 0.7
	h := ops.RadonAxis{}
	for i := range n {
		x := float64(i - n/2)
		h.Offsets, h.Slopes = append(h.Offsets, x), append(h.Slopes, -2*p*x/n)
	}
	err := launch.Config{Ranks: 2}.Local(t.Context(), func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{}, n, samples)
		if err != nil {
			return err
		}
		x, err := dist.FromFunc(ctx, s, func(i []int) float64 { return math.Sin(float64(i[0]*i[0] + 7*i[1])) })
		if err != nil {
			return err
		}
		var all [2][]float64
		for i, build := range []func() (op[float64], error){
			func() (op[float64], error) {
				return ops.ChirpRadon2D[float64](ctx, s, ops.ChirpRadonOptions{MaxSlopes: []float64{p}})
			},
			func() (op[float64], error) {
				return ops.FourierRadon2D[float64](ctx, s, h, ops.FourierRadonDefaults())
			},
		} {
			a, err := build()
			if err != nil {
				return err
			}
			y, err := dist.New[float64](a.Range())
			if err != nil {
				return err
			}
			if err := a.Forward(ctx, y, x); err != nil {
				return err
			}
			if all[i], err = gather(ctx, y); err != nil {
				return err
			}
		}
		return near(all[0], all[1], 1e-13)
	})
	if err != nil {
		t.Error(err)
	}
}

func BenchmarkChirpRadon2D(b *testing.B) {
	onTypes(b, plain, benchChirpRadon[float32], benchChirpRadon[float64])
}

func benchChirpRadon[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	return onDims(x, []int{40, 500}, func(y space) (op[T], error) {
		return ops.ChirpRadon2D[T](ctx, y, ops.ChirpRadonOptions{MaxSlopes: []float64{2}})
	})
}

func ExampleChirpRadon2D() {
	// Two equal traces add up at slope zero, the second one. At slope -1 the first comes one sample early.
	show([]int{2, 3}, []float64{1, 0, 0, 1, 0, 0}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.ChirpRadon2D[float64](ctx, x, ops.ChirpRadonOptions{MaxSlopes: []float64{1}})
	})
	// Output: [1 0 1 2 0 0]
}

func ExampleChirpRadon3D() {
	show([]int{2, 2, 2}, []float64{1, 0, 1, 0, 1, 0, 1, 0}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.ChirpRadon3D[float64](ctx, x, ops.ChirpRadonOptions{MaxSlopes: []float64{1, 1}})
	})
	// Output: [2 2 2 2 2 2 4 0]
}
