package nccl

import (
	"runtime"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/internal/dl"
)

// launch starts an operation in the library, or a copy if there is one rank. It returns
// inProgress if the library is still launching.
func (l *channel) launch(o *op) (int32, error) {
	if l.size == 1 {
		return success, l.copy(o.dst, o.src)
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
	lib, t := l.w.l, dtypes[o.call.DType]
	dst, src, root := o.dst.Addr(), o.src.Addr(), uintptr(o.call.Peer)
	h, q := l.handle, l.queue.Handle()
	n := uintptr(o.src.N) * t.per
	var code int32
	switch k := o.call.Kind; k {
	case comm.KindAllReduce, comm.KindIAllReduce:
		code = lib.allReduce.Call(src, dst, n, t.code, ops[o.call.Op], h, q)
	case comm.KindReduce:
		code = lib.reduce.Call(src, dst, n, t.code, ops[o.call.Op], root, h, q)
	case comm.KindBroadcast, comm.KindIBroadcast:
		code = lib.broadcast.Call(src, dst, n, t.code, root, h, q)
	case comm.KindAllGather, comm.KindIAllGather:
		code = lib.allGather.Call(src, dst, n, t.code, h, q)
	case comm.KindReduceScatter:
		code = lib.reduceScatter.Call(src, dst, uintptr(o.dst.N)*t.per, t.code, ops[o.call.Op], h, q)
	case comm.KindSend: // a channel of messages has two ranks; the sender is 0
		code = lib.send.Call(src, n, t.code, 1, h, q)
	case comm.KindRecv:
		code = lib.recv.Call(dst, n, t.code, 0, h, q)
	case comm.KindAllToAll:
		if lib.allToAll == 0 {
			return l.grouped(o)
		}
		code = lib.allToAll.Call(src, dst, n/uintptr(l.size), t.code, h, q)
	case comm.KindGather:
		if lib.gather == 0 {
			return l.grouped(o)
		}
		code = lib.gather.Call(src, dst, n, t.code, root, h, q)
	case comm.KindScatter:
		if lib.scatter == 0 {
			return l.grouped(o)
		}
		code = lib.scatter.Call(src, dst, uintptr(o.dst.N)*t.per, t.code, root, h, q)
	default:
		return l.grouped(o)
	}
	return code, lib.errorOf(o.call.Kind.String(), code, h)
}

// copy queues a copy of src to dst, if they differ.
func (l *channel) copy(dst, src comm.Buf) error {
	if dst.N == 0 || comm.Same(dst, src) {
		return nil
	}
	return l.queue.Copy(dst.Addr(), src.Addr(), dst.Bytes())
}

// grouped launches an operation for which the library has no single call, as a group of
// calls. The block that stays on this rank is copied.
//
//   - AllGatherV is a broadcast of each rank's block, ReduceScatterV a reduction of each.
//     Padding to equal blocks would take one call, but also memory and copies.
//   - All others consist of messages.
func (l *channel) grouped(o *op) (int32, error) {
	if err := l.copySelf(o); err != nil {
		return 0, err
	}
	g := group{l: l, o: o}
	g.do(l.w.l.groupStart.Call())
	for r := range l.size {
		g.block(r)
	}
	g.do(l.w.l.groupEnd.Call())
	code := g.first
	if g.first == success {
		code = g.last
	}
	return code, l.w.l.errorOf(o.call.Kind.String(), code, l.handle)
}

// group is a group of calls for one operation.
type group struct {
	l     *channel
	o     *op
	first int32 // error
	last  int32 // result
}

// do records the result of a call. A group must be ended even after an error.
func (g *group) do(code int32) {
	if failed(code) && g.first == success {
		g.first = code
	}
	g.last = code
}

// block makes the calls for rank r's block.
func (g *group) block(r int) {
	l, o := g.l, g.o
	lib, t := l.w.l, dtypes[o.call.DType]
	h, q := l.handle, l.queue.Handle()
	switch o.call.Kind {
	case comm.KindAllGatherV:
		if b := comm.BlockV(o.dst, o.in, r); b.N > 0 {
			src := b.Addr()
			if r == l.rank {
				src = o.src.Addr()
			}
			g.do(lib.broadcast.Call(src, b.Addr(), uintptr(b.N)*t.per, t.code, uintptr(r), h, q))
		}
		return
	case comm.KindReduceScatterV:
		if b := comm.BlockV(o.src, o.in, r); b.N > 0 {
			var dst uintptr
			if r == l.rank {
				dst = o.dst.Addr()
			}
			g.do(lib.reduce.Call(b.Addr(), dst, uintptr(b.N)*t.per, t.code, ops[o.call.Op], uintptr(r), h, q))
		}
		return
	}
	if r == l.rank {
		return
	}
	if out := o.outgoing(r); out.N > 0 {
		g.move(lib.send, out, r)
	}
	if in := o.incoming(r); in.N > 0 {
		g.move(lib.recv, in, r)
	}
}

func (g *group) move(f dl.Func, b comm.Buf, peer int) {
	t := dtypes[b.DType]
	g.do(f.Call(b.Addr(), uintptr(b.N)*t.per, t.code, uintptr(peer), g.l.handle, g.l.queue.Handle()))
}

// copySelf copies the block that this rank sends to itself.
func (l *channel) copySelf(o *op) error {
	if k := o.call.Kind; k == comm.KindAllGatherV || k == comm.KindReduceScatterV {
		return nil
	}
	return l.copy(o.incoming(l.rank), o.outgoing(l.rank))
}

// outgoing returns the block that goes to rank r, incoming the block that comes from it,
// in an operation that consists of messages.
func (o *op) outgoing(r int) comm.Buf {
	n, root := o.c.n, int(o.call.Peer)
	switch k := o.call.Kind; {
	case k == comm.KindAllToAll:
		return comm.Block(o.src, r, n)
	case k == comm.KindAllToAllV:
		return comm.BlockV(o.src, o.out, r)
	case (k == comm.KindGather || k == comm.KindGatherV) && r == root:
		return o.src
	case k == comm.KindScatter && o.c.me == root:
		return comm.Block(o.src, r, n)
	case k == comm.KindScatterV && o.c.me == root:
		return comm.BlockV(o.src, o.in, r)
	}
	return comm.Buf{}
}

func (o *op) incoming(r int) comm.Buf {
	n, root := o.c.n, int(o.call.Peer)
	switch k := o.call.Kind; {
	case k == comm.KindAllToAll:
		return comm.Block(o.dst, r, n)
	case k == comm.KindAllToAllV:
		return comm.BlockV(o.dst, o.in, r)
	case k == comm.KindGather && o.c.me == root:
		return comm.Block(o.dst, r, n)
	case k == comm.KindGatherV && o.c.me == root:
		return comm.BlockV(o.dst, o.in, r)
	case (k == comm.KindScatter || k == comm.KindScatterV) && r == root:
		return o.dst
	}
	return comm.Buf{}
}
