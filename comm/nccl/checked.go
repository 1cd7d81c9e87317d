package nccl

import (
	"context"
	"fmt"

	"github.com/golops/golops/comm"
)

// Checked mode: before each collective all ranks show each other which memory
// it is on and, if that is the device's, their calls, as goroutine ranks do with
// host memory. It costs two small collectives of the host per call, three where
// there are counts, and makes the start of a non-blocking collective wait.

// enter begins a collective on GPU memory: it returns the arguments' own
// fault, or another rank's or a disagreement where calls are checked.
func (c *Comm) enter(ctx context.Context, call *comm.Call, fault error) error {
	if !c.w.cfg.Checked || c.n == 1 {
		return fault
	}
	return comm.Compare(c.n, *call, fault,
		func(numbers ...int64) ([]int64, error) { return c.show(ctx, numbers...) },
		func(b comm.Buf, root int) error { return c.host.Broadcast(ctx, b, root) })
}

// show returns the numbers of all ranks, by rank.
func (c *Comm) show(ctx context.Context, numbers ...int64) ([]int64, error) {
	all := make([]int64, len(numbers)*c.n)
	return all, c.host.AllGather(ctx, comm.Of(all), comm.Of(numbers))
}

// compareCounts is the second part of enter, for calls with counts: of what this
// rank brings (n), of what it expects (in) and, for AllToAllV, of what it sends
// (out).
func (c *Comm) compareCounts(ctx context.Context, call *comm.Call, n int, in, out []int) error {
	if !c.w.cfg.Checked || c.n == 1 {
		return nil
	}
	per := 1 + 2*c.n
	numbers := make([]int64, per)
	numbers[0] = int64(n)
	for j := range in {
		numbers[1+j] = int64(in[j])
	}
	for j := range out {
		numbers[1+c.n+j] = int64(out[j])
	}
	all, err := c.show(ctx, numbers...)
	if err != nil {
		return err
	}
	for i := range c.n { // what i expects
		for j := range c.n { // of j
			brings, expects, sends := all[j*per], all[i*per+1+j], all[j*per+1+c.n+i]
			got, want := brings, expects
			switch call.Kind {
			case comm.KindReduceScatterV:
				got = all[1+j]
			case comm.KindAllToAllV:
				got = sends
			case comm.KindGatherV, comm.KindScatterV:
				if i != int(call.Peer) {
					got = want
				}
			}
			if got != want {
				return &comm.MismatchError{RankA: i, CallA: call.String(), RankB: j, CallB: call.String(),
					Hint: fmt.Sprintf("rank %d has %d elements, rank %d expects %d", j, got, i, want)}
			}
		}
	}
	return nil
}
