package local

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/golops/golops/comm"
)

// A message is one copy. Sender or receiver, whichever comes second, finds the other's
// request in the queue and copies. So a message completes even while the first of them
// computes.

// request is a message or non-blocking collective under way.
type request struct {
	owner *rank
	id    uint64
	call  comm.Call
	buf   comm.Buf
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
func (r *rank) newRequest(call comm.Call, b comm.Buf) *request {
	q, id := r.pending.Take(call.Kind)
	q.owner, q.id, q.call, q.buf, q.err, q.next = r, id, call, b, nil, nil
	q.done.Store(false)
	return q
}

func (r *rank) release(q *request) {
	q.buf, q.coll = comm.Buf{}, nil
	r.pending.Release(q.id)
}

// WaitRequest implements comm.Waiter.
func (r *rank) WaitRequest(ctx context.Context, id uint64) error {
	q := r.pending.Find(id)
	if q == nil {
		return nil
	}
	if q.coll != nil {
		return r.waitColl(ctx, q)
	}
	if !q.done.Load() {
		if err := r.ready(ctx); err != nil {
			return err
		}
		if err := r.wait(ctx, cond{req: q}, int(q.call.Peer), &q.call); err != nil {
			return err
		}
	}
	err := q.err
	r.release(q)
	return err
}

// TestRequest implements comm.Waiter.
func (r *rank) TestRequest(id uint64) (bool, error) {
	q := r.pending.Find(id)
	if q == nil {
		return true, nil
	}
	if q.coll != nil {
		return r.testColl(q)
	}
	if !q.done.Load() {
		if ae := r.g.w.aborted.Load(); ae != nil {
			return true, ae
		}
		return false, nil
	}
	err := q.err
	r.release(q)
	return true, err
}

func (r *rank) ISend(ctx context.Context, src comm.Buf, to int) (comm.Request, error) {
	return r.start(ctx, comm.KindSend, src, to)
}

func (r *rank) IRecv(ctx context.Context, dst comm.Buf, from int) (comm.Request, error) {
	return r.start(ctx, comm.KindRecv, dst, from)
}

func (r *rank) start(ctx context.Context, k comm.Kind, b comm.Buf, peer int) (comm.Request, error) {
	if err := r.ready(ctx); err != nil {
		return comm.Request{}, err
	}
	call, err := comm.CheckMessage(r, k, b, peer)
	if err != nil {
		return comm.Request{}, err
	}
	if err := r.pending.CheckLimit(k); err != nil {
		return comm.Request{}, err
	}
	q := r.newRequest(call, b)
	p := &r.g.queues[r.me*r.n+peer]
	if k == comm.KindRecv {
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
		return comm.NewRequest(r, q.id), nil
	}
	p.head = other.next
	p.mu.Unlock()
	if k == comm.KindSend {
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
	return comm.NewRequest(r, q.id), nil
}

// transfer copies a message if both sides agree on type, count and label.
func transfer(send, recv *request) {
	if err := comm.MessageMismatch(send.owner.me, send.call, recv.owner.me, recv.call); err != nil {
		send.err, recv.err = err, err
		return
	}
	comm.Move(recv.buf.Ptr, send.buf.Ptr, send.buf.Bytes())
}
