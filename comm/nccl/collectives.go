package nccl

import (
	"context"

	"github.com/golops/golops/comm"
)

// collective runs call. On host memory it uses the host's communicator, for reductions that
// the library cannot do a staged one, otherwise the library. via makes the call on another
// communicator.
func (c *Comm) collective(ctx context.Context, call comm.Call, fault error, dst, src comm.Buf, in, out []int, via func(comm.Comm) error) error {
	other, err := c.route(ctx, &call, fault, dst, src, in, out)
	switch {
	case err != nil:
		return err
	case other != nil:
		return via(other)
	}
	return c.do(ctx, call, dst, src, in, out)
}

// start is collective for a non-blocking call.
func (c *Comm) start(ctx context.Context, call comm.Call, fault error, dst, src comm.Buf, via func(comm.Comm) (comm.Request, error)) (comm.Request, error) {
	if fault == nil {
		fault = c.pending.CheckLimit(call.Kind)
	}
	other, err := c.route(ctx, &call, fault, dst, src, nil, nil)
	switch {
	case err != nil:
		return comm.Request{}, err
	case other != nil:
		return c.wrapHost(via(other))
	}
	return c.begin(ctx, call, dst, src, nil, nil)
}

// route returns the communicator for call, or nil for the library.
func (c *Comm) route(ctx context.Context, call *comm.Call, fault error, dst, src comm.Buf, in, out []int) (comm.Comm, error) {
	if c.closed {
		return nil, comm.ErrClosed
	}
	dev, err := c.onGPU(ctx, call.Kind, dst, src)
	if err != nil {
		return nil, err
	}
	if !dev {
		return c.host, nil
	}
	if err := c.enter(ctx, call, fault); err != nil {
		return nil, err
	}
	n := src.N
	switch call.Kind {
	case comm.KindScatterV:
		n = dst.N
		fallthrough
	case comm.KindAllGatherV, comm.KindReduceScatterV, comm.KindGatherV, comm.KindAllToAllV:
		if err := c.compareCounts(ctx, call, n, in, out); err != nil {
			return nil, err
		}
	}
	if c.n == 1 || reduces(call.Op, call.DType, c.n) {
		return nil, nil
	}
	return c.stage()
}

// AllReduce implements comm.Comm.
func (c *Comm) AllReduce(ctx context.Context, dst, src comm.Buf, op comm.Op) error {
	call, err := comm.CheckAllReduce(comm.KindAllReduce, dst.IgnorePlace(), src.IgnorePlace(), op)
	return c.collective(ctx, call, err, dst, src, nil, nil, func(o comm.Comm) error { return o.AllReduce(ctx, dst, src, op) })
}

// Reduce implements comm.Comm.
func (c *Comm) Reduce(ctx context.Context, dst, src comm.Buf, op comm.Op, root int) error {
	if c.me != root {
		dst = comm.Buf{DType: src.DType}
	}
	call, err := comm.CheckReduce(c, dst.IgnorePlace(), src.IgnorePlace(), op, root)
	return c.collective(ctx, call, err, dst, src, nil, nil, func(o comm.Comm) error { return o.Reduce(ctx, dst, src, op, root) })
}

// ReduceScatter implements comm.Comm.
func (c *Comm) ReduceScatter(ctx context.Context, dst, src comm.Buf, op comm.Op) error {
	call, err := comm.CheckReduceScatter(c, comm.KindReduceScatter, dst.IgnorePlace(), src.IgnorePlace(), nil, op)
	return c.collective(ctx, call, err, dst, src, nil, nil, func(o comm.Comm) error { return o.ReduceScatter(ctx, dst, src, op) })
}

// ReduceScatterV implements comm.Comm.
func (c *Comm) ReduceScatterV(ctx context.Context, dst, src comm.Buf, counts []int, op comm.Op) error {
	call, err := comm.CheckReduceScatter(c, comm.KindReduceScatterV, dst.IgnorePlace(), src.IgnorePlace(), counts, op)
	return c.collective(ctx, call, err, dst, src, counts, nil, func(o comm.Comm) error { return o.ReduceScatterV(ctx, dst, src, counts, op) })
}

// Broadcast implements comm.Comm.
func (c *Comm) Broadcast(ctx context.Context, b comm.Buf, root int) error {
	call, err := comm.CheckBroadcast(c, comm.KindBroadcast, b.IgnorePlace(), root)
	return c.collective(ctx, call, err, b, b, nil, nil, func(o comm.Comm) error { return o.Broadcast(ctx, b, root) })
}

// AllGather implements comm.Comm.
func (c *Comm) AllGather(ctx context.Context, dst, src comm.Buf) error {
	call, err := comm.CheckAllGather(c, comm.KindAllGather, dst.IgnorePlace(), src.IgnorePlace())
	return c.collective(ctx, call, err, dst, src, nil, nil, func(o comm.Comm) error { return o.AllGather(ctx, dst, src) })
}

