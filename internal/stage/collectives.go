package stage

import (
	"context"

	"github.com/golops/golops/comm"
)

// onHost reports whether a call concerns the host communicator alone.
func onHost(dst, src comm.Buf) bool { return dst.Place == comm.OnHost && src.Place == comm.OnHost }

// through carries out call, a collective of the host communicator, on device
// memory: src comes to the host before it and dst goes to the device after it.
// Arguments that are wrong are passed on as they are, so that this rank's error
// is the host communicator's, and the other ranks hear of it.
func (c *Comm) through(k comm.Call, dst, src comm.Buf, fault error, call func(dst, src comm.Buf) error) error {
	if fault != nil {
		if err := call(dst.Raw(), src.Raw()); err != nil {
			return err
		}
		return fault
	}
	if c.direct(k, dst, src) {
		if err := c.s.idle(); err != nil {
			return err
		}
		return call(dst.Raw(), src.Raw())
	}
	p, err := c.s.borrow(dst, src)
	if err != nil {
		return err
	}
	defer c.s.giveBack(p)
	if err := c.s.fetch(p, dst, src); err != nil {
		return err
	}
	if err := call(p.dst, p.src); err != nil {
		c.s.failed = true
		return err
	}
	return c.s.deliver(p, dst)
}

// passes reports whether the host communicator does a call on device memory.
func (c *Comm) passes(k comm.Call) bool { return c.aware != nil && c.aware.PassesOn(k) }

// direct reports whether it does so with these buffers: in place, it may move
// elements itself.
func (c *Comm) direct(k comm.Call, dst, src comm.Buf) bool { return c.passes(k) && !overlap(dst, src) }

// chunked reports whether a call on buffers like b goes in chunks.
func (c *Comm) chunked(k comm.Kind, b comm.Buf, op comm.Op) bool {
	return b.Bytes() > c.s.above && !c.passes(comm.Call{Kind: k, DType: b.DType, Op: op, N: int64(b.N)})
}

// atRoot returns b on root. Elsewhere it does not matter and is left out.
func (c *Comm) atRoot(b comm.Buf, root int) comm.Buf {
	if c.Rank() != root {
		return comm.Buf{}
	}
	return b
}

// AllReduce implements comm.Comm.
func (c *Comm) AllReduce(ctx context.Context, dst, src comm.Buf, op comm.Op) error {
	if c.chunked(comm.KindAllReduce, src, op) {
		return c.allReduceChunks(ctx, dst, src, op)
	}
	if onHost(dst, src) {
		return c.host.AllReduce(ctx, dst, src, op)
	}
	k, err := comm.CheckAllReduce(comm.KindAllReduce, dst.Raw(), src.Raw(), op)
	return c.through(k, dst, src, err, func(dst, src comm.Buf) error { return c.host.AllReduce(ctx, dst, src, op) })
}

// Reduce implements comm.Comm.
func (c *Comm) Reduce(ctx context.Context, dst, src comm.Buf, op comm.Op, root int) error {
	if c.chunked(comm.KindReduce, src, op) {
		return c.reduceChunks(ctx, dst, src, op, root)
	}
	if onHost(dst, src) {
		return c.host.Reduce(ctx, dst, src, op, root)
	}
	k, err := comm.CheckReduce(c.host, dst.Raw(), src.Raw(), op, root)
	return c.through(k, c.atRoot(dst, root), src, err, func(dst, src comm.Buf) error { return c.host.Reduce(ctx, dst, src, op, root) })
}

// Broadcast implements comm.Comm.
func (c *Comm) Broadcast(ctx context.Context, b comm.Buf, root int) error {
	if c.chunked(comm.KindBroadcast, b, 0) {
		return c.broadcastChunks(ctx, b, root)
	}
	if b.Place == comm.OnHost {
		return c.host.Broadcast(ctx, b, root)
	}
	k, err := comm.CheckBroadcast(c.host, comm.KindBroadcast, b.Raw(), root)
	dst, src := c.ends(b, root)
	return c.through(k, dst, src, err, func(dst, src comm.Buf) error { return c.host.Broadcast(ctx, c.one(dst, src, root), root) })
}

// ends returns the buffer of a broadcast as the source on root and as the
// destination elsewhere; one undoes it.
func (c *Comm) ends(b comm.Buf, root int) (dst, src comm.Buf) {
	if c.Rank() == root {
		return comm.Buf{}, b
	}
	return b, comm.Buf{}
}

func (c *Comm) one(dst, src comm.Buf, root int) comm.Buf {
	if c.Rank() == root {
		return src
	}
	return dst
}

// AllGather implements comm.Comm.
func (c *Comm) AllGather(ctx context.Context, dst, src comm.Buf) error {
	if onHost(dst, src) {
		return c.host.AllGather(ctx, dst, src)
	}
	k, err := comm.CheckAllGather(c.host, comm.KindAllGather, dst.Raw(), src.Raw())
	return c.through(k, dst, src, err, func(dst, src comm.Buf) error { return c.host.AllGather(ctx, dst, src) })
}

