package mpi

import (
	"context"
	"runtime"

	"github.com/golops/golops/comm"
)

func (r *rank) Scatter(ctx context.Context, dst, src comm.Buf, root int) error {
	call, err := comm.CheckScatter(r, comm.KindScatter, dst, src, nil, root)
	if err := r.enter(ctx, &call, err); err != nil {
		return err
	}
	if r.me != root {
		src = comm.Buf{DType: dst.DType}
	}
	if dst.N > r.l.maxCount {
		return r.scatterByMessages(ctx, &call, root, dst, func(j int) comm.Buf { return comm.Block(src, j, r.n) })
	}
	to := r.to(dst)
	if r.me == root && comm.InBlock(dst, src, r.me*dst.N) {
		to = r.l.inPlace
	}
	code := r.l.call(r.l.fn(&r.l.iscatter), r.from(src), uintptr(dst.N), r.dtype(dst), to, uintptr(dst.N), r.dtype(dst),
		uintptr(root), r.comm, addr(&r.blocking.req))
	return r.awaitBufs(ctx, &call, code, dst, src)
}

func (r *rank) ScatterV(ctx context.Context, dst, src comm.Buf, counts []int, root int) error {
	call, err := comm.CheckScatter(r, comm.KindScatterV, dst, src, counts, root)
	if r.me != root {
		src, counts = comm.Buf{DType: dst.DType}, nil
	}
	if err := r.enterV(ctx, &call, err, dst.N, counts, nil); err != nil {
		return err
	}
	if large, err := r.byMessages(ctx, &call, src.N, root); err != nil {
		return err
	} else if large {
		return r.scatterByMessages(ctx, &call, root, dst, func(j int) comm.Buf { return comm.BlockV(src, counts, j) })
	}
	to := r.to(dst)
	var c, at uintptr
	if r.me == root {
		if comm.InBlock(dst, src, comm.Offset(counts, r.me)) {
			to = r.l.inPlace
		}
		c, at = r.counts.set(r.l, counts)
	}
	code := r.l.call(r.l.fn(&r.l.iscatterv), r.from(src), c, at, r.dtype(dst), to, uintptr(dst.N), r.dtype(dst), uintptr(root),
		r.comm, addr(&r.blocking.req))
	err = r.awaitBufs(ctx, &call, code, dst, src)
	runtime.KeepAlive(counts)
	return err
}
