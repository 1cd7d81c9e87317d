package proxtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// Alike checks that all ranks of a group get the very same value.
func Alike[T scalar.Scalar](ctx context.Context, c Config, f solve.Function[T], x *dist.Space) error {
	t := newTester(c, f, x)
	a := t.random(ctx, 80)
	t.prox(ctx, a, t.taus()[0], a)
	v := []float64{t.value(ctx, a)}
	all := make([]float64, x.Group().Size())
	if err := x.Group().AllGather(ctx, comm.Of(all), comm.Of(v)); err != nil {
		return err
	}
	for r, w := range all {
		if math.Float64bits(w) != math.Float64bits(v[0]) {
			t.fail(fmt.Errorf("the value is %.17g here and %.17g on rank %d", v[0], w, r))
		}
	}
	return t.end(ctx, "equal values")
}

// Refuses checks that a step that is NaN, infinite, zero or negative is an error, and
// so is an array of another space.
func Refuses[T scalar.Scalar](ctx context.Context, f solve.Function[T], x *dist.Space) error {
	t := newTester(Config{}, f, x)
	a, p, scratch := t.random(ctx, 90), t.zero(), t.zero()
	refused := func(what string, call func() error) {
		if err := caught(call); err == nil {
			t.fail(fmt.Errorf("%s gives no error", what))
		} else if e := (panicError{}); errors.As(err, &e) {
			t.fail(fmt.Errorf("%s gives a panic instead of an error: %w", what, err))
		}
	}
	for _, tau := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1} {
		refused(fmt.Sprintf("prox with a step of %g", tau), func() error { return f.Prox(ctx, p, tau, a) })
		refused(fmt.Sprintf("dual prox with a step of %g", tau), func() error { return solve.DualProx(ctx, f, p, tau, a, scratch) })
	}
	other, err := x.Like(dist.Replicated, x.Shape().Size()+1)
	if x.Parts() != nil {
		other, err = x.Leaves()[0].Like(dist.Replicated, x.Shape().Size()+1)
	}
	t.fail(err)
	if err == nil {
		b, err := dist.New[T](other)
		t.fail(err)
		refused("the value of an array of another space", func() error { _, err := f.Value(ctx, b); return err })
		refused("the prox of an array of another space", func() error { return f.Prox(ctx, p, 1, b) })
		refused("the prox into an array of another space", func() error { return f.Prox(ctx, b, 1, a) })
		refused("the value of an array that was never made", func() error { _, err := f.Value(ctx, dist.Array[T]{}); return err })
		if s, ok := f.(solve.Smooth[T]); ok {
			refused("the gradient of an array of another space", func() error { return s.Gradient(ctx, p, b) })
		}
	}
	return t.end(ctx, "refusing")
}

// panicError is a panic as an error.
type panicError struct{ value any }

func (e panicError) Error() string { return fmt.Sprint("panic: ", e.value) }

func caught(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicError{v}
		}
	}()
	return f()
}

// Runs of one measurement, and how often it is repeated before other parts of the
// program can no longer be the cause.
const allocRuns, allocTries = 5, 40

// Allocs checks that Value, Prox, DualProx and Gradient allocate nothing once they have
// run, on all ranks together: less than one allocation per call. What other goroutines
// allocate meanwhile is counted too, so that the best of a few measurements decides.
func Allocs[T scalar.Scalar](ctx context.Context, c Config, f solve.Function[T], x *dist.Space) error {
	t := newTester(c, f, x)
	a, p, scratch, tau := t.random(ctx, 95), t.zero(), t.zero(), c.taus()[0]
	t.allocs(ctx, "value", func() error { _, err := f.Value(ctx, a); return err })
	t.allocs(ctx, "prox", func() error { return f.Prox(ctx, p, tau, a) })
	t.allocs(ctx, "dual prox", func() error { return solve.DualProx(ctx, f, p, tau, a, scratch) })
	if s, ok := f.(solve.Smooth[T]); ok {
		t.allocs(ctx, "gradient", func() error { return s.Gradient(ctx, p, a) })
	}
	return t.end(ctx, "allocations")
}

func (t *tester[T]) allocs(ctx context.Context, what string, call func() error) {
	least := int64(math.MaxInt64)
	for range allocTries {
		n, err := mallocs(ctx, t.x.Comm(), call)
		if err != nil {
			t.fail(err)
			return
		}
		if least = min(least, n); least < allocRuns {
			return
		}
	}
	t.fail(fmt.Errorf("%s: %d allocations in %d calls on all ranks together", what, least, allocRuns))
}

// mallocs returns how many allocations several calls take in a process. Ranks of one
// process see the same number; of several, the largest counts.
func mallocs(ctx context.Context, c *comm.Comm, call func() error) (int64, error) {
	var before, after runtime.MemStats
	for _, n := range []int{2, allocRuns} { // the first time to warm up
		if err := c.Barrier(ctx); err != nil {
			return 0, err
		}
		runtime.ReadMemStats(&before)
		if err := c.Barrier(ctx); err != nil {
			return 0, err
		}
		for range n {
			if err := call(); err != nil {
				return 0, err
			}
		}
		if err := c.Barrier(ctx); err != nil {
			return 0, err
		}
		runtime.ReadMemStats(&after)
	}
	worst := []int64{int64(after.Mallocs - before.Mallocs)}
	err := c.AllReduce(ctx, comm.Of(worst), comm.Of(worst), comm.Max)
	return worst[0], err
}
