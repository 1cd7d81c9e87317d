package mpi

import (
	"context"
	"math"
	"runtime"
	"unsafe"

	"github.com/golops/golops/comm"
)

// byMessages reports whether a call with root's counts is done by messages: if the
// library must not see wrong counts (see countguard.go), or if they exceed one call.
func (r *rank) byMessages(ctx context.Context, call *comm.Call, n, root int) (bool, error) {
	if r.w.guardCounts && !r.w.cfg.Checked {
		return true, nil
	}
	return r.exceedsCount(ctx, call, n, root)
}

// exceedsCount reports whether root's n elements exceed the count of one call. With
// 64-bit counts they never do. Otherwise root broadcasts the answer.
func (r *rank) exceedsCount(ctx context.Context, call *comm.Call, n, root int) (bool, error) {
	if !r.hasIntCounts() {
		return false, nil
	}
	r.flag[0] = 0
	if n > r.l.maxCount {
		r.flag[0] = 1
	}
	err := r.broadcast(ctx, call, comm.Of(r.flag[:]), root)
	return r.flag[0] != 0, err
}

// gatherByMessages sends src of each rank j to block(j) of root.
func (r *rank) gatherByMessages(ctx context.Context, call *comm.Call, root int, block func(int) comm.Buf, src comm.Buf) error {
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

// scatterByMessages sends block(j) of root to dst of each rank j.
func (r *rank) scatterByMessages(ctx context.Context, call *comm.Call, root int, dst comm.Buf, block func(int) comm.Buf) error {
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
			return r.post(o, comm.KindRecv, &part, from, r.algoComm)
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
			return r.post(o, comm.KindSend, &part, to, r.algoComm)
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
	case c == r.algoComm && r.w.guardCounts:
		tag = r.exactTag(k, b.N, peer)
		if k == comm.KindRecv {
			o.exact, o.tag, o.peer, o.me, o.comm = true, tag, int32(peer), int32(r.me), c
		}
	case k == comm.KindRecv:
		tag = r.l.anyTag // received compares the tag
	default:
		tag = r.w.labels.tag(b.DType, b.Label)
	}
	code := r.l.call(r.l.fn(f), r.from(*b), uintptr(b.N), r.l.dtypes[b.DType], uintptr(peer), uintptr(tag), c, addr(&o.req))
	return r.l.errorOf(k.String(), code)
}

// hasIntCounts reports whether the library's calls take C int counts only.
func (r *rank) hasIntCounts() bool { return r.l.maxCount <= math.MaxInt32 }
