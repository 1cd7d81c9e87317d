package mpi

import (
	"context"
	"runtime"

	"github.com/golops/golops/comm"
)

// Collectives start the library's non-blocking form and poll it, so that a
// cancelled context or another rank's failure ends the wait. Counts that do not
// fit a call go in parts: reductions and broadcasts piece by piece, the others
// as messages.

// pieces calls f for parts of n elements that fit a call.
func (r *rank) pieces(n int, f func(lo, hi int) error) error {
	for lo := 0; lo < n; lo += r.l.maxCount {
		if err := f(lo, min(lo+r.l.maxCount, n)); err != nil {
			return err
		}
	}
	return nil
}

func (r *rank) AllReduce(ctx context.Context, dst, src comm.Buf, op comm.Op) error {
	call, err := comm.CheckAllReduce(comm.KindAllReduce, dst, src, op)
	if err := r.enter(ctx, &call, err); err != nil {
		return err
	}
	err = r.reduceAll(ctx, &call, &dst, &src, op)
	if err == nil && op == comm.Average {
		comm.Divide(dst.Ptr, dst.DType, dst.N, r.n)
	}
	return err
}

func (r *rank) nativeAllReduce(ctx context.Context, call *comm.Call, dst, src comm.Buf, op comm.Op) error {
	if src.N > r.l.maxCount {
		return r.pieces(src.N, func(lo, hi int) error {
			return r.nativeAllReduce(ctx, call, dst.Slice(lo, hi), src.Slice(lo, hi), op)
		})
	}
	if size := src.Bytes(); r.slowInPlace(size) && src.N > 1 && size > farPiece {
		// Whether a rank works in place, the others do not know: all take the same pieces.
		half := src.N / 2
		if err := r.nativeAllReduce(ctx, call, dst.Slice(0, half), src.Slice(0, half), op); err != nil {
			return err
		}
		return r.nativeAllReduce(ctx, call, dst.Slice(half, src.N), src.Slice(half, src.N), op)
	} else if r.slowInPlace(size) {
		src = r.apart(dst, src)
	}
	from := r.from(src)
	if comm.Same(dst, src) {
		from = r.l.inPlace
	}
	code := r.l.call(r.l.fn(&r.l.iallreduce), from, r.to(dst), uintptr(src.N), r.dtype(src), r.l.op(op, src.DType), r.comm,
		addr(&r.blocking.req))
	return r.moved(ctx, call, code, dst, src)
}

// Over several machines Open MPI's reduction in place took 2.8 times as long as
// one between separate memory, from some 2 MB up. So it gets a copy, of pieces that
// keep the copy small.
const (
	farAbove = 256 << 10
	farPiece = 64 << 20
)

func (r *rank) slowInPlace(bytes int) bool {
	return !r.near && r.l.family == OpenMPI && bytes >= farAbove
}

func (r *rank) Reduce(ctx context.Context, dst, src comm.Buf, op comm.Op, root int) error {
	call, err := comm.CheckReduce(r, dst, src, op, root)
	if err := r.enter(ctx, &call, err); err != nil {
		return err
	}
	if r.me != root {
		dst = comm.Buf{DType: src.DType}
	}
	err = r.reduce(ctx, &call, dst, src, op, root)
	if err == nil && op == comm.Average && r.me == root {
		comm.Divide(dst.Ptr, dst.DType, dst.N, r.n)
	}
	return err
}

func (r *rank) reduce(ctx context.Context, call *comm.Call, dst, src comm.Buf, op comm.Op, root int) error {
	if src.N > r.l.maxCount {
		return r.pieces(src.N, func(lo, hi int) error {
			d := dst
			if r.me == root {
				d = dst.Slice(lo, hi)
			}
			return r.reduce(ctx, call, d, src.Slice(lo, hi), op, root)
		})
	}
	from := r.from(src)
	if r.me == root && comm.Same(dst, src) {
		from = r.l.inPlace
	}
	code := r.l.call(r.l.fn(&r.l.ireduce), from, r.to(dst), uintptr(src.N), r.dtype(src), r.l.op(op, src.DType), uintptr(root), r.comm,
		addr(&r.blocking.req))
	return r.moved(ctx, call, code, dst, src)
}

func (r *rank) ReduceScatter(ctx context.Context, dst, src comm.Buf, op comm.Op) error {
	call, err := comm.CheckReduceScatter(r, comm.KindReduceScatter, dst, src, nil, op)
	if err := r.enter(ctx, &call, err); err != nil {
		return err
	}
	return r.reduceScatter(ctx, &call, dst, src, nil, dst.N*r.me, op)
}

func (r *rank) ReduceScatterV(ctx context.Context, dst, src comm.Buf, counts []int, op comm.Op) error {
	call, err := comm.CheckReduceScatter(r, comm.KindReduceScatterV, dst, src, counts, op)
	if err := r.enterV(ctx, &call, err, src.N, counts, nil); err != nil {
		return err
	}
	return r.reduceScatter(ctx, &call, dst, src, counts, comm.Offset(counts, r.me), op)
}

// reduceScatter takes equal blocks where counts is nil.
func (r *rank) reduceScatter(ctx context.Context, call *comm.Call, dst, src comm.Buf, counts []int, at int, op comm.Op) error {
	var err error
	if src.N > r.l.maxCount {
		for root := range r.n { // no call has room for these counts: reduce block by block
			block := comm.Block(src, root, r.n)
			if counts != nil {
				block = comm.BlockV(src, counts, root)
			}
			to := comm.Buf{DType: src.DType}
			if r.me == root {
				to = dst
			}
			if err = r.reduce(ctx, call, to, block, op, root); err != nil {
				return err
			}
		}
	} else {
		// MPI wants all ranks to work in place or none, and a rank whose block
		// is empty cannot tell. So none does: the result comes by way of scratch.
		to := dst
		if comm.InBlock(dst, src, at) {
			to.Ptr = r.room(dst.Bytes())
		}
		var code int32
		if counts == nil {
			code = r.l.call(r.l.fn(&r.l.ireduceScatterBlock), r.from(src), r.to(to), uintptr(dst.N), r.dtype(src), r.l.op(op, src.DType), r.comm,
				addr(&r.blocking.req))
		} else {
			c, _ := r.counts.set(r.l, counts)
			code = r.l.call(r.l.fn(&r.l.ireduceScatter), r.from(src), r.to(to), c, r.dtype(src), r.l.op(op, src.DType), r.comm, addr(&r.blocking.req))
		}
		if err = r.moved(ctx, call, code, to, src); err == nil {
			comm.Move(dst.Ptr, to.Ptr, dst.Bytes())
		}
		runtime.KeepAlive(counts) // the library reads it until then
	}
	if err == nil && op == comm.Average {
		comm.Divide(dst.Ptr, dst.DType, dst.N, r.n)
	}
	return err
}

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
	return r.moved(ctx, call, code, b, b)
}
