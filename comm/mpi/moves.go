package mpi

import (
	"context"
	"math"
	"runtime"
	"unsafe"

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
	return r.moved(ctx, &call, code, dst, src)
}

// moved waits for a call on dst and src and keeps both alive until then. Every
// wait for data goes through it or does the same: the collector does not know
// that MPI still uses memory whose last mention in Go has passed, and memory
// that it has given to somebody else in the meantime would be overwritten.
func (r *rank) moved(ctx context.Context, call *comm.Call, code int32, dst, src comm.Buf) error {
	err := r.await(ctx, call, code)
	runtime.KeepAlive(dst.Ptr)
	runtime.KeepAlive(src.Ptr)
	return err
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
	err = r.moved(ctx, &call, code, dst, src)
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
		return r.collect(ctx, &call, root, func(j int) comm.Buf { return comm.Block(dst, j, r.n) }, src)
	}
	from := r.from(src)
	if r.me == root && comm.InBlock(src, dst, r.me*src.N) {
		from = r.l.inPlace
	}
	code := r.l.call(r.l.fn(&r.l.igather), from, uintptr(src.N), r.dtype(src), r.to(dst), uintptr(src.N), r.dtype(src),
		uintptr(root), r.comm, addr(&r.blocking.req))
	return r.moved(ctx, &call, code, dst, src)
}

// GatherV goes by messages where the root's counts do not fit a call. The
// other ranks do not know those counts, so root tells them.
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
		return r.collect(ctx, &call, root, func(j int) comm.Buf { return comm.BlockV(dst, counts, j) }, src)
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
	err = r.moved(ctx, &call, code, dst, src)
	runtime.KeepAlive(counts)
	return err
}

// byMessages reports whether a call with the root's counts goes by messages. That
// is where the library must not see counts that do not fit: see careful.go.
func (r *rank) byMessages(ctx context.Context, call *comm.Call, n, root int) (bool, error) {
	if r.w.careful && !r.w.cfg.Checked {
		return true, nil
	}
	return r.large(ctx, call, n, root)
}

// large reports whether root's n elements are too many for a call. Libraries
// with wide counts never ask; with the others one number goes to all ranks.
func (r *rank) large(ctx context.Context, call *comm.Call, n, root int) (bool, error) {
	if !r.narrow() {
		return false, nil
	}
	r.flag[0] = 0
	if n > r.l.maxCount {
		r.flag[0] = 1
	}
	err := r.broadcast(ctx, call, comm.Of(r.flag[:]), root)
	return r.flag[0] != 0, err
}

func (r *rank) Scatter(ctx context.Context, dst, src comm.Buf, root int) error {
	call, err := comm.CheckScatter(r, comm.KindScatter, dst, src, nil, root)
	if err := r.enter(ctx, &call, err); err != nil {
		return err
	}
	if r.me != root {
		src = comm.Buf{DType: dst.DType}
	}
	if dst.N > r.l.maxCount {
		return r.hand(ctx, &call, root, dst, func(j int) comm.Buf { return comm.Block(src, j, r.n) })
	}
	to := r.to(dst)
	if r.me == root && comm.InBlock(dst, src, r.me*dst.N) {
		to = r.l.inPlace
	}
	code := r.l.call(r.l.fn(&r.l.iscatter), r.from(src), uintptr(dst.N), r.dtype(dst), to, uintptr(dst.N), r.dtype(dst),
		uintptr(root), r.comm, addr(&r.blocking.req))
	return r.moved(ctx, &call, code, dst, src)
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
		return r.hand(ctx, &call, root, dst, func(j int) comm.Buf { return comm.BlockV(src, counts, j) })
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
	err = r.moved(ctx, &call, code, dst, src)
	runtime.KeepAlive(counts)
	return err
}

func (r *rank) AllToAll(ctx context.Context, dst, src comm.Buf) error {
	call, err := comm.CheckAllToAll(r, dst, src)
	if err := r.enter(ctx, &call, err); err != nil {
		return err
	}
	src = r.apart(dst, src)
	n := src.N / r.n
	if n > r.l.maxCount {
		return r.exchange(ctx, &call, func(j int) comm.Buf { return comm.Block(dst, j, r.n) },
			func(j int) comm.Buf { return comm.Block(src, j, r.n) })
	}
	code := r.l.call(r.l.fn(&r.l.ialltoall), r.from(src), uintptr(n), r.dtype(src), r.to(dst), uintptr(n), r.dtype(dst), r.comm,
		addr(&r.blocking.req))
	return r.moved(ctx, &call, code, dst, src)
}

