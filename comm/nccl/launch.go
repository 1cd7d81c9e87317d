package nccl

import (
	"runtime"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/dl"
)

// launch starts an operation in the library, or copies if there is one rank. It returns
// inProgress if the library is still launching.
func (l *channel) launch(o *op) (int32, error) {
	k, s := o.call.Kind, o.call.Kind.Spec()
	switch {
	case k == driver.KindExchange && len(o.recv)+len(o.send) == 0:
		return success, l.copyOwn(o)
	case l.size == 1:
		return success, l.copy(o.call.Dst, o.call.Src)
	case s.Starts != 0:
		k = s.Starts
	}
	// The current GPU and groups of NCCL calls belong to a thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := l.w.dev.Bind(); err != nil {
		return 0, err
	}
	if o.registration != nil {
		return l.register(o.registration)
	}
	return l.call(o, k)
}

// call makes the library's call for an operation of kind k.
func (l *channel) call(o *op, k driver.Kind) (code int32, err error) {
	lib, t, op := l.w.l, dtypes[o.call.DType], ops[o.call.Op]
	dst, src, root := o.call.Dst.Addr(), o.call.Src.Addr(), uintptr(o.call.Peer)
	n, size := uintptr(o.call.N)*t.per, uintptr(l.size)
	h, q := l.handle, l.queue.Handle()
	switch {
	case k == driver.KindClose:
		code = lib.finalize.Call(h)
	case k == driver.KindAllReduce:
		code = lib.allReduce.Call(src, dst, n, t.code, op, h, q)
	case k == driver.KindReduce:
		code = lib.reduce.Call(src, dst, n, t.code, op, root, h, q)
	case k == driver.KindBroadcast:
		code = lib.broadcast.Call(dst, dst, n, t.code, root, h, q)
	case k == driver.KindAllGather:
		code = lib.allGather.Call(src, dst, n, t.code, h, q)
	case k == driver.KindReduceScatter:
		code = lib.reduceScatter.Call(src, dst, n/size, t.code, op, h, q)
	case k == driver.KindAllToAll && lib.allToAll != 0:
		code = lib.allToAll.Call(src, dst, n/size, t.code, h, q)
	case k == driver.KindGather && lib.gather != 0:
		code = lib.gather.Call(src, dst, n, t.code, root, h, q)
	case k == driver.KindScatter && lib.scatter != 0:
		code = lib.scatter.Call(src, dst, n, t.code, root, h, q)
	default:
		return l.grouped(o)
	}
	return code, lib.errorOf(o.call.Kind.String(), code, h)
}

// copy queues a copy of src to dst, if they differ.
func (l *channel) copy(dst, src driver.Buf) error {
	if dst.N == 0 || driver.Same(dst, src) {
		return nil
	}
	return l.queue.Copy(dst.Addr(), src.Addr(), dst.Bytes())
}

// grouped launches an operation for which the library has no single call, as a group of
// calls. What stays on this rank is copied.
//
//   - AllGatherV is a broadcast of each rank's block, ReduceScatterV a reduction of each.
//     Padding to equal blocks would take one call, but also memory and copies.
//   - All others consist of messages.
func (l *channel) grouped(o *op) (int32, error) {
	if err := l.copyOwn(o); err != nil {
		return 0, err
	}
	g := group{l: l, o: o}
	g.do(l.w.l.groupStart.Call())
	if o.call.Kind == driver.KindExchange {
		for _, leg := range o.send {
			g.move(l.w.l.send, leg.Buf, leg.Peer)
		}
		for _, leg := range o.recv {
			g.move(l.w.l.recv, leg.Buf, leg.Peer)
		}
	} else {
		for r := range l.size {
			g.block(r)
		}
	}
	g.do(l.w.l.groupEnd.Call())
	return g.code, l.w.l.errorOf(o.call.Kind.String(), g.code, l.handle)
}

// group is a group of calls for one operation.
type group struct {
	l    *channel
	o    *op
	code int32 // the first error, else the last result
}

// do records the result of a call. A group must be ended even after an error.
func (g *group) do(code int32) {
	if !failed(g.code) {
		g.code = code
	}
}

// block makes the calls for rank r's block.
func (g *group) block(r int) {
	l, q := g.l, &g.o.call
	lib, t, op := l.w.l, dtypes[q.DType], ops[q.Op]
	h, stream := l.handle, l.queue.Handle()
	switch q.Kind {
	case driver.KindAllGatherV:
		if b := q.DstBlock(r, l.size); b.N > 0 {
			src := b.Addr()
			if r == l.rank {
				src = q.Src.Addr()
			}
			g.do(lib.broadcast.Call(src, b.Addr(), uintptr(b.N)*t.per, t.code, uintptr(r), h, stream))
		}
	case driver.KindReduceScatterV:
		if b := q.SrcBlock(r, l.size); b.N > 0 {
			var dst uintptr
			if r == l.rank {
				dst = q.Dst.Addr()
			}
			g.do(lib.reduce.Call(b.Addr(), dst, uintptr(b.N)*t.per, t.code, op, uintptr(r), h, stream))
		}
	default:
		if r == l.rank {
			return
		}
		g.move(lib.send, q.To(r, l.size), r)
		g.move(lib.recv, q.From(r, l.size), r)
	}
}

// move makes one message, unless it is empty.
func (g *group) move(f dl.Func, b driver.Buf, peer int) {
	if b.N > 0 {
		t := dtypes[b.DType]
		g.do(f.Call(b.Addr(), uintptr(b.N)*t.per, t.code, uintptr(peer), g.l.handle, g.l.queue.Handle()))
	}
}

// copyOwn queues the copies of what this rank sends to itself.
func (l *channel) copyOwn(o *op) error {
	switch q := &o.call; q.Kind {
	case driver.KindAllGatherV, driver.KindReduceScatterV:
	case driver.KindExchange:
		for _, pair := range o.copies {
			if err := l.copy(pair[0], pair[1]); err != nil {
				return err
			}
		}
	default:
		return l.copy(q.From(l.rank, l.size), q.To(l.rank, l.size))
	}
	return nil
}
