package mpi

import (
	"context"

	"github.com/golops/golops/comm"
)

func (r *rank) Broadcast(ctx context.Context, b comm.Buf, root int) error {
	call, err := comm.CheckBroadcast(r, comm.KindBroadcast, b, root)
	if err := r.enter(ctx, &call, err); err != nil {
		return err
	}
	return r.broadcast(ctx, &call, b, root)
}

func (r *rank) broadcast(ctx context.Context, call *comm.Call, b comm.Buf, root int) error {
	if b.N > r.l.maxCount {
		return r.pieces(b.N, func(lo, hi int) error { return r.broadcast(ctx, call, b.Slice(lo, hi), root) })
	}
	code := r.l.call(r.l.fn(&r.l.ibcast), r.from(b), uintptr(b.N), r.dtype(b), uintptr(root), r.comm, addr(&r.blocking.req))
	return r.awaitBufs(ctx, call, code, b, b)
}
