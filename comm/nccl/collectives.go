package nccl

import (
	"context"

	"github.com/golops/golops/comm"
)

// AllReduce implements comm.Comm.
func (c *Comm) AllReduce(ctx context.Context, dst, src comm.Buf, op comm.Op) error {
	dev, err := where(comm.KindAllReduce, dst, src)
	if err != nil {
		return err
	}
	if !dev {
		return c.host.AllReduce(ctx, dst, src, op)
	}
	call, err := comm.CheckAllReduce(comm.KindAllReduce, dst.Raw(), src.Raw(), op)
	if err := c.enter(ctx, &call, err); err != nil {
		return err
	}
	if !c.reduces(&call) {
		s, err := c.stage()
		if err != nil {
			return err
		}
		return s.AllReduce(ctx, dst, src, op)
	}
	return c.do(ctx, call, dst, src, nil, nil)
}

// Reduce implements comm.Comm.
func (c *Comm) Reduce(ctx context.Context, dst, src comm.Buf, op comm.Op, root int) error {
	if c.me != root {
		dst = comm.Buf{DType: src.DType}
	}
	dev, err := where(comm.KindReduce, dst, src)
	if err != nil {
		return err
	}
	if !dev {
		return c.host.Reduce(ctx, dst, src, op, root)
	}
	call, err := comm.CheckReduce(c, dst.Raw(), src.Raw(), op, root)
	if err := c.enter(ctx, &call, err); err != nil {
		return err
	}
	if !c.reduces(&call) {
		s, err := c.stage()
		if err != nil {
			return err
		}
		return s.Reduce(ctx, dst, src, op, root)
	}
	return c.do(ctx, call, dst, src, nil, nil)
}

// ReduceScatter implements comm.Comm.
func (c *Comm) ReduceScatter(ctx context.Context, dst, src comm.Buf, op comm.Op) error {
	dev, err := where(comm.KindReduceScatter, dst, src)
	if err != nil {
		return err
	}
	if !dev {
		return c.host.ReduceScatter(ctx, dst, src, op)
	}
	call, err := comm.CheckReduceScatter(c, comm.KindReduceScatter, dst.Raw(), src.Raw(), nil, op)
	if err := c.enter(ctx, &call, err); err != nil {
		return err
	}
	if !c.reduces(&call) {
		s, err := c.stage()
		if err != nil {
			return err
		}
		return s.ReduceScatter(ctx, dst, src, op)
	}
	return c.do(ctx, call, dst, src, nil, nil)
}

// ReduceScatterV implements comm.Comm.
func (c *Comm) ReduceScatterV(ctx context.Context, dst, src comm.Buf, counts []int, op comm.Op) error {
	dev, err := where(comm.KindReduceScatterV, dst, src)
	if err != nil {
		return err
	}
	if !dev {
		return c.host.ReduceScatterV(ctx, dst, src, counts, op)
	}
	call, err := comm.CheckReduceScatter(c, comm.KindReduceScatterV, dst.Raw(), src.Raw(), counts, op)
	if err := c.enterV(ctx, &call, err, src.N, counts, nil); err != nil {
		return err
	}
	if !c.reduces(&call) {
		s, err := c.stage()
		if err != nil {
			return err
		}
		return s.ReduceScatterV(ctx, dst, src, counts, op)
	}
	return c.do(ctx, call, dst, src, counts, nil)
}

// reduces reports whether the library can do the reduction of call; one rank
// has nothing to reduce.
func (c *Comm) reduces(call *comm.Call) bool { return c.n == 1 || reduces(call.Op, call.DType, c.n) }

// Broadcast implements comm.Comm.
func (c *Comm) Broadcast(ctx context.Context, b comm.Buf, root int) error {
	if !onDevice(b) {
		return c.host.Broadcast(ctx, b, root)
	}
	call, err := comm.CheckBroadcast(c, comm.KindBroadcast, b.Raw(), root)
	if err := c.enter(ctx, &call, err); err != nil {
		return err
	}
	return c.do(ctx, call, b, b, nil, nil)
}

// AllGather implements comm.Comm.
func (c *Comm) AllGather(ctx context.Context, dst, src comm.Buf) error {
	dev, err := where(comm.KindAllGather, dst, src)
	if err != nil {
		return err
	}
	if !dev {
		return c.host.AllGather(ctx, dst, src)
	}
	call, err := comm.CheckAllGather(c, comm.KindAllGather, dst.Raw(), src.Raw())
	if err := c.enter(ctx, &call, err); err != nil {
		return err
	}
	return c.do(ctx, call, dst, src, nil, nil)
}

