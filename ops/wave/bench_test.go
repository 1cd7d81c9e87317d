package wave_test

import (
	"context"
	"slices"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/ops/wave"
	"github.com/golops/golops/scalar"
)

// BenchmarkKirchhoff is modelling and migration of 16 shots with 51 receivers
// over 201 × 150 points; a point is one image point of one trace.
func BenchmarkKirchhoff(b *testing.B) {
	for _, weighted := range []bool{false, true} {
		name := "plain"
		if weighted {
			name = "weighted"
		}
		b.Run(name+"/float32", func(b *testing.B) { benchKirchhoff[float32](b, weighted) })
		b.Run(name+"/float64", func(b *testing.B) { benchKirchhoff[float64](b, weighted) })
	}
}

func benchKirchhoff[T scalar.Scalar](b *testing.B, weighted bool) {
	for _, forward := range []bool{true, false} {
		name := "adjoint"
		if forward {
			name = "forward"
		}
		b.Run(name, func(b *testing.B) {
			err := testdevices.Local(b.Context(), 1, func(ctx context.Context, r dist.Proc) error {
				c, err := wave.NewConstant(wave.Grid{X: wave.Axis{N: 201, Step: 4}, Z: wave.Axis{N: 150, Step: 4}}, 1000)
				if err != nil {
					return err
				}
				k := wave.KirchhoffOptions{Times: c, Samples: 651, Interval: 0.004, Wavelet: make([]float64, 81), Centre: 40}
				for i := range 16 {
					k.Sources = append(k.Sources, wave.Point{X: float64(50 * i), Z: 10})
				}
				for i := range 51 {
					k.Receivers = append(k.Receivers, wave.Point{X: float64(16 * i), Z: 20})
				}
				if weighted {
					v := slices.Repeat([]float64{1000}, c.Grid().Nodes())
					if k.Weights, err = wave.NewDynamic(c.Grid(), v, k.Sources, k.Receivers, wave.Taper{}, wave.Taper{}); err != nil {
						return err
					}
				}
				op, err := wave.Kirchhoff[T](ctx, r, k)
				if err != nil {
					return err
				}
				x, err := dist.Random[T](ctx, op.Domain(), 1)
				if err != nil {
					return err
				}
				y, err := dist.Random[T](ctx, op.Range(), 2)
				if err != nil {
					return err
				}
				b.ReportAllocs()
				for b.Loop() {
					if forward {
						err = op.Forward(ctx, y, x)
					} else {
						err = op.Adjoint(ctx, x, y)
					}
					if err != nil {
						return err
					}
				}
				b.ReportMetric(float64(201*150*16*51)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gpoints/s")
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}
