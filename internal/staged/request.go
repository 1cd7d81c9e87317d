package staged

import (
	"context"
	"slices"

	"github.com/golops/golops/comm"
)

// request is an operation under way on GPU memory, or a large message. The
// messages of a large one are all posted at its start, so that they move while
// this rank is in some other call; only uploads wait for Wait or Test, of any
// request.
type request struct {
	id     uint64
	call   comm.Call
	parts  []comm.Request // in order; of a large message, its header and its chunks
	done   int            // parts that have completed
	err    error          // why no more will
	pair   pair
	dst    comm.Buf // to upload to; empty if nothing comes
	per    int      // elements of a chunk, 0 if the operation is one
	marks  []uint64 // of the downloads of the chunks
	header [4]int64
}

func (c *Comm) newRequest(call comm.Call, dst comm.Buf) *request {
	q, id := c.pending.Take(call.Kind)
	q.id, q.call, q.parts, q.done, q.err, q.pair, q.dst, q.per = id, call, q.parts[:0], 0, nil, pair{}, dst, 0
	return q
}

// release makes the request spare.
func (c *Comm) release(q *request) {
	c.s.giveBack(q.pair)
	if i := slices.Index(c.coming, q); i >= 0 {
		c.coming = slices.Delete(c.coming, i, i+1)
	}
	q.pair, q.dst = pair{}, comm.Buf{}
	clear(q.parts)
	c.pending.Release(q.id)
}

// abandon makes a request spare that has failed, without its blocks: parts of
// it may still be under way.
func (c *Comm) abandon(q *request, err error) error {
	if q.pair != (pair{}) {
		c.s.failed = true
		q.pair = pair{}
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
		for _, o := range c.coming { // uploads need not wait for this request
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

// advance takes what has come of a request.
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

// end makes spare a request that has completed or failed.
func (c *Comm) end(q *request) error {
	if q.err != nil {
		return c.abandon(q, q.err)
	}
	c.release(q)
	return nil
}

// arrived takes note of one more part: it uploads what has come with it.
func (c *Comm) arrived(q *request) error {
	i := q.done
	q.done++
	if q.per > 0 && i == 0 {
		return c.announced(q)
	}
	if !onDevice(q.dst) {
		return nil
	}
	from, to := q.pair.dst, q.dst
	if q.per > 0 {
		lo, hi := (i-1)*q.per, min(i*q.per, q.dst.N)
		from, to = from.Slice(lo, hi), to.Slice(lo, hi)
	}
	if err := c.s.upload(to, from, q.pair.dstBlock); err != nil || q.done < len(q.parts) {
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
	dst, src := c.ends(b, root)
	return c.start(call, dst, src, err, func(dst, src comm.Buf) (comm.Request, error) {
		return c.host.IBroadcast(ctx, c.one(dst, src, root), root)
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

// start is through for an operation that begin only begins.
func (c *Comm) start(call comm.Call, dst, src comm.Buf, fault error, begin func(dst, src comm.Buf) (comm.Request, error)) (comm.Request, error) {
	if c.shut {
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
		if err := c.s.idle(); err != nil {
			return comm.Request{}, err
		}
		return begin(dst.IgnorePlace(), src.IgnorePlace())
	}
	p, err := c.s.borrow(dst, src)
	if err != nil {
		return comm.Request{}, err
	}
	if err = c.s.fetch(p, dst, src); err != nil {
		c.s.giveBack(p)
		return comm.Request{}, err
	}
	part, err := begin(p.dst, p.src)
	if err != nil {
		c.s.giveBack(p)
		return comm.Request{}, err
	}
	q := c.newRequest(call, dst)
	q.pair = p
	q.parts = append(q.parts, part)
	return comm.NewRequest(c, q.id), nil
}
