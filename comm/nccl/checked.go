package nccl

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// Checked mode: before each collective on device memory all ranks show each
// other their calls, as goroutine ranks do with host memory. It costs one small
// allgather of the host per call, two where there are counts, and makes the
// start of a non-blocking collective wait.

// shown is what a rank shows: kind, type, op, root, count, length of the text
// of its error.
const shown = 6

// enter begins a collective on device memory: it returns the arguments' own
// fault, or another rank's or a disagreement where calls are checked.
func (c *Comm) enter(ctx context.Context, call *comm.Call, fault error) error {
	if !c.w.cfg.Checked || c.n == 1 {
		return fault
	}
	text := ""
	if fault != nil {
		text = fault.Error()
	}
	all, err := c.show(ctx, int64(call.Kind), int64(call.DType), int64(call.Op), int64(call.Peer), call.N, int64(len(text)))
	if err != nil {
		return err
	}
	for j := range c.n {
		n := all[j*shown+5]
		if n == 0 {
			continue
		}
		b := make([]byte, n)
		copy(b, text)
		if err := c.host.Broadcast(ctx, comm.Of(b), j); err != nil {
			return err
		}
		if fault != nil {
			return fault
		}
		return &comm.RankError{Rank: j, Err: errors.New(string(b))}
	}
	of := func(j int) comm.Call {
		s := all[j*shown:]
		return comm.Call{Kind: comm.Kind(s[0]), DType: scalar.DType(s[1]), Op: comm.Op(s[2]), Peer: int32(s[3]), N: s[4]}
	}
	for j := 1; j < c.n; j++ {
		if a, b := of(0), of(j); a != b {
			return &comm.MismatchError{RankA: 0, CallA: a.String(), RankB: j, CallB: b.String()}
		}
	}
	return nil
}

// show returns the numbers of all ranks, by rank.
func (c *Comm) show(ctx context.Context, numbers ...int64) ([]int64, error) {
	all := make([]int64, len(numbers)*c.n)
	return all, c.host.AllGather(ctx, comm.Of(all), comm.Of(numbers))
}

// enterV is enter for calls with counts: of what this rank brings (n), of what
// it expects (in) and, for AllToAllV, of what it sends (out).
func (c *Comm) enterV(ctx context.Context, call *comm.Call, fault error, n int, in, out []int) error {
	if err := c.enter(ctx, call, fault); err != nil || !c.w.cfg.Checked || c.n == 1 {
		return err
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