// AllGatherV implements comm.Comm.
func (c *Comm) AllGatherV(ctx context.Context, dst comm.Buf, counts []int, src comm.Buf) error {
	if onHost(dst, src) {
		return c.host.AllGatherV(ctx, dst, counts, src)
	}
	k, err := comm.CheckAllGatherV(c.host, dst.Raw(), counts, src.Raw())
	return c.through(k, dst, src, err, func(dst, src comm.Buf) error { return c.host.AllGatherV(ctx, dst, counts, src) })
}

// Gather implements comm.Comm.
func (c *Comm) Gather(ctx context.Context, dst, src comm.Buf, root int) error {
	if onHost(dst, src) {
		return c.host.Gather(ctx, dst, src, root)
	}
	k, err := comm.CheckGather(c.host, comm.KindGather, dst.Raw(), nil, src.Raw(), root)
	return c.through(k, c.atRoot(dst, root), src, err, func(dst, src comm.Buf) error { return c.host.Gather(ctx, dst, src, root) })
}

// GatherV implements comm.Comm.
func (c *Comm) GatherV(ctx context.Context, dst comm.Buf, counts []int, src comm.Buf, root int) error {
	if onHost(dst, src) {
		return c.host.GatherV(ctx, dst, counts, src, root)
	}
	k, err := comm.CheckGather(c.host, comm.KindGatherV, dst.Raw(), counts, src.Raw(), root)
	return c.through(k, c.atRoot(dst, root), src, err, func(dst, src comm.Buf) error { return c.host.GatherV(ctx, dst, counts, src, root) })
}

// Scatter implements comm.Comm.
func (c *Comm) Scatter(ctx context.Context, dst, src comm.Buf, root int) error {
	if onHost(dst, src) {
		return c.host.Scatter(ctx, dst, src, root)
	}
	k, err := comm.CheckScatter(c.host, comm.KindScatter, dst.Raw(), src.Raw(), nil, root)
	return c.through(k, dst, c.atRoot(src, root), err, func(dst, src comm.Buf) error { return c.host.Scatter(ctx, dst, src, root) })
}

// ScatterV implements comm.Comm.
func (c *Comm) ScatterV(ctx context.Context, dst, src comm.Buf, counts []int, root int) error {
	if onHost(dst, src) {
		return c.host.ScatterV(ctx, dst, src, counts, root)
	}
	k, err := comm.CheckScatter(c.host, comm.KindScatterV, dst.Raw(), src.Raw(), counts, root)
	return c.through(k, dst, c.atRoot(src, root), err, func(dst, src comm.Buf) error { return c.host.ScatterV(ctx, dst, src, counts, root) })
}

// ReduceScatter implements comm.Comm.
func (c *Comm) ReduceScatter(ctx context.Context, dst, src comm.Buf, op comm.Op) error {
	if onHost(dst, src) {
		return c.host.ReduceScatter(ctx, dst, src, op)
	}
	k, err := comm.CheckReduceScatter(c.host, comm.KindReduceScatter, dst.Raw(), src.Raw(), nil, op)
	return c.through(k, dst, src, err, func(dst, src comm.Buf) error { return c.host.ReduceScatter(ctx, dst, src, op) })
}

// ReduceScatterV implements comm.Comm.
func (c *Comm) ReduceScatterV(ctx context.Context, dst, src comm.Buf, counts []int, op comm.Op) error {
	if onHost(dst, src) {
		return c.host.ReduceScatterV(ctx, dst, src, counts, op)
	}
	k, err := comm.CheckReduceScatter(c.host, comm.KindReduceScatterV, dst.Raw(), src.Raw(), counts, op)
	return c.through(k, dst, src, err, func(dst, src comm.Buf) error { return c.host.ReduceScatterV(ctx, dst, src, counts, op) })
}

// AllToAll implements comm.Comm.
func (c *Comm) AllToAll(ctx context.Context, dst, src comm.Buf) error {
	if onHost(dst, src) {
		return c.host.AllToAll(ctx, dst, src)
	}
	k, err := comm.CheckAllToAll(c.host, dst.Raw(), src.Raw())
	return c.through(k, dst, src, err, func(dst, src comm.Buf) error { return c.host.AllToAll(ctx, dst, src) })
}

// AllToAllV implements comm.Comm.
func (c *Comm) AllToAllV(ctx context.Context, dst comm.Buf, recvCounts []int, src comm.Buf, sendCounts []int) error {
	if onHost(dst, src) {
		return c.host.AllToAllV(ctx, dst, recvCounts, src, sendCounts)
	}
	k, err := comm.CheckAllToAllV(c.host, dst.Raw(), recvCounts, src.Raw(), sendCounts)
	return c.through(k, dst, src, err, func(dst, src comm.Buf) error {
		return c.host.AllToAllV(ctx, dst, recvCounts, src, sendCounts)
	})
}
