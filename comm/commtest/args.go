package commtest

import (
	"context"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/scalar"
)

// Kinds of calls: the collectives that move or reduce elements, and those of them that only start.
var (
	collectiveKinds = kindsWith((*driver.Spec).Moves)
	startedKinds    = kindsWith(func(s *driver.Spec) bool { return s.Starts != 0 })
)

func kindsWith(has func(*driver.Spec) bool) (kinds []driver.Kind) {
	for k := range driver.Specs {
		if has(&driver.Specs[k]) {
			kinds = append(kinds, driver.Kind(k))
		}
	}
	return kinds
}

// args are the arguments of one rank's call of a collective.
type args struct {
	kind     driver.Kind
	dst, src comm.Buf
	in, out  []int // counts of the blocks of dst and of src
	op       comm.Op
	root     int
}

// start calls the collective. If it is blocking, the request has completed.
func (a args) start(ctx context.Context, c *comm.Comm) (q comm.Request, err error) {
	switch a.kind {
	case driver.KindBarrier:
		err = c.Barrier(ctx)
	case driver.KindAllReduce:
		err = c.AllReduce(ctx, a.dst, a.src, a.op)
	case driver.KindIAllReduce:
		return c.IAllReduce(ctx, a.dst, a.src, a.op)
	case driver.KindReduce:
		err = c.Reduce(ctx, a.dst, a.src, a.op, a.root)
	case driver.KindIReduce:
		return c.IReduce(ctx, a.dst, a.src, a.op, a.root)
	case driver.KindBroadcast:
		err = c.Broadcast(ctx, a.dst, a.root)
	case driver.KindIBroadcast:
		return c.IBroadcast(ctx, a.dst, a.root)
	case driver.KindAllGather:
		err = c.AllGather(ctx, a.dst, a.src)
	case driver.KindIAllGather:
		return c.IAllGather(ctx, a.dst, a.src)
	case driver.KindAllGatherV:
		err = c.AllGatherV(ctx, a.dst, a.in, a.src)
	case driver.KindGather:
		err = c.Gather(ctx, a.dst, a.src, a.root)
	case driver.KindGatherV:
		err = c.GatherV(ctx, a.dst, a.in, a.src, a.root)
	case driver.KindScatter:
		err = c.Scatter(ctx, a.dst, a.src, a.root)
	case driver.KindScatterV:
		err = c.ScatterV(ctx, a.dst, a.src, a.out, a.root)
	case driver.KindExScan:
		err = c.ExScan(ctx, a.dst, a.src, a.op)
	case driver.KindReduceScatter:
		err = c.ReduceScatter(ctx, a.dst, a.src, a.op)
	case driver.KindReduceScatterV:
		err = c.ReduceScatterV(ctx, a.dst, a.src, a.out, a.op)
	case driver.KindAllToAll:
		err = c.AllToAll(ctx, a.dst, a.src)
	case driver.KindAllToAllV:
		err = c.AllToAllV(ctx, a.dst, a.in, a.src, a.out)
	default:
		panic("commtest: no call of kind " + a.kind.String())
	}
	return q, err
}

// arguments returns valid arguments, with n elements in each block.
func (r *rank) arguments(k driver.Kind, dt scalar.DType, n int) args {
	s := k.Spec()
	a := args{kind: k}
	a.dst, a.in = r.blocks(s.Dst, dt, n)
	a.src, a.out = r.blocks(s.Src, dt, n)
	return a
}

// blocks returns the buffer of one side of a call, and its counts.
func (r *rank) blocks(s driver.Side, dt scalar.DType, n int) (comm.Buf, []int) {
	switch s {
	case driver.None:
		return comm.Buf{}, nil
	case driver.One:
		return r.elements(dt, n), nil
	}
	return r.elements(dt, n*r.size), uniform(n, r.size)
}

// call makes a call and waits for it.
func (r *rank) call(a args) error { return r.finished(a.start(r.ctx, r.c)) }

// main returns the buffer whose type, count and label all ranks must agree on: the source, or the
// destination if only root has a source.
func (a *args) main() *comm.Buf {
	if s := a.kind.Spec(); s.Src == driver.None || s.SrcAtRoot {
		return &a.dst
	}
	return &a.src
}
