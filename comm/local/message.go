package local

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/golops/golops/comm"
)

// Messages move by one copy: whichever of sender and receiver comes second
// finds the other's request in the queue of the pair and copies. So a message
// makes progress while the first one computes.

// request is a message or non-blocking collective under way.
type request struct {
	owner *rank
	index uint32
	gen   uint32 // ids of an earlier use do not match
	call  comm.Call
	buf   comm.Buf
	coll  *icoll
	err   error
	done  atomic.Bool
	next  *request // in the queue of the pair
}

// pair is the queue of messages from one rank to another: sends without a
// receive, or receives without a send, never both.
type pair struct {
	mu         sync.Mutex
	head, tail *request
	_          [40]byte
}

// request takes a request from the spare ones.
func (r *rank) request(call comm.Call, b comm.Buf) *request {
	if len(r.free) == 0 {
		q := &request{owner: r, index: uint32(len(r.reqs))}
		r.reqs = append(r.reqs, q)
		r.free = append(r.free, q)
	}
	q := r.free[len(r.free)-1]
	r.free = r.free[:len(r.free)-1]
	q.gen++
	q.call, q.buf, q.err, q.next = call, b, nil, nil
	q.done.Store(false)
	return q
}

func (q *request) handle() comm.Request {
	return comm.NewRequest(q.owner, uint64(q.gen)<<32|uint64(q.index))
}

// find returns the request called id, or nil if that one has completed.
func (r *rank) find(id uint64) *request {
	if q := r.reqs[uint32(id)]; q.gen == uint32(id>>32) && q.owner == r {
		return q
	}
	return nil
}

func (r *rank) release(q *request) {
	q.gen++ // an even use count is never handed out, so stale ids find nothing
	q.buf, q.coll = comm.Buf{}, nil
	r.free = append(r.free, q)
}

// WaitRequest implements comm.Waiter.
func (r *rank) WaitRequest(ctx context.Context, id uint64) error {
	q := r.find(id)
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
	q := r.find(id)
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
	q := r.request(call, b)
	p := &r.g.pairs[r.me*r.n+peer]
	if k == comm.KindRecv {
		p = &r.g.pairs[peer*r.n+r.me]
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
		return q.handle(), nil
	}
	p.head = other.next
	p.mu.Unlock()
	if k == comm.KindSend {
		transfer(q, other)
	} else {
		transfer(other, q)
	}
	q.done.Store(true)
	o := other.owner // other may be used anew once it is done
	other.done.Store(true)
	if o.cell.parked.Load() {
		o.cell.rouse()
	}
	return q.handle(), nil
}

// transfer copies a message, if both sides agree on what it is.
func transfer(send, recv *request) {
	if send.call.DType != recv.call.DType || send.call.N != recv.call.N {
		err := &comm.MismatchError{RankA: send.owner.me, CallA: send.call.String(),
			RankB: recv.owner.me, CallB: recv.call.String(), Hint: "type and count of a message must be equal"}
		send.err, recv.err = err, err
		return
	}
	comm.Move(recv.buf.Ptr, send.buf.Ptr, send.buf.Bytes())
}

func (r *rank) Send(ctx context.Context, src comm.Buf, to int) error {
	q, err := r.ISend(ctx, src, to)
	return r.finish(ctx, q, err)
}

func (r *rank) Recv(ctx context.Context, dst comm.Buf, from int) error {
	q, err := r.IRecv(ctx, dst, from)
	return r.finish(ctx, q, err)
}

// finish waits for a message just started, or leaves it to the end of the Group.
func (r *rank) finish(ctx context.Context, q comm.Request, err error) error {
	if err != nil {
		return err
	}
	if r.grouping > 0 {
		r.grouped = append(r.grouped, q)
		return nil
	}
	return q.Wait(ctx)
}

func (r *rank) SendRecv(ctx context.Context, dst comm.Buf, from int, src comm.Buf, to int) error {
	var send comm.Request
	var err error
	if to != comm.Nobody {
		if send, err = r.ISend(ctx, src, to); err != nil {
			return err
		}
	}
	if from != comm.Nobody {
		err = r.Recv(ctx, dst, from)
	}
	return r.finish(ctx, send, err)
}

func (r *rank) Group(ctx context.Context, f func() error) error {
	r.grouping++
	err := f()
	r.grouping--
	if r.grouping > 0 {
		return err
	}
	if err == nil {
		err = comm.WaitAll(ctx, r.grouped...)
	}
	r.grouped = r.grouped[:0]
	return err
}
