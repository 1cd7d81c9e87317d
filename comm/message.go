package comm

import (
	"context"

	"github.com/golops/golops/comm/driver"
)

// Request is an operation under way. The zero Request has completed.
type Request struct {
	c  *Comm
	id uint64
}

// Wait returns when the operation has completed. Waiting again returns nil.
func (r Request) Wait(ctx context.Context) error {
	if r.c == nil {
		return nil
	}
	return r.c.wait(ctx, r.id)
}

// Test reports whether the operation has completed, and its error if it has.
// A communicator may make progress only in calls, so long work that overlaps with
// the operation should call Test from time to time.
func (r Request) Test() (bool, error) {
	if r.c == nil {
		return true, nil
	}
	return r.c.conn.Test(r.id)
}

// WaitAll waits for all requests and returns the first error.
func WaitAll(ctx context.Context, reqs ...Request) error {
	var first error
	for _, r := range reqs {
		if err := r.Wait(ctx); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// message is a send or a receive that has not started yet.
type message struct {
	kind driver.Kind
	buf  Buf
	peer int
}

// Send returns when src may be used again. Type and count of both sides must be equal.
func (c *Comm) Send(ctx context.Context, src Buf, to int) error {
	return c.run(ctx, &message{driver.KindSend, src, to})
}

// Recv returns when dst is filled.
func (c *Comm) Recv(ctx context.Context, dst Buf, from int) error {
	return c.run(ctx, &message{driver.KindRecv, dst, from})
}

// ISend and IRecv start a message. The buffer belongs to the communicator
// until the request has completed. A rank may send to itself if it starts both
// sides before it waits for either.
func (c *Comm) ISend(ctx context.Context, src Buf, to int) (Request, error) {
	return c.start(ctx, &message{driver.KindSend, src, to})
}

// IRecv starts a receive: see ISend.
func (c *Comm) IRecv(ctx context.Context, dst Buf, from int) (Request, error) {
	return c.start(ctx, &message{driver.KindRecv, dst, from})
}

// SendRecv sends and receives at the same time; either peer may be Nobody. The receive
// is posted first, so that arriving data need not be buffered. A call that returns an
// error about its arguments has started nothing.
func (c *Comm) SendRecv(ctx context.Context, dst Buf, from int, src Buf, to int) error {
	in, out := message{driver.KindRecv, dst, from}, message{driver.KindSend, src, to}
	switch {
	case from == Nobody && to == Nobody:
		return nil
	case to == Nobody:
		return c.run(ctx, &in)
	case from == Nobody:
		return c.run(ctx, &out)
	}
	if err := c.check(&in); err != nil {
		return err
	}
	if err := c.check(&out); err != nil {
		return err
	}
	if c.queued = append(c.queued, in, out); c.depth > 0 {
		return nil
	}
	return c.flush(ctx)
}

// Group calls f, in which Send, Recv and SendRecv only check their arguments.
// When f has returned, it starts all these messages and waits for them. If f
// returns an error, none is started. Buffers of calls made in f may be used
// only after Group has returned.
func (c *Comm) Group(ctx context.Context, f func() error) error {
	before := len(c.queued)
	c.depth++
	err := f()
	c.depth--
	if err != nil {
		c.queued = c.queued[:before]
		return err
	}
	if c.depth > 0 {
		return nil
	}
	return c.flush(ctx)
}

// check checks a message and notes it as the next call.
func (c *Comm) check(m *message) error {
	if c.closed {
		return ErrClosed
	}
	q, b := &c.call, &m.buf
	q.Kind, q.Op, q.Peer = m.kind, 0, int32(m.peer)
	if m.kind == driver.KindSend {
		q.Src, q.Dst = *b, Buf{}
	} else {
		q.Src, q.Dst = Buf{}, *b
	}
	if uint(m.peer) < uint(c.size) && b.N > 0 && b.N <= driver.MaxElements && b.Ptr != nil && b.DType.Valid() && (c.gpu || b.Place == OnHost) {
		q.DType, q.N, q.Label, q.Err = b.DType, int64(b.N), b.Label, nil
		return nil
	}
	q.Check(c.rank, c.size, c.gpu)
	return q.Err
}

// start starts a message.
func (c *Comm) start(ctx context.Context, m *message) (Request, error) {
	if err := c.check(m); err != nil {
		return Request{}, err
	}
	id, err := c.startCall(ctx, &c.call)
	if err != nil {
		return Request{}, err
	}
	return Request{c, id}, nil
}

// run starts a message and waits for it, or queues it within a Group.
func (c *Comm) run(ctx context.Context, m *message) error {
	if c.depth > 0 {
		err := c.check(m)
		if err == nil {
			c.queued = append(c.queued, *m)
		}
		return err
	}
	q, err := c.start(ctx, m)
	if err != nil {
		return err
	}
	return q.Wait(ctx)
}

// flush starts the queued messages and waits for all of them, even if one
// fails. If a message cannot be started while others are under way, flush aborts
// the program: the others might never complete.
func (c *Comm) flush(ctx context.Context) error {
	c.started = c.started[:0]
	var err error
	for i := range c.queued {
		q, e := c.start(ctx, &c.queued[i])
		if e != nil {
			if err = e; len(c.started) > 0 {
				c.Abort(e)
			}
			break
		}
		c.started = append(c.started, q)
	}
	if e := WaitAll(ctx, c.started...); err == nil {
		err = e
	}
	clear(c.queued)
	c.queued = c.queued[:0]
	return err
}
