package nccl

import (
	"context"
	"slices"
	"unsafe"

	"github.com/golops/golops/comm"
)

// do runs a collective on GPU memory.
func (c *Comm) do(ctx context.Context, call comm.Call, dst, src comm.Buf, in, out []int) error {
	q, err := c.begin(ctx, call, dst, src, in, out)
	if err != nil {
		return err
	}
	return q.Wait(ctx)
}

// begin starts a collective on GPU memory. It runs after the kernels launched so far.
func (c *Comm) begin(ctx context.Context, call comm.Call, dst, src comm.Buf, in, out []int) (comm.Request, error) {
	w := c.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.ready(ctx); err != nil {
		return comm.Request{}, err
	}
	if c.channel == nil {
		if err := c.newChannel(ctx); err != nil {
			return comm.Request{}, w.fail(err)
		}
	}
	if err := c.channel.queue.Follow(); err != nil {
		return comm.Request{}, w.fail(err)
	}
	if call.Kind == comm.KindAllToAll || call.Kind == comm.KindAllToAllV {
		var err error
		if src, err = c.separate(dst, src); err != nil {
			return comm.Request{}, w.fail(err)
		}
	}
	o := c.take(call, dst, src)
	o.in, o.out = in, out
	c.channel.add(o)
	if err := c.channel.advance(); err != nil {
		return comm.Request{}, w.fail(err)
	}
	return comm.NewRequest(c, o.id), nil
}

// newChannel makes the channel of this group's collectives. All ranks are in their first
// collective, so the broadcast of the id is in the same order on all.
func (c *Comm) newChannel(ctx context.Context) error {
	l, err := c.w.newChannel(c.me, c.n)
	if err != nil {
		return err
	}
	c.channel = l
	if c.n == 1 {
		return nil
	}
	if c.me == 0 {
		if err := l.makeID(); err != nil {
			return err
		}
	}
	l.idRequest, err = c.host.IBroadcast(ctx, comm.Of(l.id[:]), 0)
	return err
}

// separate returns a copy of src if src is dst. The copy is queued. The library exchanges
// blocks between separate buffers only.
func (c *Comm) separate(dst, src comm.Buf) (comm.Buf, error) {
	if c.n == 1 || !comm.Same(dst, src) {
		return src, nil
	}
	n := src.Bytes()
	if c.scratchBytes < n {
		if c.scratch != 0 {
			c.w.dev.FreeBytes(c.scratch)
			c.scratch, c.scratchBytes = 0, 0
		}
		p, err := c.w.dev.AllocBytes(n)
		if err != nil {
			return src, err
		}
		c.scratch, c.scratchBytes = p, n
	}
	tmp := src
	tmp.Ptr = *(*unsafe.Pointer)(unsafe.Pointer(&c.scratch)) // GPU memory, which the garbage collector ignores
	return tmp, c.channel.copy(tmp, src)
}

// take returns an operation from the pool.
func (c *Comm) take(call comm.Call, dst, src comm.Buf) *op {
	o, id := c.pending.Take(call.Kind)
	*o = op{id: id, c: c, call: call, dst: dst, src: src}
	return o
}

// wrapHost makes a request of c of a request of the host. Its Test also advances the work
// on GPU memory.
func (c *Comm) wrapHost(q comm.Request, err error) (comm.Request, error) {
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
	if err := c.checkSelfWait(o); err != nil {
		return err
	}
	if err := c.w.await(ctx, o); err != nil {
		return err // the program was aborted, and the library may still use o
	}
	return c.release(o, o.err)
}

// checkSelfWait aborts the program if o is a message to this rank itself whose other side
// has not been started.
func (c *Comm) checkSelfWait(o *op) error {
	w := c.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.ContainsFunc(c.alone, func(l lone) bool { return l.o == o }) {
		return w.fail(comm.SelfWaitError(c.me, o.call))
	}
	return nil
}

// TestRequest implements comm.Waiter. It waits until messages that it launches have been
// received: see message.go.
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
