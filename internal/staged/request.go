package staged

import (
	"context"
	"slices"

	"github.com/golops/golops/comm"
)

// request is an operation under way on GPU memory, or a large message. All chunks of a large
// message are posted at its start, so that they progress while this rank is in another call.
// Uploads happen in Wait or Test of any request.
type request struct {
	id      uint64
	call    comm.Call
	parts   []comm.Request // in order; of a large message, its header and its chunks
	done    int            // completed parts
	err     error          // ends the request
	staging staging
	dst     comm.Buf // to upload to; empty for a send
	per     int      // elements of a chunk, 0 if the operation is not divided
	marks   []uint64 // of the downloads of the chunks
	header  [4]int64
}

func (c *Comm) newRequest(call comm.Call, dst comm.Buf) *request {
	q, id := c.pending.Take(call.Kind)
	q.id, q.call, q.parts, q.done, q.err, q.staging, q.dst, q.per = id, call, q.parts[:0], 0, nil, staging{}, dst, 0
	return q
}

// release returns the request and its blocks to their pools.
func (c *Comm) release(q *request) {
	c.s.release(q.staging)
	if i := slices.Index(c.receiving, q); i >= 0 {
		c.receiving = slices.Delete(c.receiving, i, i+1)
	}
	q.staging, q.dst = staging{}, comm.Buf{}
	clear(q.parts)
	c.pending.Release(q.id)
}

// drop releases a request that has failed, without its blocks: parts of it may still be under
// way.
func (c *Comm) drop(q *request, err error) error {
	if q.staging != (staging{}) {
		c.s.failed = true
		q.staging = staging{}
	}
	c.release(q)
	return err
}

// WaitRequest implements comm.Waiter.
func (c *Comm) WaitRequest(ctx context.Context, id uint64) error {
	q := c.pending.Find(id)
	if q == nil {
		return nil
	}
	for q.done < len(q.parts) && q.err == nil {
		if q.err = q.parts[q.done].Wait(ctx); q.err == nil {
			q.err = c.arrived(q)
		}
		for _, o := range c.receiving { // uploads need not wait for this request
			c.advance(o)
		}
	}
	return c.end(q)
}

// TestRequest implements comm.Waiter.
func (c *Comm) TestRequest(id uint64) (bool, error) {
	q := c.pending.Find(id)
	if q == nil {
		return true, nil
	}
	c.advance(q)
	if q.done < len(q.parts) && q.err == nil {
		return false, nil
	}
	return true, c.end(q)
}

// advance handles the parts of a request that have completed.
func (c *Comm) advance(q *request) {
	for q.done < len(q.parts) && q.err == nil {
		done, err := q.parts[q.done].Test()
		if !done && err == nil {
			return
		}
		if q.err = err; err == nil {
			q.err = c.arrived(q)
		}
	}
}

// end releases a request that has completed or failed.
func (c *Comm) end(q *request) error {
	if q.err != nil {
		return c.drop(q, q.err)
	}
	c.release(q)
	return nil
}

// arrived handles one completed part and uploads its data.
func (c *Comm) arrived(q *request) error {
	i := q.done
	q.done++
	if q.per > 0 && i == 0 {
		return c.checkHeader(q)
	}
	if !onDevice(q.dst) {
		return nil
	}
	from, to := q.staging.dst, q.dst
	if q.per > 0 {
		lo, hi := (i-1)*q.per, min(i*q.per, q.dst.N)
		from, to = from.Slice(lo, hi), to.Slice(lo, hi)
	}
	if err := c.s.upload(to, from, q.staging.dstBlock); err != nil || q.done < len(q.parts) {
		return err
	}
	return c.s.up.Lead()
}

// IAllReduce implements comm.Comm.
func (c *Comm) IAllReduce(ctx context.Context, dst, src comm.Buf, op comm.Op) (comm.Request, error) {
	if onHost(dst, src) {
		return c.host.IAllReduce(ctx, dst, src, op)
	}
	call, err := comm.CheckAllReduce(comm.KindIAllReduce, dst.IgnorePlace(), src.IgnorePlace(), op)
	return c.start(call, dst, src, err, func(dst, src comm.Buf) (comm.Request, error) {
		return c.host.IAllReduce(ctx, dst, src, op)
	})
}

// IBroadcast implements comm.Comm.
func (c *Comm) IBroadcast(ctx context.Context, b comm.Buf, root int) (comm.Request, error) {
	if b.Place == comm.OnHost {
		return c.host.IBroadcast(ctx, b, root)
	}
	call, err := comm.CheckBroadcast(c.host, comm.KindIBroadcast, b.IgnorePlace(), root)
	dst, src := c.asDstOrSrc(b, root)
	return c.start(call, dst, src, err, func(dst, src comm.Buf) (comm.Request, error) {
		return c.host.IBroadcast(ctx, c.broadcastBuf(dst, src, root), root)
	})
}

// IAllGather implements comm.Comm.
func (c *Comm) IAllGather(ctx context.Context, dst, src comm.Buf) (comm.Request, error) {
	if onHost(dst, src) {
		return c.host.IAllGather(ctx, dst, src)
	}
	call, err := comm.CheckAllGather(c.host, comm.KindIAllGather, dst.IgnorePlace(), src.IgnorePlace())
	return c.start(call, dst, src, err, func(dst, src comm.Buf) (comm.Request, error) {
		return c.host.IAllGather(ctx, dst, src)
	})
}

// start is viaHost for an operation that begin starts.
func (c *Comm) start(call comm.Call, dst, src comm.Buf, fault error, begin func(dst, src comm.Buf) (comm.Request, error)) (comm.Request, error) {
	if c.closed {
		return comm.Request{}, comm.ErrClosed
	}
	if fault != nil {
		q, err := begin(dst.IgnorePlace(), src.IgnorePlace())
		if err == nil {
			err = fault
		}
		return q, err
	}
	if c.direct(call, dst, src) {
		if err := c.s.awaitKernels(); err != nil {
			return comm.Request{}, err
		}
		return begin(dst.IgnorePlace(), src.IgnorePlace())
	}
	p, err := c.s.stage(dst, src)
	if err != nil {
		return comm.Request{}, err
	}
	if err = c.s.fetch(p, dst, src); err != nil {
		c.s.release(p)
		return comm.Request{}, err
	}
	part, err := begin(p.dst, p.src)
	if err != nil {
		c.s.release(p)
		return comm.Request{}, err
	}
	q := c.newRequest(call, dst)
	q.staging = p
	q.parts = append(q.parts, part)
	return comm.NewRequest(c, q.id), nil
}
