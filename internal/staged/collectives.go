package staged

import (
	"context"

	"github.com/golops/golops/comm"
)

// onHost reports whether a call concerns the host communicator alone.
func onHost(dst, src comm.Buf) bool { return dst.Place == comm.OnHost && src.Place == comm.OnHost }

// do carries out a collective. Arguments that are wrong are passed on as they
// are, so that this rank's error is the host communicator's, and the other ranks
// hear of it.
func (c *Comm) do(ctx context.Context, k comm.Call, fault error, dst, src side, call func(dst, src side) error) error {
	if c.shut {
		return comm.ErrClosed
	}
	if fault == nil && !c.passes(k) && (k.N < 0 || c.above(k, int(k.N))) {
		chunks, err := c.agree(ctx, k, dst, src)
		if err != nil {
			return err
		}
		if chunks > 0 {
			t, err := c.newTrain(dst, src, chunks, c.per(k))
			if err != nil {
				return err
			}
			return t.run(call)
		}
	}
	if onHost(dst.buf, src.buf) {
		return call(dst, src)
	}
	return c.through(k, dst, src, fault, call)
}

// through carries out call, a collective of the host communicator, on device
// memory: src comes to the host before it and dst goes to the device after it.
func (c *Comm) through(k comm.Call, dst, src side, fault error, call func(dst, src side) error) error {
	to, from := dst.buf, src.buf
	dst.buf, src.buf = to.IgnorePlace(), from.IgnorePlace()
	if fault != nil {
		if err := call(dst, src); err != nil {
			return err
		}
		return fault
	}
	if c.direct(k, to, from) {
		if err := c.s.idle(); err != nil {
			return err
		}
		return call(dst, src)
	}
	p, err := c.s.borrow(to, from)
	if err != nil {
		return err
	}
	defer c.s.giveBack(p)
	if err := c.s.fetch(p, to, from); err != nil {
		return err
	}
	dst.buf, src.buf = p.dst, p.src
	if err := call(dst, src); err != nil {
		c.s.failed = true
		return err
	}
	return c.s.deliver(p, to)
}

// passes reports whether the host communicator does a call on GPU memory.
func (c *Comm) passes(k comm.Call) bool { return c.aware != nil && c.aware.TakesGPUMemory(k) }

// direct reports whether it does so with these buffers: in place, it may move
// elements itself.
func (c *Comm) direct(k comm.Call, dst, src comm.Buf) bool { return c.passes(k) && !overlap(dst, src) }

// atRoot returns b on root. Elsewhere it does not matter and is left out.
func (c *Comm) atRoot(b side, root int) side {
	if c.Rank() != root {
		return side{}
	}
	return b
}

// AllReduce implements comm.Comm.
func (c *Comm) AllReduce(ctx context.Context, dst, src comm.Buf, op comm.Op) error {
	k, err := comm.CheckAllReduce(comm.KindAllReduce, dst.IgnorePlace(), src.IgnorePlace(), op)
	return c.do(ctx, k, err, whole(dst), whole(src), func(dst, src side) error {
		return c.host.AllReduce(ctx, dst.buf, src.buf, op)
	})
}

// Reduce implements comm.Comm.
func (c *Comm) Reduce(ctx context.Context, dst, src comm.Buf, op comm.Op, root int) error {
	k, err := comm.CheckReduce(c.host, dst.IgnorePlace(), src.IgnorePlace(), op, root)
	return c.do(ctx, k, err, c.atRoot(whole(dst), root), whole(src), func(dst, src side) error {
		return c.host.Reduce(ctx, dst.buf, src.buf, op, root)
	})
}

// Broadcast implements comm.Comm.
func (c *Comm) Broadcast(ctx context.Context, b comm.Buf, root int) error {
	k, err := comm.CheckBroadcast(c.host, comm.KindBroadcast, b.IgnorePlace(), root)
	dst, src := c.ends(b, root)
	return c.do(ctx, k, err, whole(dst), whole(src), func(dst, src side) error {
		return c.host.Broadcast(ctx, c.one(dst.buf, src.buf, root), root)
	})
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
	k, err := comm.CheckAllGather(c.host, comm.KindAllGather, dst.IgnorePlace(), src.IgnorePlace())
	return c.do(ctx, k, err, even(dst, c.Size()), whole(src), func(dst, src side) error {
		return c.host.AllGather(ctx, dst.buf, src.buf)
	})
}

