package solve

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/golops/golops/comm"
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
// clocks differ and which have a saver each, and returns the result of rank 0.
func timed(t *testing.T, savers *[3]memory, c Config) (res Result) {
	t.Helper()
	err := testdevices.Local(t.Context(), 3, func(ctx context.Context, r dist.Proc) error {
		p, x, err := slow(ctx, r)
		if err != nil {
			return err
		}
		c := c
		c.MaxIter = 10
		if savers != nil {
			c.Checkpoint.Saver = &savers[r.Rank()]
		}
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

// memory is a Saver that keeps states in the memory of one rank.
type memory struct {
	state   *State // the newest
	vectors [][]float64
	iters   []int // of all states
}

func (m *memory) Validate() error { return nil }

func (m *memory) String() string { return "memory" }

func (m *memory) Open(context.Context, *comm.Comm, func(string)) (States, error) { return m, nil }

func (m *memory) Close() {}

func (m *memory) Save(_ context.Context, s *State) (refused, err error) {
	m.state, m.vectors, m.iters = s, nil, append(m.iters, s.Iters)
	for _, v := range s.Vectors {
		host, err := v.Array.(dist.Array[float64]).Host()
		if err != nil {
			return nil, err
		}
		m.vectors = append(m.vectors, host)
	}
	return nil, nil
}

func (m *memory) Load(_ context.Context, s *State) (found bool, err error) {
	if m.state == nil {
		return false, nil
	}
	s.Iters, s.History, s.Numbers = m.state.Iters, m.state.History, m.state.Numbers
	for i, v := range s.Vectors {
		if err := v.Array.(dist.Array[float64]).Local().CopyIn(m.vectors[i]); err != nil {
			return false, err
		}
	}
	return true, nil
}

// Time passes ten seconds in each callback, so after iteration k it is 10·(k+1)
// seconds since the start.
func TestInterval(t *testing.T) {
	var m [3]memory
	timed(t, &m, Config{Checkpoint: Checkpoint{Interval: 35 * time.Second}})
	for rank, m := range m {
		if want := []int{3, 7, 10}; !slices.Equal(m.iters, want) { // 40 s, 80 s, and the end
			t.Errorf("rank %d: got %v, want %v", rank, m.iters, want)
		}
	}
}

func TestBudget(t *testing.T) {
	res := timed(t, nil, Config{Budget: 45 * time.Second})
	if res.Status != OutOfTime || res.Iters != 4 || res.Elapsed != 50*time.Second {
		t.Errorf("got %v after %d iterations and %v", res.Status, res.Iters, res.Elapsed)
	}
	var m [3]memory // and leaves a state to go on from
	timed(t, &m, Config{Budget: 45 * time.Second})
	if res := timed(t, &m, Config{}); res.Resumed != 4 || res.Iters != 10 || res.Status != MaxIter {
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
