package fakegpu

import (
	"context"

	"github.com/golops/golops/comm"
)

// Comm lets ranks exchange hidden memory through a communicator of the host,
// which sees where it is.
type Comm struct{ *comm.Comm }

// NewComm returns c for ranks on hidden devices.
func NewComm(c *comm.Comm) *comm.Comm { return Comm{c} }

// AllReduce implements *comm.Comm, as do all below.
func (c Comm) AllReduce(ctx context.Context, dst, src comm.Buf, op comm.Op) error {
	return c.Comm.AllReduce(ctx, dst.IgnorePlace(), src.IgnorePlace(), op)
}

func (c Comm) Reduce(ctx context.Context, dst, src comm.Buf, op comm.Op, root int) error {
	return c.Comm.Reduce(ctx, dst.IgnorePlace(), src.IgnorePlace(), op, root)
}

func (c Comm) Broadcast(ctx context.Context, buf comm.Buf, root int) error {
	return c.Comm.Broadcast(ctx, buf.IgnorePlace(), root)
}

func (c Comm) AllGather(ctx context.Context, dst, src comm.Buf) error {
	return c.Comm.AllGather(ctx, dst.IgnorePlace(), src.IgnorePlace())
}

func (c Comm) AllGatherV(ctx context.Context, dst comm.Buf, counts []int, src comm.Buf) error {
	return c.Comm.AllGatherV(ctx, dst.IgnorePlace(), counts, src.IgnorePlace())
}

func (c Comm) Gather(ctx context.Context, dst, src comm.Buf, root int) error {
	return c.Comm.Gather(ctx, dst.IgnorePlace(), src.IgnorePlace(), root)
}

func (c Comm) GatherV(ctx context.Context, dst comm.Buf, counts []int, src comm.Buf, root int) error {
	return c.Comm.GatherV(ctx, dst.IgnorePlace(), counts, src.IgnorePlace(), root)
}

func (c Comm) Scatter(ctx context.Context, dst, src comm.Buf, root int) error {
	return c.Comm.Scatter(ctx, dst.IgnorePlace(), src.IgnorePlace(), root)
}

func (c Comm) ScatterV(ctx context.Context, dst, src comm.Buf, counts []int, root int) error {
	return c.Comm.ScatterV(ctx, dst.IgnorePlace(), src.IgnorePlace(), counts, root)
}

func (c Comm) ReduceScatter(ctx context.Context, dst, src comm.Buf, op comm.Op) error {
	return c.Comm.ReduceScatter(ctx, dst.IgnorePlace(), src.IgnorePlace(), op)
}

func (c Comm) ReduceScatterV(ctx context.Context, dst, src comm.Buf, counts []int, op comm.Op) error {
	return c.Comm.ReduceScatterV(ctx, dst.IgnorePlace(), src.IgnorePlace(), counts, op)
}

func (c Comm) AllToAll(ctx context.Context, dst, src comm.Buf) error {
	return c.Comm.AllToAll(ctx, dst.IgnorePlace(), src.IgnorePlace())
}

func (c Comm) AllToAllV(ctx context.Context, dst comm.Buf, recvCounts []int, src comm.Buf, sendCounts []int) error {
	return c.Comm.AllToAllV(ctx, dst.IgnorePlace(), recvCounts, src.IgnorePlace(), sendCounts)
}

func (c Comm) Send(ctx context.Context, src comm.Buf, to int) error {
	return c.Comm.Send(ctx, src.IgnorePlace(), to)
}

func (c Comm) Recv(ctx context.Context, dst comm.Buf, from int) error {
	return c.Comm.Recv(ctx, dst.IgnorePlace(), from)
}

func (c Comm) SendRecv(ctx context.Context, dst comm.Buf, from int, src comm.Buf, to int) error {
	return c.Comm.SendRecv(ctx, dst.IgnorePlace(), from, src.IgnorePlace(), to)
}

func (c Comm) ISend(ctx context.Context, src comm.Buf, to int) (comm.Request, error) {
	return c.Comm.ISend(ctx, src.IgnorePlace(), to)
}

func (c Comm) IRecv(ctx context.Context, dst comm.Buf, from int) (comm.Request, error) {
	return c.Comm.IRecv(ctx, dst.IgnorePlace(), from)
}

func (c Comm) IAllReduce(ctx context.Context, dst, src comm.Buf, op comm.Op) (comm.Request, error) {
	return c.Comm.IAllReduce(ctx, dst.IgnorePlace(), src.IgnorePlace(), op)
}

func (c Comm) IBroadcast(ctx context.Context, buf comm.Buf, root int) (comm.Request, error) {
	return c.Comm.IBroadcast(ctx, buf.IgnorePlace(), root)
}

func (c Comm) IAllGather(ctx context.Context, dst, src comm.Buf) (comm.Request, error) {
	return c.Comm.IAllGather(ctx, dst.IgnorePlace(), src.IgnorePlace())
}

func (c Comm) Split(ctx context.Context, color, key int) (*comm.Comm, error) {
	s, err := c.Comm.Split(ctx, color, key)
	if s == nil {
		return nil, err
	}
	return Comm{s}, err
}
