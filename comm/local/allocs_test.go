package local_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/comm/local"
)

// TestAllocs asserts that calls allocate nothing once they have run, with each
// algorithm, small and large.
func TestAllocs(t *testing.T) {
	const runs = 300
	for _, algo := range []driver.Algo{driver.Direct, driver.Ring, driver.Tree} {
		for _, n := range []int{64, 40000} {
			err := local.Config{Algo: algo}.Run(t.Context(), 2, func(ctx context.Context, c *comm.Comm) error {
				src, dst := comm.Of(make([]float32, n)), comm.Of(make([]float32, n))
				half := src.Slice(0, n/2)
				counts := []int{n / 4, n - n/4}
				at := driver.Offset(counts, c.Rank())
				dstBlock, srcBlock := dst.Slice(at, at+counts[c.Rank()]), src.Slice(at, at+counts[c.Rank()])
				peer := 1 - c.Rank()
				group := func() error {
					if err := c.Send(ctx, src, peer); err != nil {
						return err
					}
					return c.Recv(ctx, dst, peer)
				}
				own, other := comm.Of(make([]float32, n)), comm.Of(make([]float32, n))
				x, err := comm.NewExchange(c, []comm.Leg{{Peer: peer, Buf: dst}, {Peer: c.Rank(), Buf: own}},
					[]comm.Leg{{Peer: peer, Buf: src}, {Peer: c.Rank(), Buf: other}})
				if err != nil {
					return err
				}
				for _, k := range []struct {
					name string
					call func() error
				}{
					{"Barrier", func() error { return c.Barrier(ctx) }},
					{"AllReduce", func() error { return c.AllReduce(ctx, dst, src, comm.Sum) }},
					{"Reduce", func() error { return c.Reduce(ctx, dst, src, comm.Max, 1) }},
					{"Broadcast", func() error { return c.Broadcast(ctx, dst, 1) }},
					{"AllGather", func() error { return c.AllGather(ctx, dst, half) }},
					{"AllGatherV", func() error { return c.AllGatherV(ctx, dst, counts, srcBlock) }},
					{"Gather", func() error { return c.Gather(ctx, dst, half, 0) }},
					{"GatherV", func() error { return c.GatherV(ctx, dst, counts, srcBlock, 0) }},
					{"Scatter", func() error { return c.Scatter(ctx, half, dst, 1) }},
					{"ScatterV", func() error { return c.ScatterV(ctx, dstBlock, src, counts, 1) }},
					{"ReduceScatter", func() error { return c.ReduceScatter(ctx, half, dst, comm.Sum) }},
					{"ReduceScatterV", func() error { return c.ReduceScatterV(ctx, srcBlock, dst, counts, comm.Sum) }},
					{"AllToAll", func() error { return c.AllToAll(ctx, dst, src) }},
					{"AllToAll in place", func() error { return c.AllToAll(ctx, dst, dst) }},
					{"SendRecv", func() error { return c.SendRecv(ctx, dst, peer, src, peer) }},
					{"Group", func() error { return c.Group(ctx, group) }},
					{"Exchange", func() error { return x.Run(ctx) }},
					{"IAllReduce", func() error { return start(ctx)(c.IAllReduce(ctx, dst, src, comm.Sum)) }},
					{"IReduce", func() error { return start(ctx)(c.IReduce(ctx, dst, src, comm.Sum, 0)) }},
					{"IBroadcast", func() error { return start(ctx)(c.IBroadcast(ctx, dst, 0)) }},
					{"IAllGather", func() error { return start(ctx)(c.IAllGather(ctx, dst, half)) }},
				} {
					var before, after runtime.MemStats
					for i := range runs + 10 {
						if i == 10 { // scratch memory and requests exist by now
							if err := c.Barrier(ctx); err != nil {
								return err
							}
							runtime.ReadMemStats(&before)
						}
						if err := k.call(); err != nil {
							return fmt.Errorf("%s: %w", k.name, err)
						}
					}
					runtime.ReadMemStats(&after)
					// Both ranks count the whole process, in which the runtime
					// may allocate too.
					if n := after.Mallocs - before.Mallocs; n > runs/4 {
						return fmt.Errorf("%v, %d elements: %s: %d allocations in %d calls", algo, dst.N, k.name, n, runs)
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
}

// start waits for a request. It is made once per call site, on the stack.
func start(ctx context.Context) func(comm.Request, error) error {
	return func(q comm.Request, err error) error {
		if err != nil {
			return err
		}
		return q.Wait(ctx)
	}
}
