package mpi

import (
	"context"

	"github.com/golops/golops/comm"
)

// Non-blocking collectives use the library's calls. Counts that exceed one call become
// several operations of one request.

func (r *rank) IAllReduce(ctx context.Context, dst, src comm.Buf, op comm.Op) (comm.Request, error) {
	call, err := comm.CheckAllReduce(comm.KindIAllReduce, dst, src, op)
	if err := r.enter(ctx, &call, r.checkStart(call, err)); err != nil {
		return comm.Request{}, err
	}
	q := r.newRequest(call, dst, src)
	q.avg = op == comm.Average
	return r.startPieces(q, src.N, func(o *operation, lo, hi int) int32 {
		d, s := dst.Slice(lo, hi), src.Slice(lo, hi)
		from := r.from(s)
		if comm.Same(d, s) {
			from = r.l.inPlace
		}
		return r.l.call(r.l.fn(&r.l.iallreduce), from, r.to(d), uintptr(s.N), r.dtype(s), r.l.op(op, src.DType), r.comm, addr(&o.req))
	})
}

func (r *rank) IBroadcast(ctx context.Context, b comm.Buf, root int) (comm.Request, error) {
	call, err := comm.CheckBroadcast(r, comm.KindIBroadcast, b, root)
	if err := r.enter(ctx, &call, r.checkStart(call, err)); err != nil {
		return comm.Request{}, err
	}
	q := r.newRequest(call, b, b)
	return r.startPieces(q, b.N, func(o *operation, lo, hi int) int32 {
		p := b.Slice(lo, hi)
		return r.l.call(r.l.fn(&r.l.ibcast), r.from(p), uintptr(p.N), r.dtype(p), uintptr(root), r.comm, addr(&o.req))
	})
}

// IAllGather broadcasts each rank's block if the count exceeds one call.
func (r *rank) IAllGather(ctx context.Context, dst, src comm.Buf) (comm.Request, error) {
	call, err := comm.CheckAllGather(r, comm.KindIAllGather, dst, src)
	if err := r.enter(ctx, &call, r.checkStart(call, err)); err != nil {
		return comm.Request{}, err
	}
	q := r.newRequest(call, dst, src)
	if src.N <= r.l.maxCount {
		return r.startPieces(q, 1, func(o *operation, _, _ int) int32 {
			from := r.from(src)
			if comm.InBlock(src, dst, r.me*src.N) {
				from = r.l.inPlace
			}
			return r.l.call(r.l.fn(&r.l.iallgather), from, uintptr(src.N), r.dtype(src), r.to(dst), uintptr(src.N), r.dtype(dst),
				r.comm, addr(&o.req))
		})
	}
	comm.Move(comm.Block(dst, r.me, r.n).Ptr, src.Ptr, src.Bytes())
	each := (src.N + r.l.maxCount - 1) / r.l.maxCount
	q.flag = 1 // q.operation is unused: all operations are in q.more
	for k := range each * r.n {
		o := new(operation)
		q.more = append(q.more, o)
		root, lo := k/each, k%each*r.l.maxCount
		b := comm.Block(dst, root, r.n).Slice(lo, min(lo+r.l.maxCount, src.N))
		code := r.l.call(r.l.fn(&r.l.ibcast), r.from(b), uintptr(b.N), r.dtype(b), uintptr(root), r.comm, addr(&o.req))
		if code != 0 {
			return comm.Request{}, r.l.errorOf(call.Kind.String(), code)
		}
	}
	return comm.NewRequest(r, q.id), nil
}

// checkStart returns fault, or an error if too many requests are under way.
func (r *rank) checkStart(call comm.Call, fault error) error {
	if fault != nil {
		return fault
	}
	return r.pending.CheckLimit(call.Kind)
}

// startPieces starts the operations of a request on n elements, one for each piece that
// fits one call.
func (r *rank) startPieces(q *request, n int, f func(o *operation, lo, hi int) int32) (comm.Request, error) {
	hi := min(n, r.l.maxCount)
	code := f(&q.operation, 0, hi)
	for hi < n && code == 0 {
		lo := hi
		hi = min(lo+r.l.maxCount, n)
		o := new(operation)
		q.more = append(q.more, o)
		code = f(o, lo, hi)
	}
	if code != 0 {
		return comm.Request{}, r.release(q, r.l.errorOf(q.call.Kind.String(), code))
	}
	return comm.NewRequest(r, q.id), nil
}
