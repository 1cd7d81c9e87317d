package staged

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/comm/driver"
)

// request is an operation that the host has under way.
type request struct {
	id         uint64 // of the host's operation
	staged     []staging
	recv, send []driver.Leg // of an exchange, as the host gets them
}

// Do implements driver.Conn. A call with invalid arguments goes to the host, which shows
// the fault to the other ranks.
func (c *Conn) Do(ctx context.Context, q *driver.Call) error {
	if q.Err != nil || !q.Kind.Spec().Moves() {
		return c.host.Do(ctx, q)
	}
	if !c.takes(&q.Signature) && (q.N < 0 || c.large(q, int(q.N))) {
		chunks, err := c.agree(ctx, q)
		if err != nil {
			return err
		}
		if chunks > 0 {
			return c.inChunks(ctx, q, chunks)
		}
	}
	r := &c.whole
	h, err := c.prepare(r, q)
	if err == nil {
		err = c.host.Do(ctx, h)
	}
	return c.finish(r, err)
}

// Start implements driver.Conn, and driver.NonBlocking for collectives.
func (c *Conn) Start(ctx context.Context, q *driver.Call) (uint64, error) {
	r, id := c.pending.Take(q.Kind)
	h, err := c.prepare(r, q)
	switch {
	case err != nil:
	case q.Kind.Spec().Starts == 0:
		r.id, err = c.host.Start(ctx, h)
	case c.nonBlocking == nil:
		err = fmt.Errorf("comm: %v over %s: %w", q.Kind, c.info.Name, errors.ErrUnsupported)
	default:
		r.id, err = c.nonBlocking.StartCollective(ctx, h)
	}
	if err != nil {
		c.pending.Release(id)
		return 0, c.finish(r, err)
	}
	return id, nil
}

// StartCollective implements driver.NonBlocking.
func (c *Conn) StartCollective(ctx context.Context, q *driver.Call) (uint64, error) {
	return c.Start(ctx, q)
}

// Wait implements driver.Conn.
func (c *Conn) Wait(ctx context.Context, id uint64) error {
	r := c.pending.Find(id)
	if r == nil {
		return nil
	}
	err := c.finish(r, c.host.Wait(ctx, r.id))
	c.pending.Release(id)
	return err
}

// Test implements driver.Conn.
func (c *Conn) Test(id uint64) (bool, error) {
	r := c.pending.Find(id)
	if r == nil {
		return true, nil
	}
	done, err := c.host.Test(r.id)
	if !done && err == nil {
		return false, nil
	}
	err = c.finish(r, err)
	c.pending.Release(id)
	return true, err
}

// prepare returns the call that the host gets: q itself if the host takes its buffers,
// else a copy whose buffers in GPU memory are staged. The sources are then in host memory.
func (c *Conn) prepare(r *request, q *driver.Call) (*driver.Call, error) {
	if q.Err != nil || !onGPU(q) {
		return q, nil
	}
	// In place the host may copy elements itself.
	if c.takes(&q.Signature) && !overlap(&q.Dst, &q.Src) {
		return q, c.s.awaitKernels()
	}
	h := &c.call
	*h = *q
	if q.Kind == driver.KindExchange {
		r.recv, r.send = append(r.recv[:0], q.Recv...), append(r.send[:0], q.Send...)
		h.Recv, h.Send = r.recv, r.send
		if err := c.stageLegs(r); err != nil {
			return nil, err
		}
		return h, c.s.fetch(r.staged)
	}
	dst, src := sides(q)
	dst, src, err := c.s.stagePair(r, dst, src)
	if err != nil {
		return nil, err
	}
	setSides(h, dst, src)
	return h, c.s.fetch(r.staged)
}

// stageLegs replaces the buffers of the legs of r.
func (c *Conn) stageLegs(r *request) (err error) {
	for i, legs := range [...][]driver.Leg{r.recv, r.send} {
		for j := range legs {
			if legs[j].Buf, err = c.s.stage(r, legs[j].Buf, i == 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// sides returns what a call writes and reads on this rank. On root, a broadcast reads its
// buffer, which is in both Dst and Src.
func sides(q *driver.Call) (dst, src driver.Buf) {
	if q.Kind.Spec().Src == driver.None && q.Src.N > 0 {
		return driver.Buf{DType: q.DType}, q.Src
	}
	return q.Dst, q.Src
}

// setSides is the inverse of sides.
func setSides(q *driver.Call, dst, src driver.Buf) {
	if q.Kind.Spec().Src == driver.None && src.N > 0 {
		dst = src
	}
	q.Dst, q.Src = dst, src
}

// finish uploads what has come, unless there was an error, and frees the blocks. After an
// abort other ranks may still use them.
func (c *Conn) finish(r *request, err error) error {
	if len(r.staged) == 0 {
		return err
	}
	if err == nil {
		err = c.s.deliver(r.staged)
	}
	if err != nil && c.host.Aborted() != nil {
		c.s.failed = true
	} else {
		for i := range r.staged {
			c.s.pool.give(r.staged[i].block)
		}
	}
	r.staged = r.staged[:0]
	return err
}

// onGPU reports whether a buffer of q is in GPU memory.
func onGPU(q *driver.Call) bool {
	if q.Kind != driver.KindExchange {
		return onDevice(&q.Dst) || onDevice(&q.Src)
	}
	for _, legs := range [...][]driver.Leg{q.Recv, q.Send} {
		for i := range legs {
			if onDevice(&legs[i].Buf) {
				return true
			}
		}
	}
	return false
}
