//go:build !race

package solve_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// mallocs returns the fewest allocations of the whole process in f, of a few
// tries. f is collective.
func mallocs(ctx context.Context, r dist.Proc, f func() error) (uint64, error) {
	var before, after runtime.MemStats
	least := ^uint64(0)
	for range 5 {
		if err := r.Barrier(ctx); err != nil {
			return 0, err
		}
		runtime.ReadMemStats(&before)
		if err := r.Barrier(ctx); err != nil {
			return 0, err
		}
		if err := f(); err != nil {
			return 0, err
		}
		if err := r.Barrier(ctx); err != nil {
			return 0, err
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	return least, nil
}

// stepAllocs wants several steps of a method to allocate nothing.
func stepAllocs[T scalar.Scalar](ctx context.Context, r dist.Proc, m solve.Method[T, T], p problem[T], x dist.Array[T], steps int) error {
	w, _, err := p.start(ctx, m, x)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name(), err)
	}
	n, err := mallocs(ctx, r, func() error {
		for range steps {
			if _, err := m.Step(ctx, w); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || n >= uint64(steps) {
		return fmt.Errorf("%s of %v: %d allocations in %d steps: %w", m.Name(), scalar.Of[T](), n, steps, err)
	}
	return nil
}

// A step allocates nothing, in no element type, with and without damping.
func TestStepAllocs(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		for _, damp := range []float64{0, 0.5} {
			on(t, ranks, func(ctx context.Context, r dist.Proc) error {
				return all(
					func() error { return allocsOfEach[float32](ctx, r, damp) }, func() error { return allocsOfEach[float64](ctx, r, damp) },
					func() error { return allocsOfEach[complex64](ctx, r, damp) }, func() error { return allocsOfEach[complex128](ctx, r, damp) })
			})
		}
	}
}

func allocsOfEach[T scalar.Scalar](ctx context.Context, r dist.Proc, damp float64) error {
	err := each(ctx, r, 11, func(m maker[T], p problem[T], x dist.Array[T]) error {
		if m.ls {
			p.damp = damp
		}
		return stepAllocs(ctx, r, m.method(), p, x, 20)
	})
	if err != nil || damp != 0 {
		return err
	}
	return eachKrylov(ctx, r, dist.Layout{}, func(m maker[T], p problem[T], x dist.Array[T]) error {
		return stepAllocs(ctx, r, m.method(), p, x, 10)
	})
}

// Nor does a step of a method that was written outside the package.
func TestOwnMethodAllocs(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		on(t, ranks, func(ctx context.Context, r dist.Proc) error {
			return all(func() error { return ownAllocs[float64](ctx, r) }, func() error { return ownAllocs[complex64](ctx, r) })
		})
	}
}

func ownAllocs[T scalar.Scalar](ctx context.Context, r dist.Proc) error {
	for _, m := range ownMethods[T]() {
		p, err := m.problem(ctx, r, 5)
		if err != nil {
			return err
		}
		x, err := dist.New[T](p.A.Domain())
		if err == nil {
			err = stepAllocs(ctx, r, m.method(), p, x, 6)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Nor does a step of a sparse method.
func TestSparseStepAllocs(t *testing.T) {
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		return eachSparse(ctx, r, 11, func(_ sparseMaker[float64], m solve.Method[float64, float64], p problem[float64], x dist.Array[float64]) error {
			return stepAllocs(ctx, r, m, p, x, 5)
		})
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
	parts, err := newSplittingParts[T](ctx, r, s)
	if err != nil {
		return err
	}
	for _, c := range s.Cases {
		if strings.HasPrefix(c.Name, "mpi") || c.Name == "ADMML2 True" || c.Name == "ADMML2 False" {
			continue
		}
		m, p := parts.method(c.Name)
		x, err := vector(ctx, parts.x, elements[T](s.Arrays["x0"]))
		if err == nil {
			err = stepAllocs(ctx, r, m, problem[T]{Problem: p}, x, 20)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return nil
}

// Run allocates nothing per iteration either, with a callback and a budget.
func TestRunAllocs(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		on(t, ranks, func(ctx context.Context, r dist.Proc) error {
			return each(ctx, r, 11, func(m maker[complex64], p problem[complex64], x dist.Array[complex64]) error {
				method := m.method()
				c := solve.Config{Budget: time.Hour,
					OnIter: func(solve.Iteration) error { return nil }}
				var n [2]uint64
				for i := range n {
					c.MaxIter = 3 + 6*i
					var err error
					n[i], err = mallocs(ctx, r, func() error {
						dist.Zero(x)
						_, err := p.run(ctx, method, x, c)
						return err
					})
					if err != nil {
						return err
					}
				}
				if n[1] > n[0]+5 {
					return fmt.Errorf("%d allocations in 3 iterations, %d in 9", n[0], n[1])
				}
				return nil
			})
		})
	}
}
