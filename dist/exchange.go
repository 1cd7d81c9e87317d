package dist

import (
	"context"

	"github.com/golops/golops/array"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// exchange moves elements between two layouts of one array. Each rank has a box
// and wants a box. Where the box that a rank wants overlaps that of another, the
// overlap comes in one message. Redistributions and halos are exchanges with
// different boxes. The plan and its buffers are made once.
type exchange[T scalar.Scalar] struct {
	comm      comm.Comm
	out, in   []peerCopy
	self      device.Strided
	hasSelf   bool
	outB, inB array.Array[T] // packed messages
	reqs      []comm.Request
	now       device.Strided // of the copy under way, where a kernel can point to it
}

// peerCopy is one message. Its elements are packed at position at of a buffer, or
// sent from the block itself if they are contiguous there.
type peerCopy struct {
	peer, n int
	c       device.Strided // packs the message
	direct  bool
	at      int
}

// plan says what each rank has and wants.
type plan struct {
	axes    int
	me      Proc
	has     func(r int) Box
	want    func(r int) Box
	sendsTo func(from, to int) bool // whether rank from sends its overlap to rank to
	given   blockAt                 // this rank's block of what it has
	got     blockAt                 // and of what it wants
	adds    bool                    // the adjoint adds what it receives, so it cannot receive into the block
}

// blockAt is a block and the global index of its first element.
type blockAt struct {
	shape shape.Shape
	lo    [shape.MaxNDim]int
}

func newExchange[T scalar.Scalar](p plan) (*exchange[T], error) {
	e := &exchange[T]{comm: p.me.Comm}
	me := p.me.Rank()
	mine, want := p.has(me), p.want(me)
	outN, inN := 0, 0
	for r := range p.me.Size() {
		if r == me {
			if b, some := mine.Intersect(want, p.axes); some && p.sendsTo(me, me) {
				e.self, e.hasSelf = between(b, p.axes, p.got, p.given), true
			}
			continue
		}
		if b, some := mine.Intersect(p.want(r), p.axes); some && p.sendsTo(me, r) {
			e.out = append(e.out, newPeerCopy(r, b, p.axes, p.given, p.adds, &outN))
		}
		if b, some := p.has(r).Intersect(want, p.axes); some && p.sendsTo(r, me) {
			e.in = append(e.in, newPeerCopy(r, b, p.axes, p.got, false, &inN))
		}
	}
	var err error
	if e.outB, err = array.New[T](p.me.Device, shape.Of(outN)); err != nil {
		return nil, err
	}
	if e.inB, err = array.New[T](p.me.Device, shape.Of(inN)); err != nil {
		e.outB.Free()
		return nil, err
	}
	e.reqs = make([]comm.Request, 0, len(e.in)+len(e.out))
	return e, nil
}

// newPeerCopy describes the elements of box b in a block. If they are not
// contiguous, or must be packed anyway, it reserves room for them at n.
func newPeerCopy(peer int, b Box, axes int, block blockAt, packed bool, n *int) peerCopy {
	sh := b.shape(axes)
	l := peerCopy{peer: peer, n: sh.Size(), c: between(b, axes, blockAt{sh, b.Lo}, block)}
	l.direct = contiguous(sh, block.shape)
	if !l.direct || packed {
		l.at = *n
		*n += l.n
	}
	return l
}

// contiguous reports whether a box of shape b is contiguous in a block: all axes
// after the first one longer than 1 must be whole.
func contiguous(b, block shape.Shape) bool {
	i := 0
	for i < b.NDim() && b.Dim(i) == 1 {
		i++
	}
	for i++; i < b.NDim(); i++ {
		if b.Dim(i) != block.Dim(i) {
			return false
		}
	}
	return true
}

// between copies box b from one block to another.
func between(b Box, axes int, dst, src blockAt) device.Strided {
	c := device.Strided{Shape: b.shape(axes), Dst: dst.shape.Strides(), Src: src.shape.Strides()}
	for i := range axes {
		c.DstAt += (b.Lo[i] - dst.lo[i]) * c.Dst[i]
		c.SrcAt += (b.Lo[i] - src.lo[i]) * c.Src[i]
	}
	return c
}

// flip turns a copy around.
func flip(c device.Strided) device.Strided {
	c.Dst, c.Src, c.DstAt, c.SrcAt = c.Src, c.Dst, c.SrcAt, c.DstAt
	return c
}

// run fills dst, a block of what this rank wants, from src, a block of what it
// has. It does not write elements that no rank has.
func (e *exchange[T]) run(ctx context.Context, dst, src array.Array[T], l comm.Label) error {
	return e.transfer(ctx, dst, e.in, e.inB, src, e.out, e.outB, e.self, false, l)
}

// addBack is the adjoint of run. It sets dst, a block of what this rank has, to
// this rank's elements in src plus those that come back from the ranks that run
// sends to.
func (e *exchange[T]) addBack(ctx context.Context, dst, src array.Array[T], l comm.Label) error {
	return e.transfer(ctx, dst, e.out, e.outB, src, e.in, e.inB, flip(e.self), true, l)
}

func (e *exchange[T]) transfer(ctx context.Context, dst array.Array[T], in []peerCopy, inB array.Array[T], src array.Array[T], out []peerCopy, outB array.Array[T], self device.Strided, add bool, label comm.Label) error {
	k := dst.Kernels()
	reqs := e.reqs[:0]
	for i := range in {
		l := &in[i]
		q, err := e.comm.IRecv(ctx, buf(message(l, dst, inB, l.direct && !add)).Labelled(label), l.peer)
		if err != nil {
			return GiveUp(ctx, e.comm, err, reqs)
		}
		reqs = append(reqs, q)
	}
	for i := range out {
		if l := &out[i]; !l.direct {
			k.CopyND(outB.Slice(l.at, l.at+l.n).Mem(), src.Mem(), &l.c, false)
		}
	}
	for i := range out {
		l := &out[i]
		q, err := e.comm.ISend(ctx, buf(message(l, src, outB, l.direct)).Labelled(label), l.peer)
		if err != nil {
			return GiveUp(ctx, e.comm, err, reqs)
		}
		reqs = append(reqs, q)
	}
	if e.hasSelf {
		e.now = self
		k.CopyND(dst.Mem(), src.Mem(), &e.now, false)
	}
	for i := range in {
		if err := reqs[i].Wait(ctx); err != nil {
			return GiveUp(ctx, e.comm, err, reqs)
		}
		l := &in[i]
		if l.direct && !add {
			continue
		}
		e.now = flip(l.c)
		k.CopyND(dst.Mem(), inB.Slice(l.at, l.at+l.n).Mem(), &e.now, add)
	}
	return comm.WaitAll(ctx, reqs[len(in):]...)
}

// GiveUp ends an exchange that has failed and returns err. The next exchange uses
// the same buffers, so GiveUp waits for all messages. If any is still under way it
// aborts the program first, because the other rank may never answer.
func GiveUp(ctx context.Context, c comm.Comm, err error, reqs []comm.Request) error {
	for _, q := range reqs {
		if done, _ := q.Test(); !done {
			c.Abort(err)
			break
		}
	}
	_ = comm.WaitAll(ctx, reqs...) // err came first
	return err
}

// message returns the memory of a message: that of the block itself, or packed.
func message[T scalar.Scalar](l *peerCopy, block, packed array.Array[T], direct bool) array.Array[T] {
	if direct {
		return block.Slice(l.c.SrcAt, l.c.SrcAt+l.n)
	}
	return packed.Slice(l.at, l.at+l.n)
}

// free gives the buffers back. A plan that was never made has none.
func (e *exchange[T]) free() {
	if e != nil {
		e.outB.Free()
		e.inB.Free()
	}
}
