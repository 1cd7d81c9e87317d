package mpi

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/sched"
)

// request is what the caller will wait for: one operation, or one for each message of an
// exchange and for each piece of what exceeds one call.
type request struct {
	ops      []*operation // in use; those behind them are kept for the next use
	id       uint64
	err      error // of the first operation that has failed
	dst, src driver.Buf
	average  bool // dst must be divided
}

func (r *rank) newRequest(k driver.Kind) *request {
	q, id := r.pending.Take(k) // it was reset when it was released
	q.id = id
	return q
}

func (q *request) reset() {
	for _, o := range q.ops {
		o.mem = nil
	}
	q.ops, q.err, q.dst, q.src, q.average = q.ops[:0], nil, driver.Buf{}, driver.Buf{}, false
}

// add returns another operation of q.
func (q *request) add() *operation {
	k := len(q.ops)
	if k < cap(q.ops) {
		q.ops = q.ops[:k+1]
	} else {
		q.ops = append(q.ops, nil)
	}
	if q.ops[k] == nil {
		q.ops[k] = new(operation)
	}
	o := q.ops[k]
	o.flag = 0
	return o
}

// addTo returns another operation of a collective.
func (q *request) addTo(c *driver.Call) *operation {
	o := q.add()
	o.call = *c.Named()
	return o
}

// Start implements driver.Conn.
func (r *rank) Start(ctx context.Context, c *driver.Call) (uint64, error) {
	if err := r.w.ready(ctx); err != nil {
		return 0, err
	}
	if err := r.pending.CheckLimit(c.Kind); err != nil {
		return 0, err
	}
	q := r.newRequest(c.Kind)
	var err error
	switch c.Kind {
	case driver.KindSend:
		err = r.startMessage(q, c.Kind, &c.Src, int(c.Peer))
	case driver.KindRecv:
		err = r.startMessage(q, c.Kind, &c.Dst, int(c.Peer))
	default:
		for i := 0; i < len(c.Recv) && err == nil; i++ {
			err = r.startMessage(q, driver.KindRecv, &c.Recv[i].Buf, c.Recv[i].Peer)
		}
		for i := 0; i < len(c.Send) && err == nil; i++ {
			err = r.startMessage(q, driver.KindSend, &c.Send[i].Buf, c.Send[i].Peer)
		}
	}
	return q.id, r.checkStarted(q, err)
}

// checkStarted returns the error of starting q. If only some of its operations have
// started, it aborts the program, because they might never complete.
func (r *rank) checkStarted(q *request, err error) error {
	switch {
	case err == nil:
		return nil
	case len(q.ops) > 1:
		return r.w.abort(r.w.rank, err)
	case q != &r.messages:
		q.reset()
		r.pending.Release(q.id)
	}
	return err
}

// startMessage adds a message to q, in pieces if it exceeds one call.
func (r *rank) startMessage(q *request, k driver.Kind, b *driver.Buf, peer int) error {
	if b.Label != 0 {
		r.w.labels.note(b.Label)
	}
	side, nth := int(k-driver.KindSend), 0
	if peer == r.me {
		nth = r.selfMessages[side]
		r.selfMessages[side]++
	}
	if r.started[0] != nil {
		r.started[side][peer]++
	}
	for lo, hi := 0, 0; ; lo = hi {
		hi = lo + min(b.N-lo, r.l.maxCount)
		o, piece := q.add(), b.Slice(lo, hi)
		o.call = driver.Signature{Kind: k, DType: b.DType, Peer: int32(peer), N: int64(b.N), Label: b.Label}
		o.n, o.nth, o.mem = piece.N, nth, piece.Ptr
		if err := r.post(o, k, &piece, peer, r.comm); err != nil || hi == b.N {
			return err
		}
	}
}