// AllGatherV implements comm.Comm.
func (c *Comm) AllGatherV(ctx context.Context, dst comm.Buf, counts []int, src comm.Buf) error {
	k, err := comm.CheckAllGatherV(c.host, dst.IgnorePlace(), counts, src.IgnorePlace())
	return c.do(ctx, k, err, uneven(dst, counts), whole(src), func(dst, src side) error {
		return c.host.AllGatherV(ctx, dst.buf, dst.counts, src.buf)
	})
}

// Gather implements comm.Comm.
func (c *Comm) Gather(ctx context.Context, dst, src comm.Buf, root int) error {
	k, err := comm.CheckGather(c.host, comm.KindGather, dst.IgnorePlace(), nil, src.IgnorePlace(), root)
	return c.do(ctx, k, err, c.atRoot(even(dst, c.Size()), root), whole(src), func(dst, src side) error {
		return c.host.Gather(ctx, dst.buf, src.buf, root)
	})
}

// GatherV implements comm.Comm.
func (c *Comm) GatherV(ctx context.Context, dst comm.Buf, counts []int, src comm.Buf, root int) error {
	k, err := comm.CheckGather(c.host, comm.KindGatherV, dst.IgnorePlace(), counts, src.IgnorePlace(), root)
	return c.do(ctx, k, err, c.atRoot(uneven(dst, counts), root), whole(src), func(dst, src side) error {
		return c.host.GatherV(ctx, dst.buf, dst.counts, src.buf, root)
	})
}

// Scatter implements comm.Comm.
func (c *Comm) Scatter(ctx context.Context, dst, src comm.Buf, root int) error {
	k, err := comm.CheckScatter(c.host, comm.KindScatter, dst.IgnorePlace(), src.IgnorePlace(), nil, root)
	return c.do(ctx, k, err, whole(dst), c.atRoot(even(src, c.Size()), root), func(dst, src side) error {
		return c.host.Scatter(ctx, dst.buf, src.buf, root)
	})
}

// ScatterV implements comm.Comm.
func (c *Comm) ScatterV(ctx context.Context, dst, src comm.Buf, counts []int, root int) error {
	k, err := comm.CheckScatter(c.host, comm.KindScatterV, dst.IgnorePlace(), src.IgnorePlace(), counts, root)
	return c.do(ctx, k, err, whole(dst), c.atRoot(uneven(src, counts), root), func(dst, src side) error {
		return c.host.ScatterV(ctx, dst.buf, src.buf, src.counts, root)
	})
}

// ReduceScatter implements comm.Comm.
func (c *Comm) ReduceScatter(ctx context.Context, dst, src comm.Buf, op comm.Op) error {
	k, err := comm.CheckReduceScatter(c.host, comm.KindReduceScatter, dst.IgnorePlace(), src.IgnorePlace(), nil, op)
	return c.do(ctx, k, err, whole(dst), even(src, c.Size()), func(dst, src side) error {
		return c.host.ReduceScatter(ctx, dst.buf, src.buf, op)
	})
}

// ReduceScatterV implements comm.Comm.
func (c *Comm) ReduceScatterV(ctx context.Context, dst, src comm.Buf, counts []int, op comm.Op) error {
	k, err := comm.CheckReduceScatter(c.host, comm.KindReduceScatterV, dst.IgnorePlace(), src.IgnorePlace(), counts, op)
	return c.do(ctx, k, err, whole(dst), uneven(src, counts), func(dst, src side) error {
		return c.host.ReduceScatterV(ctx, dst.buf, src.buf, src.counts, op)
	})
}

// AllToAll implements comm.Comm.
func (c *Comm) AllToAll(ctx context.Context, dst, src comm.Buf) error {
	k, err := comm.CheckAllToAll(c.host, dst.IgnorePlace(), src.IgnorePlace())
	return c.do(ctx, k, err, even(dst, c.Size()), even(src, c.Size()), func(dst, src side) error {
		return c.host.AllToAll(ctx, dst.buf, src.buf)
	})
}

// AllToAllV implements comm.Comm.
func (c *Comm) AllToAllV(ctx context.Context, dst comm.Buf, recvCounts []int, src comm.Buf, sendCounts []int) error {
	k, err := comm.CheckAllToAllV(c.host, dst.IgnorePlace(), recvCounts, src.IgnorePlace(), sendCounts)
	return c.do(ctx, k, err, uneven(dst, recvCounts), uneven(src, sendCounts), func(dst, src side) error {
		return c.host.AllToAllV(ctx, dst.buf, dst.counts, src.buf, src.counts)
	})
}
