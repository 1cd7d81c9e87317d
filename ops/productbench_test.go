package ops_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/ops"
)

// BenchmarkSUMMA multiplies n × n matrices on a grid of ranks with one thread each, beside
// local products of the same work, of which no rank sends anything.
func BenchmarkSUMMA(b *testing.B) {
	for _, n := range []int{1024, 2048} {
		for _, ranks := range []int{2, 4} {
			for _, how := range []string{"local", "messages", "one-sided"} {
				for _, direction := range []string{"forward", "adjoint"} {
					b.Run(fmt.Sprintf("n=%d/ranks=%d/%s/%s", n, ranks, how, direction), func(b *testing.B) {
						summa(b, n, ranks, how, direction == "adjoint")
					})
				}
			}
		}
	}
}

func summa(b *testing.B, n, ranks int, how string, adjoint bool) {
	b.ReportAllocs()
	err := launch.Config{Ranks: ranks, Threads: 1}.Local(b.Context(), func(ctx context.Context, r dist.Proc) error {
		grid := dist.Layout{Grid: []int{ranks / 2, 2}}
		home, rows, columns, o := r, n, n, ops.ProductOptions{}
		switch how {
		case "local":
			home, grid, rows, columns = r.Alone(), dist.Layout{}, n/(ranks/2), n/2
		case "one-sided":
			o.Way = dist.OneSided
		}
		s, err := dist.NewSpace(ctx, home, grid, rows, n)
		if err != nil {
			return err
		}
		x, err := dist.NewSpace(ctx, home, grid, n, columns)
		if err != nil {
			return err
		}
		a, err := dist.Random[float64](ctx, s, 1)
		if err != nil {
			return err
		}
		op, err := ops.Product[float64](ctx, a, x, o)
		if err != nil {
			return err
		}
		u, err := dist.Random[float64](ctx, op.Domain(), 2)
		if err != nil {
			return err
		}
		v, err := dist.Random[float64](ctx, op.Range(), 3)
		if err != nil {
			return err
		}
		if adjoint {
			return inStep(ctx, b, r, func() error { return op.Adjoint(ctx, u, v) })
		}
		return inStep(ctx, b, r, func() error { return op.Forward(ctx, v, u) })
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(2*float64(n)*float64(n)*float64(n)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
}