// AllGatherV implements comm.Comm.
func (c *Comm) AllGatherV(ctx context.Context, dst comm.Buf, counts []int, src comm.Buf) error {
	call, err := comm.CheckAllGatherV(c, dst.IgnorePlace(), counts, src.IgnorePlace())
	return c.collective(ctx, call, err, dst, src, counts, nil, func(o comm.Comm) error { return o.AllGatherV(ctx, dst, counts, src) })
}

// Gather implements comm.Comm.
func (c *Comm) Gather(ctx context.Context, dst, src comm.Buf, root int) error {
	if c.me != root {
		dst = comm.Buf{DType: src.DType}
	}
	call, err := comm.CheckGather(c, comm.KindGather, dst.IgnorePlace(), nil, src.IgnorePlace(), root)
	return c.collective(ctx, call, err, dst, src, nil, nil, func(o comm.Comm) error { return o.Gather(ctx, dst, src, root) })
}

// GatherV implements comm.Comm.
func (c *Comm) GatherV(ctx context.Context, dst comm.Buf, counts []int, src comm.Buf, root int) error {
	if c.me != root {
		dst, counts = comm.Buf{DType: src.DType}, nil
	}
	call, err := comm.CheckGather(c, comm.KindGatherV, dst.IgnorePlace(), counts, src.IgnorePlace(), root)
	return c.collective(ctx, call, err, dst, src, counts, nil, func(o comm.Comm) error { return o.GatherV(ctx, dst, counts, src, root) })
}

// Scatter implements comm.Comm.
func (c *Comm) Scatter(ctx context.Context, dst, src comm.Buf, root int) error {
	if c.me != root {
		src = comm.Buf{DType: dst.DType}
	}
	call, err := comm.CheckScatter(c, comm.KindScatter, dst.IgnorePlace(), src.IgnorePlace(), nil, root)
	return c.collective(ctx, call, err, dst, src, nil, nil, func(o comm.Comm) error { return o.Scatter(ctx, dst, src, root) })
}

// ScatterV implements comm.Comm.
func (c *Comm) ScatterV(ctx context.Context, dst, src comm.Buf, counts []int, root int) error {
	if c.me != root {
		src, counts = comm.Buf{DType: dst.DType}, nil
	}
	call, err := comm.CheckScatter(c, comm.KindScatterV, dst.IgnorePlace(), src.IgnorePlace(), counts, root)
	return c.collective(ctx, call, err, dst, src, counts, nil, func(o comm.Comm) error { return o.ScatterV(ctx, dst, src, counts, root) })
}

// AllToAll implements comm.Comm.
func (c *Comm) AllToAll(ctx context.Context, dst, src comm.Buf) error {
	call, err := comm.CheckAllToAll(c, dst.IgnorePlace(), src.IgnorePlace())
	return c.collective(ctx, call, err, dst, src, nil, nil, func(o comm.Comm) error { return o.AllToAll(ctx, dst, src) })
}

// AllToAllV implements comm.Comm.
func (c *Comm) AllToAllV(ctx context.Context, dst comm.Buf, recvCounts []int, src comm.Buf, sendCounts []int) error {
	call, err := comm.CheckAllToAllV(c, dst.IgnorePlace(), recvCounts, src.IgnorePlace(), sendCounts)
	return c.collective(ctx, call, err, dst, src, recvCounts, sendCounts, func(o comm.Comm) error {
		return o.AllToAllV(ctx, dst, recvCounts, src, sendCounts)
	})
}

// IAllReduce implements comm.Comm.
func (c *Comm) IAllReduce(ctx context.Context, dst, src comm.Buf, op comm.Op) (comm.Request, error) {
	call, err := comm.CheckAllReduce(comm.KindIAllReduce, dst.IgnorePlace(), src.IgnorePlace(), op)
	return c.start(ctx, call, err, dst, src, func(o comm.Comm) (comm.Request, error) { return o.IAllReduce(ctx, dst, src, op) })
}

// IBroadcast implements comm.Comm.
func (c *Comm) IBroadcast(ctx context.Context, b comm.Buf, root int) (comm.Request, error) {
	call, err := comm.CheckBroadcast(c, comm.KindIBroadcast, b.IgnorePlace(), root)
	return c.start(ctx, call, err, b, b, func(o comm.Comm) (comm.Request, error) { return o.IBroadcast(ctx, b, root) })
}

// IAllGather implements comm.Comm.
func (c *Comm) IAllGather(ctx context.Context, dst, src comm.Buf) (comm.Request, error) {
	call, err := comm.CheckAllGather(c, comm.KindIAllGather, dst.IgnorePlace(), src.IgnorePlace())
	return c.start(ctx, call, err, dst, src, func(o comm.Comm) (comm.Request, error) { return o.IAllGather(ctx, dst, src) })
}
