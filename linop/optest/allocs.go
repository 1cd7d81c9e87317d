package optest

import (
	"context"
	"fmt"
	"runtime"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Runs of one measurement, and how often it is repeated before other parts of
// the program can no longer be the cause.
const allocRuns, allocTries = 20, 40

// Allocs checks that Forward and Adjoint allocate nothing once they have run,
// on all ranks together: less than one allocation per application. What other
// goroutines allocate meanwhile is counted too, so that the best of a few
// measurements decides.
func Allocs[D, R scalar.Scalar](ctx context.Context, a linop.Map[D, R]) error {
	if err := valid(a); err != nil {
		return err
	}
	err := allocs(ctx, a)
	if err := agree(ctx, a, "allocations of forward", err); err != nil {
		return err
	}
	err = allocs(ctx, linop.H(a))
	return agree(ctx, a, "allocations of adjoint", err)
}

func allocs[D, R scalar.Scalar](ctx context.Context, a linop.Map[D, R]) error {
	x, y, err := image(ctx, a, 0)
	if err != nil {
		return err
	}
	c := a.Domain().Comm()
	least := int64(-1)
	for range allocTries {
		n, err := mallocs(ctx, c, a, y, x)
		if err != nil {
			return err
		}
		if least < 0 || n < least {
			least = n
		}
		if least < allocRuns {
			return nil
		}
	}
	return fmt.Errorf("%d allocations in %d applications on all ranks together", least, allocRuns)
}

// mallocs returns how many allocations several applications take in a process.
// Ranks of one process see the same number; of several, the largest counts.
func mallocs[D, R scalar.Scalar](ctx context.Context, c *comm.Comm, a linop.Map[D, R], y dist.Array[R], x dist.Array[D]) (int64, error) {
	var before, after runtime.MemStats
	for i := range 2 { // the first time to warm up
		n := 3
		if i > 0 {
			n = allocRuns
		}
		if err := c.Barrier(ctx); err != nil {
			return 0, err
		}
		runtime.ReadMemStats(&before)
		if err := c.Barrier(ctx); err != nil {
			return 0, err
		}
		for range n {
			if err := a.Forward(ctx, y, x); err != nil {
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
