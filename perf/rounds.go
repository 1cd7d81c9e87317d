package perf

import (
	"context"
	"math"
	"time"

	"github.com/golops/golops/comm"
)

// rounds says how often a call is timed.
type rounds struct {
	n    int           // the best of so many counts
	loop time.Duration // the least time of a round, on rank 0
	most int           // calls in a round at most; 0 means any number
}

// best returns the least seconds of one call of each function, from the first rank that begins to the last that ends. Rounds
// of all functions alternate, so that a busy moment of the machine falls on all of them.
// It is collective.
func (r rounds) best(ctx context.Context, c *comm.Comm, calls ...func(context.Context) error) ([]float64, error) {
	counts, least := make([]int, len(calls)), make([]float64, len(calls))
	for i, call := range calls {
		least[i] = math.Inf(1)
		var err error
		if counts[i], err = r.count(ctx, c, call); err != nil {
			return nil, err
		}
	}
	for range r.n {
		for i, call := range calls {
			s, err := timed(ctx, c, call, counts[i])
			if err != nil {
				return nil, err
			}
			least[i] = min(least[i], s/float64(counts[i]))
		}
	}
	return least, nil
}

// count returns how many calls a round needs. It is the same on all ranks.
func (r rounds) count(ctx context.Context, c *comm.Comm, call func(context.Context) error) (int, error) {
	if _, err := timed(ctx, c, call, 1); err != nil { // touches memory
		return 0, err
	}
	for n := 1; ; n *= 2 {
		s, err := timed(ctx, c, call, n)
		if err != nil || s >= r.loop.Seconds() || r.most > 0 && 2*n > r.most {
			return n, err
		}
	}
}

// timed returns the seconds of n calls, from the first rank that begins to the last that
// ends: with more ranks than cores some begin late. It is collective.
func timed(ctx context.Context, c *comm.Comm, call func(context.Context) error, n int) (float64, error) {
	if err := c.Barrier(ctx); err != nil {
		return 0, err
	}
	began := time.Now()
	if _, err := loop(ctx, call, n); err != nil {
		return 0, err
	}
	if err := c.Barrier(ctx); err != nil {
		return 0, err
	}
	s := []float64{time.Since(began).Seconds()}
	err := c.AllReduce(ctx, comm.Of(s), comm.Of(s), comm.Max)
	return s[0], err
}
