package local

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/golops/golops/comm/driver"
)

// A message is one copy. Sender or receiver, whichever comes second, finds the other's
// request in the queue and copies. So a message completes even while the first of them
// computes.

// request is a message, an exchange or a non-blocking collective under way.
type request struct {
	owner *rank
	id    uint64
	call  driver.Signature
	buf   driver.Buf // of a message
	legs  []request  // messages of an exchange, which have no id
	coll  *icoll
	err   error
	done  atomic.Bool
	next  *request // in the messageQueue
}

// messageQueue holds messages from one rank to another: sends without a receive, or
// receives without a send, never both.
type messageQueue struct {
	mu         sync.Mutex
	head, tail *request
	_          [40]byte
}

// newRequest takes a request from the pool.
func (r *rank) newRequest(call *driver.Signature) *request {
	q, id := r.pending.Take(call.Kind)
	q.owner, q.id, q.call, q.err = r, id, *call, nil
	return q
}

func (r *rank) release(q *request) {
	for i := range q.legs {
		q.legs[i].buf = driver.Buf{}
	}
	q.buf, q.legs, q.coll = driver.Buf{}, q.legs[:0], nil
	r.pending.Release(q.id)
}

// Start implements driver.Conn.
func (r *rank) Start(ctx context.Context, c *driver.Call) (uint64, error) {
	if err := r.ready(ctx); err != nil {
		return 0, err
	}
	if err := r.pending.CheckLimit(c.Kind); err != nil {
		return 0, err
	}
	q := r.newRequest(&c.Signature)
	switch c.Kind {
	case driver.KindSend:
		r.post(q, &c.Src)
	case driver.KindRecv:
		r.post(q, &c.Dst)
	default:
		r.startLegs(q, c)
	}
	return q.id, nil
}

// startLegs starts the messages of an exchange, receives first. Memory for them stays
// with the request.
func (r *rank) startLegs(q *request, c *driver.Call) {
	n := len(c.Recv) + len(c.Send)
	if cap(q.legs) < n {
		q.legs = make([]request, n)
	}
	q.legs = q.legs[:n]
	for i := range c.Recv {
		r.startLeg(&q.legs[i], driver.KindRecv, &c.Recv[i])
	}
	for i := range c.Send {
		r.startLeg(&q.legs[len(c.Recv)+i], driver.KindSend, &c.Send[i])
	}
}

func (r *rank) startLeg(q *request, k driver.Kind, l *driver.Leg) {
	b := &l.Buf
	q.owner, q.err = r, nil
	q.call = driver.Signature{Kind: k, DType: b.DType, Peer: int32(l.Peer), N: int64(b.N), Label: b.Label}
	r.post(q, b)
}

// post copies the message if the other side is in the queue, else it appends q there.
func (r *rank) post(q *request, b *driver.Buf) {
	q.buf, q.next = *b, nil
	q.done.Store(false)
	k, peer := q.call.Kind, int(q.call.Peer)
	p := &r.g.queues[r.me*r.n+peer]
	if k == driver.KindRecv {
		p = &r.g.queues[peer*r.n+r.me]
	}
	p.mu.Lock()
	other := p.head
	if other == nil || other.call.Kind == k {
		if other == nil {
			p.head = q
		} else {
			p.tail.next = q
		}
		p.tail = q
		p.mu.Unlock()
		return
	}
	p.head = other.next
	p.mu.Unlock()
	if k == driver.KindSend {
		transfer(q, other)
	} else {
		transfer(other, q)
	}
	q.done.Store(true)
	o := other.owner // other may be reused once it is done
	other.done.Store(true)
	if o.state.parked.Load() {
		o.state.signal()
	}
}

// transfer copies a message if both sides agree on type, count and label.
func transfer(send, recv *request) {
	if err := driver.MessageMismatch(send.owner.me, send.call, recv.owner.me, recv.call); err != nil {
		send.err, recv.err = err, err
		return
	}
	driver.Move(recv.buf.Ptr, send.buf.Ptr, send.buf.Bytes())
}

// Wait implements driver.Conn.
func (r *rank) Wait(ctx context.Context, id uint64) error {
	q := r.pending.Find(id)
	switch {
	case q == nil:
		return nil
	case q.coll != nil:
		return r.waitColl(ctx, q)
	case q.call.Kind != driver.KindExchange:
		if err := r.waitMessage(ctx, q); err != nil {
			return err
		}
	}
	for i := range q.legs {
		if err := r.waitMessage(ctx, &q.legs[i]); err != nil {
			return err
		}
	}
	return r.end(q)
}

// waitMessage waits for a message. Its error means that the program was aborted.
func (r *rank) waitMessage(ctx context.Context, q *request) error {
	if q.done.Load() {
		return nil
	}
	if err := r.ready(ctx); err != nil {
		return err
	}
	return r.wait(ctx, cond{req: q}, int(q.call.Peer), &q.call)
}

// Test implements driver.Conn.
func (r *rank) Test(id uint64) (bool, error) {
	q := r.pending.Find(id)
	switch {
	case q == nil:
		return true, nil
	case q.coll != nil:
		return r.testColl(q)
	case !q.completed():
		ae := r.Aborted()
		return ae != nil, ae
	}
	return true, r.end(q)
}

// completed reports whether a message or all legs of an exchange have completed.
func (q *request) completed() bool {
	for i := range q.legs {
		if !q.legs[i].done.Load() {
			return false
		}
	}
	return q.call.Kind == driver.KindExchange || q.done.Load()
}

// end releases a completed message or exchange and returns its first error.
func (r *rank) end(q *request) error {
	err := q.err
	for i := range q.legs {
		if err == nil {
			err = q.legs[i].err
		}
	}
	r.release(q)
	return err
}
