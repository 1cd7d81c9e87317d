package nccl

import (
	"context"
	"fmt"

	"github.com/golops/golops/comm"
)

// In checked mode all ranks compare the kind of memory before each collective and, for
// GPU memory, their calls. It costs two small collectives of the host per call, three for
// calls with counts, and makes the start of a non-blocking collective wait.

// enter starts a collective on GPU memory. It returns fault if the arguments are invalid.
// In checked mode it also returns the fault of another rank, or a mismatch.
func (c *Comm) enter(ctx context.Context, call *comm.Call, fault error) error {
	if !c.w.cfg.Checked || c.n == 1 {
		return fault
	}
	return comm.Compare(c.n, *call, fault,
		func(numbers ...int64) ([]int64, error) { return c.gatherNumbers(ctx, numbers...) },
		func(b comm.Buf, root int) error { return c.host.Broadcast(ctx, b, root) })
}

// gatherNumbers returns the numbers of all ranks, by rank.
func (c *Comm) gatherNumbers(ctx context.Context, numbers ...int64) ([]int64, error) {
	all := make([]int64, len(numbers)*c.n)
	return all, c.host.AllGather(ctx, comm.Of(all), comm.Of(numbers))
}

// compareCounts is the second part of enter, for calls with counts. This rank has n
// elements, expects in[j] from rank j and, for AllToAllV, sends out[j] to rank j.
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
	all, err := c.gatherNumbers(ctx, numbers...)
	if err != nil {
		return err
	}
	for i := range c.n {
		for j := range c.n { // what i expects of j
			has, expects, sends := all[j*per], all[i*per+1+j], all[j*per+1+c.n+i]
			got, want := has, expects
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
