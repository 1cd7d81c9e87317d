package solve_test

import (
	"context"
	"testing"
	"time"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/prox"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// BenchmarkTV is a step of PrimalDual for ½‖x - b‖² + σ‖∇x‖₂₁ of a picture, as bytes
// per second and as a part of what copying vectors of this size has.
func BenchmarkTV(b *testing.B) {
	b.Run("float64", func(b *testing.B) { benchTV[float64](b, 512, 1) })
	b.Run("float32", func(b *testing.B) { benchTV[float32](b, 512, 1) })
	b.Run("float64, cost every 50", func(b *testing.B) { benchTV[float64](b, 512, 50) })
}

func benchTV[T scalar.Scalar](b *testing.B, n, every int) {
	b.ReportAllocs()
	err := testdevices.Local(b.Context(), 1, func(ctx context.Context, r dist.Proc) error {
		x, err := dist.NewSpace(ctx, r, dist.Layout{}, n, n)
		if err != nil {
			return err
		}
		data, err := dist.Random[T](ctx, x, 1)
		if err != nil {
			return err
		}
		var e built
		grad, err := ops.Gradient[T](ctx, x, ops.GradientOptions{Kind: ops.DerivativeForward})
		if err != nil {
			return err
		}
		l2, err := prox.L2(ctx, x, data, 1)
		f := build(&e, l2, err)
		l21, err := prox.L21[T](ctx, grad.Range(), 0.1)
		g := build(&e, l21, err)
		y, err := dist.New[T](x)
		build(&e, y, err)
		if e.err != nil {
			return e.err
		}
		m := &solve.PrimalDual[T, T]{F: f, G: g, Tau: 0.35, Mu: 0.35, Theta: 1, CostEvery: every}
		w, err := solve.NewWorkspace(solve.Problem[T, T]{A: grad}, y, 0)
		if err != nil {
			return err
		}
		if _, err := w.Start(ctx, m); err != nil {
			return err
		}
		// Elements per point that a step reads or writes: y 12, its prox 4, Aᴴ 4, x 3, its
		// prox 3, A 4, the step 3 and the copy to x 2. The cost takes 6 more.
		elements := 35.0
		if every == 1 {
			elements = 41
		}
		bytes := elements * float64(n*n*scalar.Of[T]().Size())
		start := time.Now()
		const copies = 40
		for range copies {
			dist.Copy(y, data)
		}
		copied := copies * 2 * float64(n*n*scalar.Of[T]().Size()) / time.Since(start).Seconds()
		dist.Zero(y)
		b.SetBytes(int64(bytes))
		b.ResetTimer()
		start = time.Now()
		for range b.N {
			if _, err := m.Step(ctx, w); err != nil {
				return err
			}
		}
		b.ReportMetric(100*float64(b.N)*bytes/time.Since(start).Seconds()/copied, "%copy")
		return nil
	})
	if err != nil {
		b.Error(err)
	}
}