// post starts one message on communicator c.
func (r *rank) post(o *operation, k driver.Kind, b *driver.Buf, peer int, c uintptr) error {
	f := &r.l.isend
	if k == driver.KindRecv {
		f = &r.l.irecv
	}
	o.exact = nil
	var tag int32
	switch {
	case c == r.algoComm && r.w.guardCounts:
		tag = r.exactTag(k, b.N, peer)
		if k == driver.KindRecv {
			o.exact, o.tag, o.peer = r, tag, int32(peer)
		}
	case k == driver.KindRecv:
		tag = r.l.anyTag // received compares the tag
	default:
		tag = r.w.labels.tag(b.DType, b.Label)
	}
	code := r.l.call(r.l.fn(f), r.address(b, &r.blocking), uintptr(b.N), r.l.dtypes[b.DType], uintptr(peer), uintptr(tag), c, addr(&o.req))
	return r.l.errorOf(k.String(), code)
}

// Wait implements driver.Conn.
func (r *rank) Wait(ctx context.Context, id uint64) error {
	q := r.pending.Find(id)
	if q == nil {
		return nil
	}
	for _, o := range q.ops {
		if r.waitsForItself(o) {
			return r.w.abort(r.w.rank, driver.SelfWaitError(r.me, o.call))
		}
	}
	if err := r.awaitAll(ctx, q); err != nil {
		return err
	}
	return r.release(q)
}

// awaitAll waits for all operations of q, even if some fail. It returns an error only if
// the program was aborted. MPI may then still write to q.
func (r *rank) awaitAll(ctx context.Context, q *request) error {
	for _, o := range q.ops {
		if o.flag != 0 {
			continue
		}
		if err := r.w.await(ctx, o, &o.call); err != nil {
			if r.w.aborted.Load() != nil {
				return err
			}
			q.failed(o, err)
		}
	}
	return nil
}

// failed notes that o has completed with an error.
func (q *request) failed(o *operation, err error) {
	if q.err == nil {
		q.err = fmt.Errorf("%w: in %v", err, o.call)
	}
	o.call.Kind, o.flag = 0, 1
}

// release checks or divides what came, returns the request to the pool and returns its
// error.
func (r *rank) release(q *request) error {
	for _, o := range q.ops {
		if o.call.Kind == driver.KindRecv && q.err == nil {
			q.err = r.received(o)
		}
	}
	if q.err == nil && q.average {
		driver.Divide(q.dst.Ptr, q.dst.DType, q.dst.N, r.n)
	}
	err := q.err
	q.reset()
	r.pending.Release(q.id)
	return err
}

// received compares a received message with the receive. The tag holds type and label.
// MPI_Get_count cannot return counts past 2^31; there the library itself reports a
// message that is too long.
func (r *rank) received(o *operation) error {
	dt, label := r.w.labels.read(r.l.tag(&o.status), o.call.Label)
	r.recvCount = int32(o.n)
	if o.n <= math.MaxInt32 {
		if err := r.l.errorOf("MPI_Get_count", r.l.call(r.l.getCount, addr(&o.status), r.l.dtypes[o.call.DType], addr(&r.recvCount))); err != nil {
			return err
		}
	}
	same := r.recvCount == int32(o.n)
	if same && dt == o.call.DType && label == o.call.Label {
		return nil
	}
	sent := driver.Signature{Kind: driver.KindSend, DType: dt, Peer: int32(r.me), N: o.call.N, Label: label}
	switch {
	case dt != o.call.DType || !same && o.call.N != int64(o.n): // another type, or a piece
		sent.N = -1
	case !same:
		sent.N = int64(r.recvCount)
	}
	return driver.MessageMismatch(int(o.call.Peer), sent, r.me, o.call)
}

// waitsForItself reports whether o is a message of this rank to itself whose other side
// has not been started. While the rank waits, it cannot start it.
func (r *rank) waitsForItself(o *operation) bool {
	return int(o.call.Peer) == r.me && o.call.Kind.Spec().Message && o.nth >= r.selfMessages[driver.KindRecv-o.call.Kind]
}

// Test implements driver.Conn.
func (r *rank) Test(id uint64) (bool, error) {
	q := r.pending.Find(id)
	if q == nil {
		return true, nil
	}
	done := true
	for _, o := range q.ops {
		if o.flag == 0 {
			if code := r.l.call(r.l.test, addr(&o.req), addr(&o.flag), addr(&o.status)); code != 0 {
				q.failed(o, r.l.errorOf(o.call.Kind.String(), code))
			}
		}
		done = done && o.flag != 0
	}
	if done {
		return true, r.release(q)
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
