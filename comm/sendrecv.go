package comm

import "context"

// Messages implements Send, Recv, SendRecv and Group by ISend and IRecv of a
// communicator, which embeds it.
//
// All arguments are checked before any message starts. A call that returns an
// error about its arguments has started nothing: its buffers belong to the caller,
// and the order of messages is intact.
type Messages struct {
	c       Comm
	place   Place     // OnDevice if c takes GPU memory
	depth   int       // of nested Groups
	queued  []message // of the Group under way
	started []Request
}

// message is a send or a receive that has not started yet.
type message struct {
	kind Kind
	buf  Buf
	peer int
}

// NewMessages returns the blocking calls of c. place is OnDevice if c takes
// GPU memory too.
func NewMessages(c Comm, place Place) Messages { return Messages{c: c, place: place} }

// Send implements Comm.
func (b *Messages) Send(ctx context.Context, src Buf, to int) error {
	if b.depth > 0 {
		return b.enqueue(message{KindSend, src, to})
	}
	return b.runOne(ctx, message{KindSend, src, to})
}

// Recv implements Comm.
func (b *Messages) Recv(ctx context.Context, dst Buf, from int) error {
	if b.depth > 0 {
		return b.enqueue(message{KindRecv, dst, from})
	}
	return b.runOne(ctx, message{KindRecv, dst, from})
}

// SendRecv implements Comm. The receive is posted first, so that arriving data
// need not be buffered.
func (b *Messages) SendRecv(ctx context.Context, dst Buf, from int, src Buf, to int) error {
	in, out := message{KindRecv, dst, from}, message{KindSend, src, to}
	if b.depth > 0 || from != Nobody && to != Nobody {
		return b.runBoth(ctx, in, out)
	}
	switch {
	case from != Nobody:
		return b.runOne(ctx, in)
	case to != Nobody:
		return b.runOne(ctx, out)
	}
	return nil
}

// runOne starts a message and waits for it.
func (b *Messages) runOne(ctx context.Context, m message) error {
	q, err := b.start(ctx, m)
	if err != nil {
		return err
	}
	return q.Wait(ctx)
}

// runBoth runs two messages, or queues them within a Group. Either peer may be
// Nobody.
func (b *Messages) runBoth(ctx context.Context, in, out message) error {
	before := len(b.queued)
	for _, m := range [...]message{in, out} {
		if m.peer == Nobody {
			continue
		}
		if err := b.enqueue(m); err != nil {
			b.queued = b.queued[:before]
			return err
		}
	}
	if b.depth > 0 {
		return nil
	}
	return b.flush(ctx)
}

// enqueue checks a message and appends it to the queue.
func (b *Messages) enqueue(m message) error {
	buf := m.buf
	if b.place == OnDevice {
		buf = buf.IgnorePlace()
	}
	_, err := CheckMessage(b.c, m.kind, buf, m.peer)
	if err == nil {
		b.queued = append(b.queued, m)
	}
	return err
}

func (b *Messages) start(ctx context.Context, m message) (Request, error) {
	if m.kind == KindSend {
		return b.c.ISend(ctx, m.buf, m.peer)
	}
	return b.c.IRecv(ctx, m.buf, m.peer)
}

// flush starts the queued messages and waits for all of them, even if one
// fails. If a message cannot be started while others are under way, flush aborts
// the program: the others might never complete.
func (b *Messages) flush(ctx context.Context) error {
	b.started = b.started[:0]
	var err error
	for _, m := range b.queued {
		q, e := b.start(ctx, m)
		if e != nil {
			if err = e; len(b.started) > 0 {
				b.c.Abort(e)
			}
			break
		}
		b.started = append(b.started, q)
	}
	if e := WaitAll(ctx, b.started...); err == nil {
		err = e
	}
	clear(b.queued)
	b.queued = b.queued[:0]
	return err
}

// Group implements Comm.
func (b *Messages) Group(ctx context.Context, f func() error) error {
	before := len(b.queued)
	b.depth++
	err := f()
	b.depth--
	if err != nil {
		b.queued = b.queued[:before]
		return err
	}
	if b.depth > 0 {
		return nil
	}
	return b.flush(ctx)
}
