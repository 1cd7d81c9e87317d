package nccl

import (
	"context"
	"slices"
	"unsafe"

	"github.com/golops/golops/comm"
)

// do carries out a collective on GPU memory.
func (c *Comm) do(ctx context.Context, call comm.Call, dst, src comm.Buf, in, out []int) error {
	q, err := c.begin(ctx, call, dst, src, in, out)
	if err != nil {
		return err
	}
	return q.Wait(ctx)
}

// begin starts a collective on GPU memory, after the kernels launched so far.
func (c *Comm) begin(ctx context.Context, call comm.Call, dst, src comm.Buf, in, out []int) (comm.Request, error) {
	w := c.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.ready(ctx); err != nil {
		return comm.Request{}, err
	}
	if c.line == nil {
		if err := c.newLine(ctx); err != nil {
			return comm.Request{}, w.fail(err)
		}
	}
	if err := c.line.queue.Follow(); err != nil {
		return comm.Request{}, w.fail(err)
	}
	if call.Kind == comm.KindAllToAll || call.Kind == comm.KindAllToAllV {
		var err error
		if src, err = c.apart(dst, src); err != nil {
			return comm.Request{}, w.fail(err)
		}
	}
	o := c.take(call, dst, src)
	o.in, o.out = in, out
	c.line.add(o)
	if err := c.line.advance(); err != nil {
		return comm.Request{}, w.fail(err)
	}
	return comm.NewRequest(c, o.id), nil
}

// newLine makes the line of this group's collectives. All ranks are in their
// first one, so the broadcast of the id has its place in the order of the
// host's collectives.
func (c *Comm) newLine(ctx context.Context) error {
	l, err := c.w.newLine(c.me, c.n)
	if err != nil {
		return err
	}
	c.line = l
	if c.n == 1 {
		return nil
	}
	if c.me == 0 {
		if err := l.name(); err != nil {
			return err
		}
	}
	l.named, err = c.host.IBroadcast(ctx, comm.Of(l.id[:]), 0)
	return err
}

// apart returns a copy of src, queued after what fills it, where it is dst too:
// the library exchanges blocks between separate memory only.
func (c *Comm) apart(dst, src comm.Buf) (comm.Buf, error) {
	if c.n == 1 || !comm.Same(dst, src) {
		return src, nil
	}
	n := src.Bytes()
	if c.roomFor < n {
		if c.room != 0 {
			c.w.dev.FreeBytes(c.room)
			c.room, c.roomFor = 0, 0
		}
		p, err := c.w.dev.AllocBytes(n)
		if err != nil {
			return src, err
		}
		c.room, c.roomFor = p, n
	}
	room := src
	room.Ptr = *(*unsafe.Pointer)(unsafe.Pointer(&c.room)) // memory of the device, which the collector leaves alone
	return room, c.line.copy(room, src)
}

// take returns a spare operation.
func (c *Comm) take(call comm.Call, dst, src comm.Buf) *op {
	o, id := c.pending.Take(call.Kind)
	*o = op{id: id, c: c, call: call, dst: dst, src: src}
	return o
}

// ofHost makes a request of the host one of c, whose Test goes on with the work
// on GPU memory too.
func (c *Comm) ofHost(q comm.Request, err error) (comm.Request, error) {
	if err != nil {
		return comm.Request{}, err
	}
	o := c.take(comm.Call{}, comm.Buf{}, comm.Buf{})
	o.host, o.onHost, o.done = q, true, true
	return comm.NewRequest(c, o.id), nil
}

// WaitRequest implements comm.Waiter.
func (c *Comm) WaitRequest(ctx context.Context, id uint64) error {
	o := c.pending.Find(id)
	if o == nil {
		return nil
	}
	if o.onHost {
		err := o.host.Wait(ctx)
		if err == nil && !c.w.isDone(o) {
			err = c.w.await(ctx, o)
		}
		return c.endHost(o, err)
	}
	if err := c.withItself(o); err != nil {
		return err
	}
	if err := c.w.await(ctx, o); err != nil {
		return err // the end of the program: o is left to whatever still uses it
	}
	return c.release(o, o.err)
}

// withItself ends the program if o is a message to this rank itself whose other
// side it has not started.
func (c *Comm) withItself(o *op) error {
	w := c.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.ContainsFunc(c.alone, func(l lone) bool { return l.o == o }) {
		return w.fail(comm.SelfWaitError(c.me, o.call))
	}
	return nil
}

// TestRequest implements comm.Waiter. It waits for messages that it launches to
// be received: see message.go.
func (c *Comm) TestRequest(id uint64) (bool, error) {
	o := c.pending.Find(id)
	if o == nil {
		return true, nil
	}
	if err := c.w.await(context.Background(), nil); err != nil {
		return true, err
	}
	switch {
	case o.onHost:
		done, err := o.host.Test()
		if err == nil && done {
			done = c.w.isDone(o)
		}
		if done {
			err = c.endHost(o, err)
		}
		return done, err
	case c.w.isDone(o):
		return true, c.release(o, o.err)
	}
	return false, nil
}

func (c *Comm) release(o *op, err error) error {
	o.dst, o.src, o.in, o.out, o.host = comm.Buf{}, comm.Buf{}, nil, nil, comm.Request{}
	c.pending.Release(o.id)
	return err
}
