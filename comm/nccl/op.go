package nccl

import (
	"context"
	"unsafe"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/dl"
)

// op is one operation on GPU memory, from the call until it is done.
type op struct {
	id           uint64
	call         driver.Call
	recv, send   []driver.Leg    // of an exchange with other ranks
	copies       [][2]driver.Buf // of an exchange with this rank itself: destination and source
	mark         uint64          // position in the queue after it
	done         bool
	err          error         // of this operation only; other errors end the program
	registration *registration // set for an operation that registers or deregisters memory
}

// take returns an operation from the pool.
func (c *conn) take(q *driver.Call) *op {
	o, id := c.pending.Take(q.Kind)
	*o = op{id: id, call: *q, recv: o.recv[:0], send: o.send[:0], copies: o.copies[:0]}
	return o
}

func (c *conn) release(o *op, err error) error {
	o.call = driver.Call{}
	c.pending.Release(o.id)
	return err
}

// ofStaged marks the id of an operation that staged runs.
const ofStaged = 1 << 63

// startStaged starts a call that staged runs.
func (c *conn) startStaged(ctx context.Context, q *driver.Call) (uint64, error) {
	id, err := c.staged.Start(ctx, q)
	return id | ofStaged, err
}

// begin starts an operation on GPU memory. It runs after the kernels launched so far.
func (c *conn) begin(ctx context.Context, o *op) error {
	w := c.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := c.open(ctx); err != nil {
		return err
	}
	l := c.channel
	if err := l.queue.Follow(); err != nil {
		return w.fail(err)
	}
	if s := o.call.Kind.Spec(); s.Dst == driver.Blocks && s.Src == driver.Blocks && c.n > 1 && driver.Same(o.call.Dst, o.call.Src) {
		if err := c.separate(&o.call.Src); err != nil {
			return w.fail(err)
		}
	}
	l.add(o)
	if err := l.advance(); err != nil {
		return w.fail(err)
	}
	return nil
}

// open makes the channel of this group if there is none. All ranks are in their first
// operation, so the broadcast of the id is in the same order on all.
func (c *conn) open(ctx context.Context) error {
	w := c.w
	if err := w.ready(ctx); err != nil || c.channel != nil {
		return err
	}
	q, err := w.dev.NewQueue()
	if err != nil {
		return w.fail(err)
	}
	l := &channel{w: w, rank: c.me, size: c.n, queue: q, cfg: newConfig()}
	w.channels, c.channel = append(w.channels, l), l
	if c.n == 1 {
		l.phase = ready
		return nil
	}
	l.activate()
	if c.me == 0 {
		err = w.withDevice("ncclGetUniqueId", func() int32 { return w.l.getUniqueID.Call(dl.Pointer(&l.id)) })
	}
	if err == nil {
		l.idRequest, err = c.door.IBroadcast(ctx, driver.Of(l.id[:]), 0)
	}
	if err != nil {
		return w.fail(err)
	}
	return nil
}

// separate replaces src by a copy, which is queued. The library exchanges blocks between
// separate buffers only.
func (c *conn) separate(src *driver.Buf) error {
	n := src.Bytes()
	if c.scratchBytes < n {
		if c.scratch != 0 {
			c.w.dev.FreeBytes(c.scratch)
			c.scratch, c.scratchBytes = 0, 0
		}
		p, err := c.w.dev.AllocBytes(n)
		if err != nil {
			return err
		}
		c.scratch, c.scratchBytes = p, n
	}
	from := *src
	src.Ptr = *(*unsafe.Pointer)(unsafe.Pointer(&c.scratch)) // GPU memory, which the garbage collector ignores
	return c.channel.copy(*src, from)
}

// Wait implements driver.Conn.
func (c *conn) Wait(ctx context.Context, id uint64) error {
	if id&ofStaged != 0 {
		return c.staged.Wait(ctx, id&^ofStaged)
	}
	o := c.pending.Find(id)
	if o == nil {
		return nil
	}
	if err := c.w.await(ctx, o, nil); err != nil {
		return err // the program was aborted, and the library may still use o
	}
	return c.release(o, o.err)
}

// Test implements driver.Conn.
func (c *conn) Test(id uint64) (bool, error) {
	if id&ofStaged != 0 {
		c.w.progress() // the other rank may wait for an operation on GPU memory
		return c.staged.Test(id &^ ofStaged)
	}
	o := c.pending.Find(id)
	if o == nil {
		return true, nil
	}
	done, err := c.w.poll(context.Background(), o, nil)
	switch {
	case err != nil:
		return true, err // the program was aborted
	case done:
		return true, c.release(o, o.err)
	}
	return false, nil
}
