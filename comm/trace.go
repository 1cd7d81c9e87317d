package comm

import (
	"context"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/trace"
)

// traced is what a handle notes for traces. The same numbers come out on all ranks, without
// a message, so that a report can tell which calls belong together.
type traced struct {
	group          uint64 // of the handle
	splits, calls  uint32 // so far; calls are collectives
	sent, received []uint32
	receives       map[uint64][]trace.Call // under way, by request
}

// subgroup returns the number of a group of the next Split.
func (t *traced) subgroup(color int) uint64 {
	t.splits++
	h := t.group*0x9e3779b97f4a7c15 + uint64(t.splits)<<32 + uint64(uint32(color)) + 1
	return h ^ h>>29
}

// tracedDo is conn.Do in a region.
func (c *Comm) tracedDo(ctx context.Context, q *driver.Call) error {
	c.trace.calls++
	reg := trace.BeginCall(ctx, q.Kind.String(), trace.Call{Kind: trace.Collective, Group: c.trace.group, Seq: c.trace.calls,
		Bytes: int64(max(q.Dst.Bytes(), q.Src.Bytes())), Peer: q.Peer, Me: int32(c.rank)})
	defer reg.End()
	return c.conn.Do(ctx, q)
}

// message returns the trace of one side of a message, the next between two ranks.
func (c *Comm) message(kind trace.CallKind, peer int, b Buf) trace.Call {
	t := &c.trace
	if t.sent == nil {
		t.sent, t.received = make([]uint32, c.size), make([]uint32, c.size)
		t.receives = map[uint64][]trace.Call{}
	}
	next := &t.sent[peer]
	if kind == trace.Received {
		next = &t.received[peer]
	}
	*next++
	return trace.Call{Kind: kind, Group: t.group, Seq: *next, Peer: int32(peer), Me: int32(c.rank), Bytes: int64(b.Bytes())}
}

// tracedStart is conn.Start in a region. Each send is the start of an arrow. Receives are
// noted until they have completed.
func (c *Comm) tracedStart(ctx context.Context, q *driver.Call) (uint64, error) {
	reg := trace.BeginCall(ctx, "start "+q.Kind.String(), trace.Call{Kind: trace.Local, Peer: q.Peer, Bytes: int64(q.Dst.Bytes() + q.Src.Bytes())})
	defer reg.End()
	var in []trace.Call
	switch q.Kind {
	case driver.KindSend:
		reg.Message(c.message(trace.Sent, int(q.Peer), q.Src))
	case driver.KindRecv:
		in = append(in, c.message(trace.Received, int(q.Peer), q.Dst))
	}
	for _, l := range q.Send {
		reg.Message(c.message(trace.Sent, l.Peer, l.Buf))
	}
	for _, l := range q.Recv {
		in = append(in, c.message(trace.Received, l.Peer, l.Buf))
	}
	id, err := c.conn.Start(ctx, q)
	if err == nil && in != nil {
		c.trace.receives[id] = in
	}
	return id, err
}

// tracedWait is conn.Wait in a region. Each receive is the end of an arrow.
func (c *Comm) tracedWait(ctx context.Context, id uint64) error {
	reg := trace.Begin(ctx, "wait for messages")
	defer reg.End()
	err := c.conn.Wait(ctx, id)
	for _, m := range c.trace.receives[id] {
		reg.Message(m)
	}
	delete(c.trace.receives, id)
	return err
}

// startCall starts a message or an exchange, wait waits for it.
func (c *Comm) startCall(ctx context.Context, q *driver.Call) (uint64, error) {
	if trace.On() {
		return c.tracedStart(ctx, q)
	}
	return c.conn.Start(ctx, q)
}

func (c *Comm) wait(ctx context.Context, id uint64) error {
	if trace.On() {
		return c.tracedWait(ctx, id)
	}
	return c.conn.Wait(ctx, id)
}