// AllGatherV implements comm.Comm.
func (c *Comm) AllGatherV(ctx context.Context, dst comm.Buf, counts []int, src comm.Buf) error {
	dev, err := where(comm.KindAllGatherV, dst, src)
	if err != nil {
		return err
	}
	if !dev {
		return c.host.AllGatherV(ctx, dst, counts, src)
	}
	call, err := comm.CheckAllGatherV(c, dst.Raw(), counts, src.Raw())
	if err := c.enterV(ctx, &call, err, src.N, counts, nil); err != nil {
		return err
	}
	return c.do(ctx, call, dst, src, counts, nil)
}

// Gather implements comm.Comm.
func (c *Comm) Gather(ctx context.Context, dst, src comm.Buf, root int) error {
	if c.me != root {
		dst = comm.Buf{DType: src.DType}
	}
	dev, err := where(comm.KindGather, dst, src)
	if err != nil {
		return err
	}
	if !dev {
		return c.host.Gather(ctx, dst, src, root)
	}
	call, err := comm.CheckGather(c, comm.KindGather, dst.Raw(), nil, src.Raw(), root)
	if err := c.enter(ctx, &call, err); err != nil {
		return err
	}
	return c.do(ctx, call, dst, src, nil, nil)
}

// Scatter implements comm.Comm.
func (c *Comm) Scatter(ctx context.Context, dst, src comm.Buf, root int) error {
	if c.me != root {
		src = comm.Buf{DType: dst.DType}
	}
	dev, err := where(comm.KindScatter, dst, src)
	if err != nil {
		return err
	}
	if !dev {
		return c.host.Scatter(ctx, dst, src, root)
	}
	call, err := comm.CheckScatter(c, comm.KindScatter, dst.Raw(), src.Raw(), nil, root)
	if err := c.enter(ctx, &call, err); err != nil {
		return err
	}
	return c.do(ctx, call, dst, src, nil, nil)
}

// AllToAll implements comm.Comm.
func (c *Comm) AllToAll(ctx context.Context, dst, src comm.Buf) error {
	dev, err := where(comm.KindAllToAll, dst, src)
	if err != nil {
		return err
	}
	if !dev {
		return c.host.AllToAll(ctx, dst, src)
	}
	call, err := comm.CheckAllToAll(c, dst.Raw(), src.Raw())
	if err := c.enter(ctx, &call, err); err != nil {
		return err
	}
	return c.do(ctx, call, dst, src, nil, nil)
}

// In the calls below a rank may have no elements at all, and then learns from
// the others which memory they are in.

// GatherV implements comm.Comm.
func (c *Comm) GatherV(ctx context.Context, dst comm.Buf, counts []int, src comm.Buf, root int) error {
	if c.me != root {
		dst, counts = comm.Buf{DType: src.DType}, nil
	}
	dev, err := c.whereV(ctx, comm.KindGatherV, dst, src)
	if err != nil {
		return err
	}
	if !dev {
		return c.host.GatherV(ctx, dst, counts, src, root)
	}
	call, err := comm.CheckGather(c, comm.KindGatherV, dst.Raw(), counts, src.Raw(), root)
	if err := c.enterV(ctx, &call, err, src.N, counts, nil); err != nil {
		return err
	}
	return c.do(ctx, call, dst, src, counts, nil)
}

// ScatterV implements comm.Comm.
func (c *Comm) ScatterV(ctx context.Context, dst, src comm.Buf, counts []int, root int) error {
	if c.me != root {
		src, counts = comm.Buf{DType: dst.DType}, nil
	}
	dev, err := c.whereV(ctx, comm.KindScatterV, dst, src)
	if err != nil {
		return err
	}
	if !dev {
		return c.host.ScatterV(ctx, dst, src, counts, root)
	}
	call, err := comm.CheckScatter(c, comm.KindScatterV, dst.Raw(), src.Raw(), counts, root)
	if err := c.enterV(ctx, &call, err, dst.N, counts, nil); err != nil {
		return err
	}
	return c.do(ctx, call, dst, src, counts, nil)
}

// AllToAllV implements comm.Comm.
func (c *Comm) AllToAllV(ctx context.Context, dst comm.Buf, recvCounts []int, src comm.Buf, sendCounts []int) error {
	dev, err := c.whereV(ctx, comm.KindAllToAllV, dst, src)
	if err != nil {
		return err
	}
	if !dev {
		return c.host.AllToAllV(ctx, dst, recvCounts, src, sendCounts)
	}
	call, err := comm.CheckAllToAllV(c, dst.Raw(), recvCounts, src.Raw(), sendCounts)
	if err := c.enterV(ctx, &call, err, src.N, recvCounts, sendCounts); err != nil {
		return err
	}
	return c.do(ctx, call, dst, src, recvCounts, sendCounts)
}

// whereV is where for calls to which this rank may bring nothing.
func (c *Comm) whereV(ctx context.Context, k comm.Kind, dst, src comm.Buf) (bool, error) {
	dev, err := where(k, dst, src)
	if err != nil || c.n == 1 {
		return dev, err
	}
	return c.anywhere(ctx, dev)
}
