package mpi

import (
	"context"
	"runtime"

	"github.com/golops/golops/comm"
)

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
	return r.awaitBufs(ctx, call, code, dst, src)
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

// reduceScatter uses equal blocks if counts is nil.
func (r *rank) reduceScatter(ctx context.Context, call *comm.Call, dst, src comm.Buf, counts []int, at int, op comm.Op) error {
	var err error
	if src.N > r.l.maxCount {
		for root := range r.n { // the counts exceed one call: reduce block by block
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
		// In MPI either all ranks work in place or none, but a rank whose block is
		// empty cannot know. So none does: the result goes through scratch memory.
		to := dst
		if comm.InBlock(dst, src, at) {
			to.Ptr = r.scratchBytes(dst.Bytes())
		}
		var code int32
		if counts == nil {
			code = r.l.call(r.l.fn(&r.l.ireduceScatterBlock), r.from(src), r.to(to), uintptr(dst.N), r.dtype(src), r.l.op(op, src.DType), r.comm,
				addr(&r.blocking.req))
		} else {
			c, _ := r.counts.set(r.l, counts)
			code = r.l.call(r.l.fn(&r.l.ireduceScatter), r.from(src), r.to(to), c, r.dtype(src), r.l.op(op, src.DType), r.comm, addr(&r.blocking.req))
		}
		if err = r.awaitBufs(ctx, call, code, to, src); err == nil {
			comm.Move(dst.Ptr, to.Ptr, dst.Bytes())
		}
		runtime.KeepAlive(counts) // the library reads counts until the call completes
	}
	if err == nil && op == comm.Average {
		comm.Divide(dst.Ptr, dst.DType, dst.N, r.n)
	}
	return err
}
