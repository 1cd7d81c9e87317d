package nccl

import (
	"context"
	"fmt"

	"github.com/golops/golops/comm/driver"
)

// Do implements driver.Conn. On host memory a collective goes to the host. Reductions that
// the library cannot do are staged.
func (c *conn) Do(ctx context.Context, q *driver.Call) error {
	via, err := c.route(ctx, q)
	switch {
	case err != nil:
		return err
	case via != nil:
		return via.Do(ctx, q)
	}
	o := c.take(q)
	if err := c.begin(ctx, o); err != nil {
		return err
	}
	return c.Wait(ctx, o.id)
}

// StartCollective implements driver.NonBlocking.
func (c *conn) StartCollective(ctx context.Context, q *driver.Call) (uint64, error) {
	if q.Err == nil {
		q.Err = c.pending.CheckLimit(q.Kind)
	}
	via, err := c.route(ctx, q)
	switch {
	case err != nil:
		return 0, err
	case via != nil:
		return c.startStaged(ctx, q)
	}
	o := c.take(q)
	return o.id, c.begin(ctx, o)
}

// route returns the driver for a collective, or nil for the library.
func (c *conn) route(ctx context.Context, q *driver.Call) (driver.Conn, error) {
	if !q.Kind.Spec().Moves() { // a barrier, which does not wait for GPUs
		return c.host, nil
	}
	dev, err := c.onGPU(ctx, q)
	if err != nil {
		return nil, err
	}
	if !dev {
		return c.host, nil
	}
	err = q.Err
	if c.w.cfg.Checked && c.n > 1 {
		err = c.compare(ctx, q)
	}
	if err != nil || runs(&q.Signature, c.n) {
		return nil, err
	}
	return c.staged, nil
}

// onGPU reports whether a collective is on GPU memory. The caller must use the same kind of
// memory on all ranks. That is compared only in checked mode, and in calls whose counts may
// differ: a rank without elements must ask the others.
func (c *conn) onGPU(ctx context.Context, q *driver.Call) (bool, error) {
	dev, host := onDevice(&q.Dst) || onDevice(&q.Src), onHost(&q.Dst) || onHost(&q.Src)
	any, err, s := dev, error(nil), q.Kind.Spec()
	if c.n > 1 && (c.w.cfg.Checked || s.Counts && (s.Rooted || s.Dst == s.Src)) {
		any, err = c.agreeOnMemory(ctx, q, dev, host)
	}
	if dev && host {
		err = fmt.Errorf("comm: %v: dst is in %v, src is in %v: copy one of them to the other's memory", q.Kind, q.Dst.Place, q.Src.Place)
	}
	return any, err
}

// onDevice reports whether b has elements in GPU memory. An empty buffer is neither on
// the device nor on the host.
func onDevice(b *driver.Buf) bool { return b.N > 0 && b.Place == driver.OnDevice }

func onHost(b *driver.Buf) bool { return b.N > 0 && b.Place == driver.OnHost }

// agreeOnMemory reports whether any rank has elements in GPU memory. It is an error if
// another has elements in host memory. Ranks may have no elements at all.
func (c *conn) agreeOnMemory(ctx context.Context, q *driver.Call, dev, host bool) (bool, error) {
	here := int64(c.me + 1)
	c.flag = [2]int64{}
	if dev {
		c.flag[0] = here
	}
	if host {
		c.flag[1] = here
	}
	err := c.step.Step(ctx, c.host, q, driver.KindAllReduce, driver.Max, c.flag[:], c.flag[:])
	if err == nil && c.flag[0] > 0 && c.flag[1] > 0 {
		err = &driver.MismatchError{RankA: int(c.flag[0] - 1), CallA: q.Kind.String() + " on GPU memory",
			RankB: int(c.flag[1] - 1), CallB: q.Kind.String() + " on host memory", Hint: "all ranks must use the same kind of memory"}
	}
	return c.flag[0] > 0, err
}

// onAnyRank reports whether here is true on any rank.
func (c *conn) onAnyRank(ctx context.Context, call driver.Signature, here bool) (bool, error) {
	c.flag[0] = 0
	if here {
		c.flag[0] = 1
	}
	err := c.step.Step(ctx, c.host, &driver.Call{Signature: call}, driver.KindAllReduce, driver.Max, c.flag[:1], c.flag[:1])
	return c.flag[0] == 1, err
}

// compare compares a call with those of the other ranks, over the host. It returns the
// fault of invalid arguments, that of another rank, or a mismatch.
func (c *conn) compare(ctx context.Context, q *driver.Call) error {
	return driver.Compare(c.n, q,
		func(numbers ...int64) ([]int64, error) {
			all := make([]int64, len(numbers)*c.n)
			return all, c.step.Step(ctx, c.host, q, driver.KindAllGather, 0, all, numbers)
		},
		func(b driver.Buf, root int) error { return c.door.Broadcast(ctx, b, root) })
}
