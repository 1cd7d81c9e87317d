package mpi

import (
	"context"
	"runtime"

	"github.com/golops/golops/comm"
)

func (r *rank) AllGather(ctx context.Context, dst, src comm.Buf) error {
	call, err := comm.CheckAllGather(r, comm.KindAllGather, dst, src)
	if err := r.enter(ctx, &call, err); err != nil {
		return err
	}
	if src.N > r.l.maxCount {
		return r.exchange(ctx, &call, func(j int) comm.Buf { return comm.Block(dst, j, r.n) }, func(int) comm.Buf { return src })
	}
	from := r.from(src)
	if comm.InBlock(src, dst, r.me*src.N) {
		from = r.l.inPlace
	}
	code := r.l.call(r.l.fn(&r.l.iallgather), from, uintptr(src.N), r.dtype(src), r.to(dst), uintptr(src.N), r.dtype(dst), r.comm,
		addr(&r.blocking.req))
	return r.awaitBufs(ctx, &call, code, dst, src)
}

func (r *rank) AllGatherV(ctx context.Context, dst comm.Buf, counts []int, src comm.Buf) error {
	call, err := comm.CheckAllGatherV(r, dst, counts, src)
	if err := r.enterV(ctx, &call, err, src.N, counts, nil); err != nil {
		return err
	}
	if dst.N > r.l.maxCount {
		return r.exchange(ctx, &call, func(j int) comm.Buf { return comm.BlockV(dst, counts, j) }, func(int) comm.Buf { return src })
	}
	from := r.from(src)
	if comm.InBlock(src, dst, comm.Offset(counts, r.me)) {
		from = r.l.inPlace
	}
	c, at := r.counts.set(r.l, counts)
	code := r.l.call(r.l.fn(&r.l.iallgatherv), from, uintptr(src.N), r.dtype(src), r.to(dst), c, at, r.dtype(dst), r.comm,
		addr(&r.blocking.req))
	err = r.awaitBufs(ctx, &call, code, dst, src)
	runtime.KeepAlive(counts)
	return err
}

func (r *rank) Gather(ctx context.Context, dst, src comm.Buf, root int) error {
	call, err := comm.CheckGather(r, comm.KindGather, dst, nil, src, root)
	if err := r.enter(ctx, &call, err); err != nil {
		return err
	}
	if r.me != root {
		dst = comm.Buf{DType: src.DType}
	}
	if src.N > r.l.maxCount {
		return r.gatherByMessages(ctx, &call, root, func(j int) comm.Buf { return comm.Block(dst, j, r.n) }, src)
	}
	from := r.from(src)
	if r.me == root && comm.InBlock(src, dst, r.me*src.N) {
		from = r.l.inPlace
	}
	code := r.l.call(r.l.fn(&r.l.igather), from, uintptr(src.N), r.dtype(src), r.to(dst), uintptr(src.N), r.dtype(src),
		uintptr(root), r.comm, addr(&r.blocking.req))
	return r.awaitBufs(ctx, &call, code, dst, src)
}

// GatherV may be done by messages: see byMessages.
func (r *rank) GatherV(ctx context.Context, dst comm.Buf, counts []int, src comm.Buf, root int) error {
	call, err := comm.CheckGather(r, comm.KindGatherV, dst, counts, src, root)
	if r.me != root {
		dst, counts = comm.Buf{DType: src.DType}, nil
	}
	if err := r.enterV(ctx, &call, err, src.N, counts, nil); err != nil {
		return err
	}
	if large, err := r.byMessages(ctx, &call, dst.N, root); err != nil {
		return err
	} else if large {
		return r.gatherByMessages(ctx, &call, root, func(j int) comm.Buf { return comm.BlockV(dst, counts, j) }, src)
	}
	from := r.from(src)
	var c, at uintptr
	if r.me == root {
		if comm.InBlock(src, dst, comm.Offset(counts, r.me)) {
			from = r.l.inPlace
		}
		c, at = r.counts.set(r.l, counts)
	}
	code := r.l.call(r.l.fn(&r.l.igatherv), from, uintptr(src.N), r.dtype(src), r.to(dst), c, at, r.dtype(src), uintptr(root),
		r.comm, addr(&r.blocking.req))
	err = r.awaitBufs(ctx, &call, code, dst, src)
	runtime.KeepAlive(counts)
	return err
}
