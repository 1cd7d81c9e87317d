//go:build !race

package solve_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

func TestKrylovAllocs(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		on(t, ranks, func(ctx context.Context, r dist.Proc) error {
			return all(func() error { return krylovAllocs[float32](ctx, r) }, func() error { return krylovAllocs[float64](ctx, r) },
				func() error { return krylovAllocs[complex64](ctx, r) }, func() error { return krylovAllocs[complex128](ctx, r) })
		})
	}
}

func krylovAllocs[T scalar.Scalar](ctx context.Context, r dist.Proc) error {
	return eachKrylov(ctx, r, dist.Layout{}, func(m maker[T], p problem[T], x dist.Array[T]) error {
		method := m.method()
		w, _, err := p.start(ctx, method, x)
		if err != nil {
			return err
		}
		const steps = 10
		n, err := mallocs(ctx, r, func() error {
			for range steps {
				if _, err := method.Step(ctx, w); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil && n >= steps {
			err = fmt.Errorf("%d allocations in %d steps", n, steps)
		}
		return err
	})
}

// Nor does a step of the splitting methods, with functions of package prox.
func TestSplittingAllocs(t *testing.T) {
	every := readSplitting(t)
	for _, ranks := range []int{1, 3} {
		on(t, ranks, func(ctx context.Context, r dist.Proc) error {
			return all(func() error { return splittingAllocs[float64](ctx, r, every[0]) }, func() error { return splittingAllocs[complex64](ctx, r, every[1]) })
		})
	}
}

func splittingAllocs[T scalar.Scalar](ctx context.Context, r dist.Proc, s splittingCases) error {
	p, err := newSplittingParts[T](ctx, r, s)
	if err != nil {
		return err
	}
	for _, c := range s.Cases {
		if strings.HasPrefix(c.Name, "mpi") || c.Name == "ADMML2 True" || c.Name == "ADMML2 False" {
			continue
		}
		m, problem := p.method(c.Name)
		x, err := vector(ctx, p.x, elements[T](s.Arrays["x0"]))
		if err != nil {
			return err
		}
		w, err := solve.NewWorkspace(problem, x, 0)
		if err != nil {
			return err
		}
		if _, err := w.Start(ctx, m); err != nil {
			return err
		}
		const steps = 20
		n, err := mallocs(ctx, r, func() error {
			for range steps {
				if _, err := m.Step(ctx, w); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || n >= steps {
			return fmt.Errorf("%s of %v: %d allocations in %d steps: %w", c.Name, scalar.Of[T](), n, steps, err)
		}
	}
	return nil
}
