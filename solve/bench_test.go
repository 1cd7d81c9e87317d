package solve_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// passes is how many vectors one step of a method reads and writes, with a
// diagonal operator, which takes three per application, and a device that
// updates and measures a vector in one pass.
var passes = map[string]int{
	"CG":                    3 + 2 + 3 + 3 + 3,                 // Ad; dᴴAd; x; r; d
	"CG with one message":   3 + 3 + 3 + 3 + 3 + 2,             // d; s; x; r; Ar; rᴴAr
	"MINRES":                3 + 3 + 2 + 3 + 2 + 3 + 3 + 3,     // Av; -γ·v_old; δ; v_new, scaled; w in two; x
	"CGLS":                  3 + 1 + 3 + 3 + 3 + 1 + 3,         // Ad; ‖q‖²; x; r; g; ‖g‖²; d
	"CGLS with one message": 3 + 3 + 3 + 3 + 3 + 3 + 1 + 1,     // d; q; x; r; g; A·g; ‖g‖²; ‖A·g‖²
	"LSQR":                  3 + 3 + 1 + 2 + 3 + 3 + 3 + 2 + 3, // A·v; u; ‖u‖², scaled; x; Aᴴu; v, scaled; w
}

// BenchmarkStep is one step of each method, as bytes of vectors per second.
func BenchmarkStep(b *testing.B) {
	const n = 1 << 20
	for _, ranks := range []int{1, 2} {
		for _, m := range methods[float32]() {
			b.Run(fmt.Sprintf("%s/float32/ranks=%d", m.name, ranks), func(b *testing.B) { benchStep(b, m, ranks, n) })
		}
		for _, m := range methods[complex128]() {
			b.Run(fmt.Sprintf("%s/complex128/ranks=%d", m.name, ranks), func(b *testing.B) { benchStep(b, m, ranks, n/4) })
		}
	}
}

// BenchmarkShortStep is a step of vectors that are nothing beside the messages.
func BenchmarkShortStep(b *testing.B) {
	for _, ranks := range []int{1, 2} {
		for _, m := range methods[float64]() {
			b.Run(fmt.Sprintf("%s/ranks=%d", m.name, ranks), func(b *testing.B) { benchStep(b, m, ranks, 64) })
		}
	}
}

func benchStep[T scalar.Scalar](b *testing.B, m maker[T], ranks, n int) {
	b.SetBytes(int64(passes[m.name] * n * scalar.Of[T]().Size()))
	b.ReportAllocs()
	err := testdevices.Local(b.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{}, n)
		if err != nil {
			return err
		}
		d, err := dist.FromFunc(ctx, s, func(i []int) T { return scalar.From[T](complex(1+1e3*float64(i[0])/float64(n), 0)) })
		if err != nil {
			return err
		}
		x, err := dist.New[T](s)
		if err != nil {
			return err
		}
		p := problem[T]{Problem: solve.Problem[T, T]{B: d}}
		if p.A, err = ops.Diagonal(d); err != nil {
			return err
		}
		method := m.method()
		w, _, err := p.start(ctx, method, x)
		if err != nil {
			return err
		}
		if r.Rank() == 0 {
			b.ResetTimer()
		}
		for k := range b.N { // each rank its own count: b.Loop is for one goroutine
			step := method.Step
			if k%40 == 39 { // before there is nothing left to gain
				dist.Zero(x)
				step = func(ctx context.Context, w *solve.Workspace[T, T]) (solve.Norms, error) { return w.Start(ctx, method) }
			}
			if _, err := step(ctx, w); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Error(err)
	}
}
