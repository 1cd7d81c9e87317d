package mpi

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/internal/sched"
)

// request is an operation that the caller will wait for. It keeps its buffers alive. A
// message that exceeds one call is several operations.
type request struct {
	operation
	more []*operation
	id   uint64
	nth  int // number of a message to this rank itself, among those of its kind
	call comm.Call
	dst  comm.Buf
	src  comm.Buf
	avg  bool
}

func (r *rank) newRequest(call comm.Call, dst, src comm.Buf) *request {
	q, id := r.pending.Take(call.Kind)
	q.id, q.call, q.dst, q.src, q.avg, q.flag, q.more = id, call, dst, src, false, 0, q.more[:0]
	return q
}

// release checks or divides what came into dst and returns the request to the pool.
func (r *rank) release(q *request, err error) error {
	if err == nil && q.call.Kind == comm.KindRecv {
		err = r.received(q)
	}
	if err == nil && q.avg {
		comm.Divide(q.dst.Ptr, q.dst.DType, q.dst.N, r.n)
	}
	q.dst, q.src = comm.Buf{}, comm.Buf{}
	r.pending.Release(q.id)
	return err
}

// received compares a received message with the receive. The tag holds type and label.
// MPI_Get_count cannot return counts past 2^31; there the library itself reports a
// message that is too long.
func (r *rank) received(q *request) error {
	want := int(q.call.N)
	for i := range len(q.more) + 1 {
		o := &q.operation
		if i > 0 {
			o = q.more[i-1]
		}
		n := min(want, r.l.maxCount)
		want -= n
		sent := comm.Call{Kind: comm.KindSend, Peer: int32(r.me), N: q.call.N}
		sent.DType, sent.Label = r.w.labels.read(r.l.tag(&o.status), q.call.Label)
		if n <= math.MaxInt32 {
			if err := r.l.errorOf("MPI_Get_count", r.l.call(r.l.getCount, addr(&o.status), r.dtype(q.dst), addr(&r.recvCount))); err != nil {
				return err
			}
		} else {
			r.recvCount = int32(n)
		}
		if r.recvCount != int32(n) || sent.DType != q.call.DType {
			sent.N = -1
			if sent.DType == q.call.DType && len(q.more) == 0 {
				sent.N = int64(r.recvCount)
			}
		}
		if err := comm.MessageMismatch(int(q.call.Peer), sent, r.me, q.call); err != nil {
			return err
		}
	}
	return nil
}

// WaitRequest implements comm.Waiter.
func (r *rank) WaitRequest(ctx context.Context, id uint64) error {
	q := r.pending.Find(id)
	if q == nil {
		return nil
	}
	if r.waitsForItself(q) {
		return r.w.abort(r.w.rank, comm.SelfWaitError(r.me, q.call))
	}
	if q.flag == 0 {
		if err := r.w.await(ctx, &q.operation, &q.call); err != nil {
			return r.failed(q, err)
		}
	}
	for _, o := range q.more {
		if o.flag == 0 {
			if err := r.w.await(ctx, o, &q.call); err != nil {
				return r.failed(q, err)
			}
		}
	}
	return r.release(q, nil)
}

// waitsForItself reports whether q is a message of this rank to itself whose other side
// has not been started. While the rank waits, it cannot start it.
func (r *rank) waitsForItself(q *request) bool {
	switch {
	case int(q.call.Peer) != r.me:
		return false
	case q.call.Kind == comm.KindSend:
		return q.nth >= r.selfMessages[1]
	}
	return q.call.Kind == comm.KindRecv && q.nth >= r.selfMessages[0]
}

// failed returns the error of a message and releases the request. After an abort it
// keeps the request, because MPI may still write to it.
func (r *rank) failed(q *request, err error) error {
	if r.w.aborted.Load() != nil {
		return err
	}
	return r.release(q, fmt.Errorf("%w: in %v", err, q.call))
}

// TestRequest implements comm.Waiter.
func (r *rank) TestRequest(id uint64) (bool, error) {
	q := r.pending.Find(id)
	if q == nil {
		return true, nil
	}
	done, err := r.testOperation(&q.operation, q)
	for i := 0; i < len(q.more) && done && err == nil; i++ {
		done, err = r.testOperation(q.more[i], q)
	}
	switch {
	case err != nil:
		return true, r.failed(q, err)
	case done:
		return true, r.release(q, nil)
	}
	r.tests++
	if r.tests%checkEvery == 0 {
		r.w.pollNotices()
	}
	if ae := r.w.aborted.Load(); ae != nil {
		return true, ae
	}
	if r.w.oversubscribed {
		sched.Yield()
	}
	return false, nil
}

func (r *rank) testOperation(o *operation, q *request) (bool, error) {
	if o.flag == 0 {
		if code := r.l.call(r.l.test, addr(&o.req), addr(&o.flag), addr(&o.status)); code != 0 {
			return true, r.l.errorOf(q.call.Kind.String(), code)
		}
	}
	return o.flag != 0, nil
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
	if b.Label != 0 {
		r.w.labels.note(b.Label)
	}
	q := r.newRequest(call, b, b)
	side := int(k - comm.KindSend)
	if peer == r.me {
		q.nth = r.selfMessages[side]
		r.selfMessages[side]++
	}
	if r.started[0] != nil {
		r.started[side][peer]++
	}
	first := b.Slice(0, min(b.N, r.l.maxCount))
	if err := r.post(&q.operation, k, &first, peer, r.comm); err != nil {
		return comm.Request{}, r.release(q, err)
	}
	for at := first.N; at < b.N; at += r.l.maxCount {
		o := new(operation)
		q.more = append(q.more, o)
		part := b.Slice(at, min(at+r.l.maxCount, b.N))
		if err := r.post(o, k, &part, peer, r.comm); err != nil {
			return comm.Request{}, err
		}
	}
	return comm.NewRequest(r, q.id), nil
}
