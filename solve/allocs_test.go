//go:build !race

package solve_test

import (
	"context"
	"fmt"
	"runtime"
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

// A step allocates nothing, in no element type, with and without damping.
func TestStepAllocs(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		for _, damp := range []float64{0, 0.5} {
			on(t, ranks, func(ctx context.Context, r dist.Proc) error {
				return all(
					func() error { return stepAllocs[float32](ctx, r, damp) }, func() error { return stepAllocs[float64](ctx, r, damp) },
					func() error { return stepAllocs[complex64](ctx, r, damp) }, func() error { return stepAllocs[complex128](ctx, r, damp) })
			})
		}
	}
}

func stepAllocs[T scalar.Scalar](ctx context.Context, r dist.Proc, damp float64) error {
	return each(ctx, r, 11, func(m maker[T], p problem[T], x dist.Array[T]) error {
		if m.ls {
			p.damp = damp
		}
		method := m.method()
		w, _, err := p.start(ctx, method, x)
		if err != nil {
			return err
		}
		const steps = 20
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

// A step of a method that was written outside the package allocates nothing either.
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
		if err != nil {
			return err
		}
		method := m.method()
		w, _, err := p.start(ctx, method, x)
		if err != nil {
			return err
		}
		const steps = 6
		n, err := mallocs(ctx, r, func() error {
			for range steps {
				if _, err := method.Step(ctx, w); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || n >= steps {
			return fmt.Errorf("%s: %d allocations in %d steps: %v", m.name, n, steps, err)
		}
	}
	return nil
}

// A step of a sparse method allocates nothing.
func TestSparseStepAllocs(t *testing.T) {
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		return eachSparse(ctx, r, 11, func(m sparseMaker[float64], s solve.Method[float64, float64], p problem[float64], x dist.Array[float64]) error {
			w, _, err := p.start(ctx, s, x)
			if err != nil {
				return err
			}
			const steps = 5
			n, err := mallocs(ctx, r, func() error {
				for range steps {
					if _, err := s.Step(ctx, w); err != nil {
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
	})
}
