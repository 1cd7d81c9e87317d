package golops_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/golops/golops"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/solve"
)

// BenchmarkCGLS runs 100 iterations of CGLS on 60 × 40 through the front door and
// below it, one after the other, and reports the time of an iteration of both, the
// least of all turns, and their ratio.
func BenchmarkCGLS(b *testing.B) {
	for _, ranks := range []int{1, 3} {
		b.Run(fmt.Sprintf("ranks=%d", ranks), func(b *testing.B) {
			const steps = 100
			c := golops.Config{MaxIter: steps, PastRounding: true}
			least := [2]time.Duration{time.Hour, time.Hour}
			err := golops.Run(b.Context(), launch.Config{Ranks: ranks}, func(w *golops.World) error {
				X := w.Real(60, 40)
				A := golops.FirstDerivative(X, 0).Plus(golops.Identity(X).Scaled(0.5))
				y := A.Apply(X.Random(1))
				below, err := withoutDoor(w.Context(), w.Proc(), c)
				if err != nil {
					return err
				}
				for k := range b.N {
					for i := range 2 { // who comes first changes
						if err := w.Proc().Barrier(w.Context()); err != nil {
							return err
						}
						start, way := time.Now(), (i+k)%2
						if way == 0 {
							golops.CGLS(A, y, c)
						} else if err := below(); err != nil {
							return err
						}
						if d := time.Since(start); w.Rank() == 0 {
							least[way] = min(least[way], d)
						}
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(least[0].Nanoseconds())/steps, "door-ns/iteration")
			b.ReportMetric(float64(least[1].Nanoseconds())/steps, "below-ns/iteration")
			b.ReportMetric(float64(least[0])/float64(least[1]), "ratio")
		})
	}
}

// withoutDoor returns the same inversion in terms of dist, linop, ops and solve.
func withoutDoor(ctx context.Context, r dist.Proc, c solve.Config) (func() error, error) {
	s, err := dist.NewSpace(ctx, r, dist.Layout{}, 60, 40)
	if err != nil {
		return nil, err
	}
	d, err := ops.FirstDerivative[float64](ctx, s, 0, ops.DerivativeDefaults())
	if err != nil {
		return nil, err
	}
	i, err := ops.Identity[float64](s)
	if err != nil {
		return nil, err
	}
	half, err := linop.Scale(0.5, i)
	if err != nil {
		return nil, err
	}
	a, err := linop.Add(d, half)
	if err != nil {
		return nil, err
	}
	x, err := dist.Random[float64](ctx, s, 1)
	if err != nil {
		return nil, err
	}
	y, err := linop.Apply(ctx, a, x)
	if err != nil {
		return nil, err
	}
	return func() error {
		x, err := dist.New[float64](s)
		if err != nil {
			return err
		}
		_, err = solve.Run(ctx, &solve.CGLS[float64, float64]{}, solve.Problem[float64, float64]{A: a, B: y}, x, c)
		return err
	}, nil
}
