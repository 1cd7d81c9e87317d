package staged

import (
	"context"

	"github.com/golops/golops/comm"
)

// onHost reports whether both buffers are in host memory.
func onHost(dst, src comm.Buf) bool { return dst.Place == comm.OnHost && src.Place == comm.OnHost }

// do runs a collective. Invalid arguments are passed to the host communicator, so that this rank
// gets its error and the other ranks see it.
func (c *Comm) do(ctx context.Context, k comm.Call, fault error, dst, src side, call func(dst, src side) error) error {
	if c.closed {
		return comm.ErrClosed
	}
	if fault == nil && !c.takesGPUMemory(k) && (k.N < 0 || c.above(k, int(k.N))) {
		chunks, err := c.agree(ctx, k, dst, src)
		if err != nil {
			return err
		}
		if chunks > 0 {
			t, err := c.newPipeline(dst, src, chunks, c.chunkElements(k))
			if err != nil {
				return err
			}
			return t.run(call)
		}
	}
	if onHost(dst.buf, src.buf) {
		return call(dst, src)
	}
	return c.viaHost(k, dst, src, fault, call)
}

// viaHost runs call, a collective of the host communicator, on GPU memory. It copies src to the
// host before the call and dst to the GPU after it.
func (c *Comm) viaHost(k comm.Call, dst, src side, fault error, call func(dst, src side) error) error {
	to, from := dst.buf, src.buf
	dst.buf, src.buf = to.IgnorePlace(), from.IgnorePlace()
	if fault != nil {
		if err := call(dst, src); err != nil {
			return err
		}
		return fault
	}
	if c.direct(k, to, from) {
		if err := c.s.awaitKernels(); err != nil {
			return err
		}
		return call(dst, src)
	}
	p, err := c.s.stage(to, from)
	if err != nil {
		return err
	}
	defer c.s.release(p)
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

// takesGPUMemory reports whether the host communicator is GPU-aware in a call.
func (c *Comm) takesGPUMemory(k comm.Call) bool {
	return c.gpuAware != nil && c.gpuAware.TakesGPUMemory(k)
}

// direct reports whether the host communicator takes these buffers in GPU memory. In place it
// does not, because it may copy elements itself.
func (c *Comm) direct(k comm.Call, dst, src comm.Buf) bool {
	return c.takesGPUMemory(k) && !overlap(dst, src)
}

// atRoot returns b on root and an empty side elsewhere, where b is not used.
func (c *Comm) atRoot(b side, root int) side {
	if c.Rank() != root {
		return side{}
	}
	return b
}

// AllReduce implements comm.Comm.
func (c *Comm) AllReduce(ctx context.Context, dst, src comm.Buf, op comm.Op) error {
	k, err := comm.CheckAllReduce(comm.KindAllReduce, dst.IgnorePlace(), src.IgnorePlace(), op)
	return c.do(ctx, k, err, single(dst), single(src), func(dst, src side) error {
		return c.host.AllReduce(ctx, dst.buf, src.buf, op)
	})
}

// Reduce implements comm.Comm.
func (c *Comm) Reduce(ctx context.Context, dst, src comm.Buf, op comm.Op, root int) error {
	k, err := comm.CheckReduce(c.host, dst.IgnorePlace(), src.IgnorePlace(), op, root)
	return c.do(ctx, k, err, c.atRoot(single(dst), root), single(src), func(dst, src side) error {
		return c.host.Reduce(ctx, dst.buf, src.buf, op, root)
	})
}

// Broadcast implements comm.Comm.
func (c *Comm) Broadcast(ctx context.Context, b comm.Buf, root int) error {
	k, err := comm.CheckBroadcast(c.host, comm.KindBroadcast, b.IgnorePlace(), root)
	dst, src := c.asDstOrSrc(b, root)
	return c.do(ctx, k, err, single(dst), single(src), func(dst, src side) error {
		return c.host.Broadcast(ctx, c.broadcastBuf(dst.buf, src.buf, root), root)
	})
}

// asDstOrSrc returns the buffer of a broadcast as the source on root and as the destination
// elsewhere. broadcastBuf is the inverse.
func (c *Comm) asDstOrSrc(b comm.Buf, root int) (dst, src comm.Buf) {
	if c.Rank() == root {
		return comm.Buf{}, b
	}
	return b, comm.Buf{}
}

func (c *Comm) broadcastBuf(dst, src comm.Buf, root int) comm.Buf {
	if c.Rank() == root {
		return src
	}
	return dst
}

// AllGather implements comm.Comm.
func (c *Comm) AllGather(ctx context.Context, dst, src comm.Buf) error {
	k, err := comm.CheckAllGather(c.host, comm.KindAllGather, dst.IgnorePlace(), src.IgnorePlace())
	return c.do(ctx, k, err, blocks(dst, c.Size()), single(src), func(dst, src side) error {
		return c.host.AllGather(ctx, dst.buf, src.buf)
	})
}

// AllGatherV implements comm.Comm.
func (c *Comm) AllGatherV(ctx context.Context, dst comm.Buf, counts []int, src comm.Buf) error {
	k, err := comm.CheckAllGatherV(c.host, dst.IgnorePlace(), counts, src.IgnorePlace())
	return c.do(ctx, k, err, blocksV(dst, counts), single(src), func(dst, src side) error {
		return c.host.AllGatherV(ctx, dst.buf, dst.counts, src.buf)
	})
}

// Gather implements comm.Comm.
func (c *Comm) Gather(ctx context.Context, dst, src comm.Buf, root int) error {
	k, err := comm.CheckGather(c.host, comm.KindGather, dst.IgnorePlace(), nil, src.IgnorePlace(), root)
	return c.do(ctx, k, err, c.atRoot(blocks(dst, c.Size()), root), single(src), func(dst, src side) error {
		return c.host.Gather(ctx, dst.buf, src.buf, root)
	})
}

// GatherV implements comm.Comm.
func (c *Comm) GatherV(ctx context.Context, dst comm.Buf, counts []int, src comm.Buf, root int) error {
	k, err := comm.CheckGather(c.host, comm.KindGatherV, dst.IgnorePlace(), counts, src.IgnorePlace(), root)
	return c.do(ctx, k, err, c.atRoot(blocksV(dst, counts), root), single(src), func(dst, src side) error {
		return c.host.GatherV(ctx, dst.buf, dst.counts, src.buf, root)
	})
}

// Scatter implements comm.Comm.
func (c *Comm) Scatter(ctx context.Context, dst, src comm.Buf, root int) error {
	k, err := comm.CheckScatter(c.host, comm.KindScatter, dst.IgnorePlace(), src.IgnorePlace(), nil, root)
	return c.do(ctx, k, err, single(dst), c.atRoot(blocks(src, c.Size()), root), func(dst, src side) error {
		return c.host.Scatter(ctx, dst.buf, src.buf, root)
	})
}

// ScatterV implements comm.Comm.
func (c *Comm) ScatterV(ctx context.Context, dst, src comm.Buf, counts []int, root int) error {
	k, err := comm.CheckScatter(c.host, comm.KindScatterV, dst.IgnorePlace(), src.IgnorePlace(), counts, root)
	return c.do(ctx, k, err, single(dst), c.atRoot(blocksV(src, counts), root), func(dst, src side) error {
		return c.host.ScatterV(ctx, dst.buf, src.buf, src.counts, root)
	})
}

// ReduceScatter implements comm.Comm.
func (c *Comm) ReduceScatter(ctx context.Context, dst, src comm.Buf, op comm.Op) error {
	k, err := comm.CheckReduceScatter(c.host, comm.KindReduceScatter, dst.IgnorePlace(), src.IgnorePlace(), nil, op)
	return c.do(ctx, k, err, single(dst), blocks(src, c.Size()), func(dst, src side) error {
		return c.host.ReduceScatter(ctx, dst.buf, src.buf, op)
	})
}

// ReduceScatterV implements comm.Comm.
func (c *Comm) ReduceScatterV(ctx context.Context, dst, src comm.Buf, counts []int, op comm.Op) error {
	k, err := comm.CheckReduceScatter(c.host, comm.KindReduceScatterV, dst.IgnorePlace(), src.IgnorePlace(), counts, op)
	return c.do(ctx, k, err, single(dst), blocksV(src, counts), func(dst, src side) error {
		return c.host.ReduceScatterV(ctx, dst.buf, src.buf, src.counts, op)
	})
}

// AllToAll implements comm.Comm.
func (c *Comm) AllToAll(ctx context.Context, dst, src comm.Buf) error {
	k, err := comm.CheckAllToAll(c.host, dst.IgnorePlace(), src.IgnorePlace())
	return c.do(ctx, k, err, blocks(dst, c.Size()), blocks(src, c.Size()), func(dst, src side) error {
		return c.host.AllToAll(ctx, dst.buf, src.buf)
	})
}

// AllToAllV implements comm.Comm.
func (c *Comm) AllToAllV(ctx context.Context, dst comm.Buf, recvCounts []int, src comm.Buf, sendCounts []int) error {
	k, err := comm.CheckAllToAllV(c.host, dst.IgnorePlace(), recvCounts, src.IgnorePlace(), sendCounts)
	return c.do(ctx, k, err, blocksV(dst, recvCounts), blocksV(src, sendCounts), func(dst, src side) error {
		return c.host.AllToAllV(ctx, dst.buf, dst.counts, src.buf, src.counts)
	})
}
