package solve

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/ops"
)

// slow returns a diagonal problem that takes more than ten iterations.
func slow(ctx context.Context, r dist.Proc) (Problem[float64, float64], dist.Array[float64], error) {
	s, err := dist.NewSpace(ctx, r, dist.Layout{}, 40)
	if err != nil {
		return Problem[float64, float64]{}, dist.Array[float64]{}, err
	}
	d, err := dist.FromFunc(ctx, s, func(i []int) float64 { return 1 + float64(i[0]) })
	if err != nil {
		return Problem[float64, float64]{}, d, err
	}
	a, err := ops.Diagonal(d)
	if err != nil {
		return Problem[float64, float64]{}, d, err
	}
	x, err := dist.New[float64](s)
	return Problem[float64, float64]{A: a, B: d}, x, err
}

// timed runs CGLS for 10 iterations of ten seconds each on three ranks, whose
// clocks differ, and returns the result of rank 0.
func timed(t *testing.T, c Config) (res Result) {
	t.Helper()
	err := testdevices.Local(t.Context(), 3, func(ctx context.Context, r dist.Proc) error {
		p, x, err := slow(ctx, r)
		if err != nil {
			return err
		}
		c := c
		c.MaxIter = 10
		start := time.Unix(1e9*int64(r.Rank()+1), 0)
		passed := time.Duration(0)
		c.OnIter = func(it Iteration) error {
			if it.Elapsed != passed {
				return fmt.Errorf("iteration %d: %v have passed, want %v", it.K, it.Elapsed, passed)
			}
			// The clock of rank 0 counts; those of the others go slower.
			passed += 10 * time.Second / time.Duration(1+100*r.Rank())
			return nil
		}
		run, err := newSession(ctx, &CGLS[float64, float64]{}, p, x, c)
		if err != nil {
			return err
		}
		run.now = func() time.Time { return start.Add(passed) }
		got, err := run.run(ctx)
		if r.Rank() == 0 {
			res = got
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return res
}

// Time passes ten seconds in each callback, so after iteration k it is 10·(k+1)
// seconds since the start.
func TestInterval(t *testing.T) {
	c := Config{Checkpoint: Checkpoint{Dir: t.TempDir(), Interval: 35 * time.Second, Keep: 99}}
	timed(t, c)
	f := folder{Checkpoint: c.Checkpoint}
	done, _, err := f.list()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{f.next(3), f.next(7), f.next(10)} // 40 s, 80 s, and the end
	slices.Reverse(want)
	if !slices.Equal(done, want) {
		t.Errorf("got %v, want %v", done, want)
	}
}

func TestBudget(t *testing.T) {
	res := timed(t, Config{Budget: 45 * time.Second})
	if res.Status != OutOfTime || res.Iters != 4 || res.Elapsed != 50*time.Second {
		t.Errorf("got %v after %d iterations and %v", res.Status, res.Iters, res.Elapsed)
	}
	dir := t.TempDir() // and leaves a state to go on from
	timed(t, Config{Budget: 45 * time.Second, Checkpoint: Checkpoint{Dir: dir, Keep: 2}})
	if res := timed(t, Config{Checkpoint: Checkpoint{Dir: dir, Resume: true, Keep: 2}}); res.Resumed != 4 || res.Iters != 10 || res.Status != MaxIter {
		t.Errorf("got %v after %d iterations from %d", res.Status, res.Iters, res.Resumed)
	}
}

// chronopoulosGear reports a denominator of which rounding leaves few digits.
func TestChronopoulosGear(t *testing.T) {
	for _, k := range []struct {
		gamma, old, alpha, delta, beta, denom float64
		lost                                  bool
	}{
		{2, 0, 0, 5, 0, 5, false},     // the first step
		{2, 4, 1, 5, 0.5, 4, false},   // 5 - 0.5·2/1
		{2, 4, 0.2, 5, 0.5, 0, true},  // 5 - 0.5·2/0.2 is zero
		{2, 4, 0.1, 5, 0.5, -5, true}, // and here negative
	} {
		if beta, denom, lost := chronopoulosGear(k.gamma, k.old, k.alpha, k.delta, 0.1); beta != k.beta || denom != k.denom || lost != k.lost {
			t.Errorf("%+v: got %g, %g and %t", k, beta, denom, lost)
		}
	}
}

func TestNames(t *testing.T) {
	f := folder{Checkpoint: Checkpoint{Dir: "a"}, last: 999998}
	for _, want := range []int{999999, 1000000} {
		if n, iter, ok := parseName(f.next(12345678)); !ok || n != want || iter != 12345678 {
			t.Errorf("got %d, %t, want %d", n, ok, want)
		}
	}
	for _, name := range []string{"", "iteration-1", "iteration-1-state-2", "iteration-2-state-x.checkpoint", "iteration-1-state--2.checkpoint",
		"iteration-1-state-2.checkpoint.bak", "xiteration-1-state-2.checkpoint", "iteration-1-state-2.checkpoint.tmp.tmp"} {
		if n, _, ok := parseName(name); ok {
			t.Errorf("%q has number %d", name, n)
		}
	}
}
