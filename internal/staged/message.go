package staged

import (
	"context"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// A message of more than a few chunks is sent as a header with its size, followed by the chunks.

// magic is in the first word of a header, with the type, so that a receiver can tell a header
// from data.
const magic = 0x676f6c6f70730000

// chunked reports whether a message is divided into chunks.
func (c *Comm) chunked(k comm.Kind, b comm.Buf) bool {
	return b.Bytes() > c.s.above && !c.takesGPUMemory(comm.Call{Kind: k, DType: b.DType, N: int64(b.N)})
}

// ISend implements comm.Comm.
func (c *Comm) ISend(ctx context.Context, src comm.Buf, to int) (comm.Request, error) {
	if c.closed {
		return comm.Request{}, comm.ErrClosed
	}
	if c.chunked(comm.KindSend, src) {
		return c.sendChunks(ctx, src, to)
	}
	if src.Place == comm.OnHost {
		return c.host.ISend(ctx, src, to)
	}
	call, err := comm.CheckMessage(c.host, comm.KindSend, src.IgnorePlace(), to)
	return c.start(call, comm.Buf{}, src, err, func(_, src comm.Buf) (comm.Request, error) { return c.host.ISend(ctx, src, to) })
}

// IRecv implements comm.Comm.
func (c *Comm) IRecv(ctx context.Context, dst comm.Buf, from int) (comm.Request, error) {
	if c.closed {
		return comm.Request{}, comm.ErrClosed
	}
	if c.chunked(comm.KindRecv, dst) {
		return c.recvChunks(ctx, dst, from)
	}
	if dst.Place == comm.OnHost {
		return c.host.IRecv(ctx, dst, from)
	}
	call, err := comm.CheckMessage(c.host, comm.KindRecv, dst.IgnorePlace(), from)
	return c.start(call, dst, comm.Buf{}, err, func(dst, _ comm.Buf) (comm.Request, error) { return c.host.IRecv(ctx, dst, from) })
}

// sendChunks posts each chunk as soon as it is in host memory.
func (c *Comm) sendChunks(ctx context.Context, src comm.Buf, to int) (comm.Request, error) {
	call, err := comm.CheckMessage(c.host, comm.KindSend, src.IgnorePlace(), to)
	if err != nil {
		return comm.Request{}, err
	}
	q, err := c.newMessage(call, comm.Buf{}, src)
	if err != nil {
		return comm.Request{}, err
	}
	q.header = [4]int64{magic | int64(src.DType), int64(src.N), int64(q.per), 0}
	if err := c.post(ctx, q, comm.Of(q.header[:]).Labelled(call.Label), to); err != nil {
		return comm.Request{}, err
	}
	q.marks = q.marks[:0]
	if onDevice(src) {
		for lo := 0; lo < src.N; lo += q.per {
			hi := min(lo+q.per, src.N)
			mark, err := c.s.download(q.staging.src.Slice(lo, hi), src.Slice(lo, hi))
			if err != nil {
				return comm.Request{}, c.drop(q, err)
			}
			q.marks = append(q.marks, mark)
		}
	}
	for i, lo := 0, 0; lo < src.N; i, lo = i+1, lo+q.per {
		if onDevice(src) {
			if err := awaitMark(c.s.down, q.marks[i]); err != nil {
				return comm.Request{}, c.drop(q, err)
			}
		}
		if err := c.post(ctx, q, q.staging.src.Slice(lo, min(lo+q.per, src.N)), to); err != nil {
			return comm.Request{}, err
		}
	}
	return comm.NewRequest(c, q.id), nil
}

func (c *Comm) recvChunks(ctx context.Context, dst comm.Buf, from int) (comm.Request, error) {
	call, err := comm.CheckMessage(c.host, comm.KindRecv, dst.IgnorePlace(), from)
	if err != nil {
		return comm.Request{}, err
	}
	q, err := c.newMessage(call, dst, comm.Buf{})
	if err != nil {
		return comm.Request{}, err
	}
	if err := c.post(ctx, q, comm.Of(q.header[:]).Labelled(call.Label), from); err != nil {
		return comm.Request{}, err
	}
	for lo := 0; lo < dst.N; lo += q.per {
		if err := c.post(ctx, q, q.staging.dst.Slice(lo, min(lo+q.per, dst.N)), from); err != nil {
			return comm.Request{}, err
		}
	}
	c.receiving = append(c.receiving, q)
	return comm.NewRequest(c, q.id), nil
}

// newMessage returns a request with memory for a large message.
func (c *Comm) newMessage(call comm.Call, dst, src comm.Buf) (*request, error) {
	p, err := c.s.stage(dst, src)
	if err != nil {
		return nil, err
	}
	if err := c.s.follow(dst, src); err != nil {
		c.s.release(p)
		return nil, err
	}
	q := c.newRequest(call, dst)
	q.staging, q.per = p, max(1, c.s.chunk/call.DType.Size())
	return q, nil
}

// post starts the header or one chunk of a large message.
func (c *Comm) post(ctx context.Context, q *request, b comm.Buf, peer int) error {
	var part comm.Request
	var err error
	if q.call.Kind == comm.KindRecv {
		part, err = c.host.IRecv(ctx, b, peer)
	} else {
		part, err = c.host.ISend(ctx, b, peer)
	}
	if err != nil {
		return c.drop(q, err)
	}
	q.parts = append(q.parts, part)
	return nil
}

// checkHeader compares the header that has come with the receive.
func (c *Comm) checkHeader(q *request) error {
	if q.call.Kind == comm.KindSend {
		return nil
	}
	h := &q.header
	sent := comm.Call{Kind: comm.KindSend, DType: scalar.DType(h[0] &^ magic), Peer: int32(c.Rank()), N: h[1], Label: q.call.Label}
	if h[0]>>16 != magic>>16 { // no header: the sender's message is not divided
		sent.DType, sent.N = scalar.Int64, int64(len(h))
	}
	return comm.MessageMismatch(int(q.call.Peer), sent, c.Rank(), q.call)
}
