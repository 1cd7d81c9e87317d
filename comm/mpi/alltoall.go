package mpi

import (
	"context"
	"runtime"

	"github.com/golops/golops/comm"
)

func (r *rank) AllToAll(ctx context.Context, dst, src comm.Buf) error {
	call, err := comm.CheckAllToAll(r, dst, src)
	if err := r.enter(ctx, &call, err); err != nil {
		return err
	}
	src = r.separate(dst, src)
	n := src.N / r.n
	if n > r.l.maxCount {
		return r.exchange(ctx, &call, func(j int) comm.Buf { return comm.Block(dst, j, r.n) },
			func(j int) comm.Buf { return comm.Block(src, j, r.n) })
	}
	code := r.l.call(r.l.fn(&r.l.ialltoall), r.from(src), uintptr(n), r.dtype(src), r.to(dst), uintptr(n), r.dtype(dst), r.comm,
		addr(&r.blocking.req))
	return r.awaitBufs(ctx, &call, code, dst, src)
}

func (r *rank) AllToAllV(ctx context.Context, dst comm.Buf, recvCounts []int, src comm.Buf, sendCounts []int) error {
	call, err := comm.CheckAllToAllV(r, dst, recvCounts, src, sendCounts)
	if err := r.enterV(ctx, &call, err, src.N, recvCounts, sendCounts); err != nil {
		return err
	}
	src = r.separate(dst, src)
	if r.hasIntCounts() {
		// A rank does not know whether the counts of the others fit one call, but
		// all must decide the same. Messages work for any count.
		return r.exchange(ctx, &call, func(j int) comm.Buf { return comm.BlockV(dst, recvCounts, j) },
			func(j int) comm.Buf { return comm.BlockV(src, sendCounts, j) })
	}
	out, outAt := r.counts.set(r.l, sendCounts)
	in, inAt := r.counts2.set(r.l, recvCounts)
	code := r.l.call(r.l.fn(&r.l.ialltoallv), r.from(src), out, outAt, r.dtype(src), r.to(dst), in, inAt, r.dtype(dst), r.comm,
		addr(&r.blocking.req))
	err = r.awaitBufs(ctx, &call, code, dst, src)
	runtime.KeepAlive(recvCounts)
	runtime.KeepAlive(sendCounts)
	return err
}

// separate returns a copy of src if src is dst. MPI works in place only if all ranks
// do, and it makes a copy too.
func (r *rank) separate(dst, src comm.Buf) comm.Buf {
	if src.N == 0 || !comm.Same(dst, src) {
		return src
	}
	c := comm.Buf{DType: src.DType, N: src.N, Ptr: r.scratchBytes(src.Bytes())}
	comm.Move(c.Ptr, src.Ptr, src.Bytes())
	return c
}
