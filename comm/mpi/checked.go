package mpi

import (
	"context"
	"fmt"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// In checked mode all ranks compare their calls before each collective, as goroutine
// ranks always do. It costs one small allgather per call, two for calls with counts, and
// makes the start of a non-blocking collective wait.

// compare returns nil if all ranks are in the same call with valid arguments. Otherwise
// all ranks return the same error, except that a rank whose own arguments are invalid
// returns its own.
func (r *rank) compare(ctx context.Context, call *comm.Call, fault error) error {
	return comm.Compare(r.n, *call, fault,
		func(numbers ...int64) ([]int64, error) { return r.gatherNumbers(ctx, call, numbers...) },
		func(b comm.Buf, root int) error { return r.broadcast(ctx, call, b, root) })
}

// gatherNumbers returns the numbers of all ranks, by rank.
func (r *rank) gatherNumbers(ctx context.Context, call *comm.Call, numbers ...int64) ([]int64, error) {
	k := len(numbers)
	if need := k * (r.n + 1); len(r.gathered) < need {
		r.gathered = make([]int64, need)
	}
	own, all := r.gathered[:k], r.gathered[k:k*(r.n+1)]
	copy(own, numbers)
	code := r.l.call(r.l.fn(&r.l.iallgather), addr(&own[0]), uintptr(k), r.l.dtypes[scalar.Int64], addr(&all[0]), uintptr(k),
		r.l.dtypes[scalar.Int64], r.algoComm, addr(&r.blocking.req))
	return all, r.await(ctx, call, code)
}

// enterV is enter for calls with counts. This rank has n elements, expects in[j] from
// rank j and, for AllToAllV, sends out[j] to rank j. In checked mode every rank compares
// the counts of all ranks, so all return the same error.
func (r *rank) enterV(ctx context.Context, call *comm.Call, fault error, n int, in, out []int) error {
	if err := r.enter(ctx, call, fault); err != nil || r.n == 1 {
		return err
	}
	if !r.w.cfg.Checked {
		if call.Kind == comm.KindAllGatherV || call.Kind == comm.KindReduceScatterV {
			return r.checkCounts(ctx, call, digest(in))
		}
		return nil
	}
	numbers := make([]int64, 1+2*r.n)
	numbers[0] = int64(n)
	for j := range in {
		numbers[1+j] = int64(in[j])
	}
	for j := range out {
		numbers[1+r.n+j] = int64(out[j])
	}
	all, err := r.gatherNumbers(ctx, call, numbers...)
	if err != nil {
		return err
	}
	has := func(j int) int64 { return all[j*(1+2*r.n)] }
	expects := func(i, j int) int64 { return all[i*(1+2*r.n)+1+j] }
	sends := func(j, i int) int64 { return all[j*(1+2*r.n)+1+r.n+i] }
	for i := range r.n {
		for j := range r.n {
			var got, want int64
			switch call.Kind {
			case comm.KindAllGatherV:
				got, want = has(j), expects(i, j)
			case comm.KindReduceScatterV:
				got, want = expects(0, j), expects(i, j)
			case comm.KindAllToAllV:
				got, want = sends(j, i), expects(i, j)
			case comm.KindGatherV, comm.KindScatterV:
				if i == int(call.Peer) {
					got, want = has(j), expects(i, j)
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