func (r *rank) AllToAllV(ctx context.Context, dst comm.Buf, recvCounts []int, src comm.Buf, sendCounts []int) error {
	call, err := comm.CheckAllToAllV(r, dst, recvCounts, src, sendCounts)
	if err := r.enterV(ctx, &call, err, src.N, recvCounts, sendCounts); err != nil {
		return err
	}
	src = r.apart(dst, src)
	if r.narrow() {
		// Whether counts fit, each rank knows of itself only, and all must take
		// the same way. Messages serve any count.
		return r.exchange(ctx, &call, func(j int) comm.Buf { return comm.BlockV(dst, recvCounts, j) },
			func(j int) comm.Buf { return comm.BlockV(src, sendCounts, j) })
	}
	out, outAt := r.counts.set(r.l, sendCounts)
	in, inAt := r.counts2.set(r.l, recvCounts)
	code := r.l.call(r.l.fn(&r.l.ialltoallv), r.from(src), out, outAt, r.dtype(src), r.to(dst), in, inAt, r.dtype(dst), r.comm,
		addr(&r.blocking.req))
	err = r.moved(ctx, &call, code, dst, src)
	runtime.KeepAlive(recvCounts)
	runtime.KeepAlive(sendCounts)
	return err
}

// apart returns a copy of src where it is dst too: MPI works in place only if
// all ranks do, and then through a copy of its own.
func (r *rank) apart(dst, src comm.Buf) comm.Buf {
	if src.N == 0 || !comm.Same(dst, src) {
		return src
	}
	c := comm.Buf{DType: src.DType, N: src.N, Ptr: r.room(src.Bytes())}
	comm.Move(c.Ptr, src.Ptr, src.Bytes())
	return c
}

// collect sends each rank's src to block j of root, in messages.
func (r *rank) collect(ctx context.Context, call *comm.Call, root int, block func(int) comm.Buf, src comm.Buf) error {
	none := comm.Buf{DType: src.DType}
	return r.exchange(ctx, call, func(j int) comm.Buf {
		if r.me != root {
			return none
		}
		return block(j)
	}, func(j int) comm.Buf {
		if j != root {
			return none
		}
		return src
	})
}

// hand sends block j of root to each rank's dst, in messages.
func (r *rank) hand(ctx context.Context, call *comm.Call, root int, dst comm.Buf, block func(int) comm.Buf) error {
	none := comm.Buf{DType: dst.DType}
	return r.exchange(ctx, call, func(j int) comm.Buf {
		if j != root {
			return none
		}
		return dst
	}, func(j int) comm.Buf {
		if r.me != root {
			return none
		}
		return block(j)
	})
}

// exchange sends send(j) to each rank j and receives recv(j) from it.
func (r *rank) exchange(ctx context.Context, call *comm.Call, recv, send func(j int) comm.Buf) error {
	if to, from := recv(r.me), send(r.me); to.N > 0 {
		comm.Move(to.Ptr, from.Ptr, to.Bytes())
	}
	var ops []*operation
	var kept []unsafe.Pointer
	var err error
	for d := 1; d < r.n && err == nil; d++ {
		from := (r.me + r.n - d) % r.n
		b := recv(from)
		kept = append(kept, b.Ptr)
		err = r.pieces(b.N, func(lo, hi int) error {
			o := new(operation)
			ops = append(ops, o)
			part := b.Slice(lo, hi)
			return r.post(o, comm.KindRecv, &part, from, r.own)
		})
	}
	for d := 1; d < r.n && err == nil; d++ {
		to := (r.me + d) % r.n
		b := send(to)
		kept = append(kept, b.Ptr)
		err = r.pieces(b.N, func(lo, hi int) error {
			o := new(operation)
			ops = append(ops, o)
			part := b.Slice(lo, hi)
			return r.post(o, comm.KindSend, &part, to, r.own)
		})
	}
	for _, o := range ops {
		if err == nil {
			err = r.w.await(ctx, o, call)
		}
	}
	runtime.KeepAlive(kept)
	return err
}

// post starts one message on communicator c.
func (r *rank) post(o *operation, k comm.Kind, b *comm.Buf, peer int, c uintptr) error {
	f := &r.l.isend
	if k == comm.KindRecv {
		f = &r.l.irecv
	}
	o.exact = false
	var tag int32
	switch {
	case c == r.own && r.w.careful:
		tag = r.exactTag(k, b.N, peer)
		if k == comm.KindRecv {
			o.exact, o.tag, o.peer, o.me, o.comm = true, tag, int32(peer), int32(r.me), c
		}
	case k == comm.KindRecv:
		tag = r.l.anyTag // the receiver compares the tag
	default:
		tag = r.w.labels.tag(b.DType, b.Label)
	}
	code := r.l.call(r.l.fn(f), r.from(*b), uintptr(b.N), r.l.dtypes[b.DType], uintptr(peer), uintptr(tag), c, addr(&o.req))
	return r.l.errorOf(k.String(), code)
}

// narrow reports whether a call may be too small for a large count.
func (r *rank) narrow() bool { return r.l.maxCount <= math.MaxInt32 }
