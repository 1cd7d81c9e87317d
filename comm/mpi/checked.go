package mpi

import (
	"context"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/scalar"
)

// compare is the checked mode: all ranks compare their calls before each collective, as
// goroutine ranks always do. It costs one small allgather per call, two for calls with
// counts, and makes the start of a non-blocking collective wait.
func (r *rank) compare(ctx context.Context, c *driver.Call) error {
	return driver.Compare(r.n, c,
		func(numbers ...int64) ([]int64, error) { return r.gatherNumbers(ctx, c.Named(), numbers...) },
		func(b driver.Buf, root int) error {
			text := driver.Signature{Kind: driver.KindBroadcast, DType: b.DType, Peer: int32(root), N: int64(b.N)}
			return r.native(ctx, &driver.Call{Signature: text, Dst: b})
		})
}

// gatherNumbers returns the numbers of all ranks, by rank.
func (r *rank) gatherNumbers(ctx context.Context, call *driver.Signature, numbers ...int64) ([]int64, error) {
	k := len(numbers)
	if need := k * (r.n + 1); len(r.gathered) < need {
		r.gathered = make([]int64, need)
	}
	own, all := r.gathered[:k], r.gathered[k:k*(r.n+1)]
	copy(own, numbers)
	dt := r.l.dtypes[scalar.Int64]
	code := r.l.call(r.l.fn(&r.l.collective[driver.KindAllGather]), addr(&own[0]), uintptr(k), dt, addr(&all[0]), uintptr(k), dt,
		r.algoComm, addr(&r.blocking.req))
	return all, r.await(ctx, call, code)
}
