package dist

import (
	"context"

	"github.com/golops/golops/array"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// exchange moves boxes of elements between two layouts of one index space: each
// rank has a box, wants a box, and what it wants of another's comes in one
// message per pair of ranks. Scatter, gather, redistribution and halos are all
// exchanges; they differ in the boxes. The plan and its buffers are made once.
type exchange[T scalar.Scalar] struct {
	comm      comm.Comm
	out, in   []leg
	self      device.Strided
	hasSelf   bool
	outB, inB array.Array[T] // packed messages
	reqs      []comm.Request
	now       device.Strided // of the copy under way, where a kernel can point to it
}

// leg is one message: the elements c of a block, or lo to hi of the packed ones.
type leg struct {
	peer   int
	c      device.Strided // packs into, or unpacks from, the packed message
	lo, hi int
	direct bool // the elements lie together in the block, from at on
	at     int
}

// boxes says what each rank has and wants. A rank without primary has copies
// of what others have and is not asked for them.
type boxes struct {
	rank    int // number of axes
	has     func(r int) (b Box, primary bool)
	want    func(r int) Box
	same    bool                  // every rank has all: nothing is sent
	hasB    [2]shape.Shape        // shapes of this rank's blocks: has, want
	hasLo   [2][shape.MaxRank]int // global index of their first elements
	device  device.Device
	me, all int
}

func newExchange[T scalar.Scalar](c comm.Comm, p boxes) (*exchange[T], error) {
	e := &exchange[T]{comm: c}
	mine, primary := p.has(p.me)
	want := p.want(p.me)
	outN, inN := 0, 0
	for r := range p.all {
		theirs, counts := p.has(r)
		if r == p.me {
			if b, some := mine.meet(want, p.rank); some && (p.same || counts) {
				e.self, e.hasSelf = between(b, p.rank, p.hasB[1], p.hasLo[1], p.hasB[0], p.hasLo[0]), true
			}
			continue
		}
		if p.same {
			continue
		}
		if b, some := mine.meet(p.want(r), p.rank); some && primary {
			e.out = append(e.out, newLeg(r, b, p.rank, p.hasB[0], p.hasLo[0], &outN))
		}
		if b, some := theirs.meet(want, p.rank); some && counts {
			e.in = append(e.in, newLeg(r, b, p.rank, p.hasB[1], p.hasLo[1], &inN))
		}
	}
	var err error
	if e.outB, err = array.New[T](p.device, shape.Of(outN)); err != nil {
		return nil, err
	}
	if e.inB, err = array.New[T](p.device, shape.Of(inN)); err != nil {
		return nil, err
	}
	e.reqs = make([]comm.Request, 0, len(e.in)+len(e.out))
	return e, nil
}

// newLeg describes the elements of box b in a block, packed from n on.
func newLeg(peer int, b Box, rank int, block shape.Shape, lo [shape.MaxRank]int, n *int) leg {
	sh := b.shape(rank)
	c := between(b, rank, sh, b.Lo, block, lo)
	l := leg{peer: peer, c: c, lo: *n, hi: *n + sh.Size(), at: c.SrcAt}
	l.direct = contiguous(sh, block)
	*n = l.hi
	return l
}

// contiguous reports whether a box of shape b lies together in a block: axes
// behind the first one longer than 1 must be whole.
func contiguous(b, block shape.Shape) bool {
	i := 0
	for i < b.Rank() && b.Dim(i) == 1 {
		i++
	}
	for i++; i < b.Rank(); i++ {
		if b.Dim(i) != block.Dim(i) {
			return false
		}
	}
	return true
}

// between copies box b from the block src, whose first element has global
// index srcLo, to dst.
func between(b Box, rank int, dst shape.Shape, dstLo [shape.MaxRank]int, src shape.Shape, srcLo [shape.MaxRank]int) device.Strided {
	c := device.Strided{Shape: b.shape(rank), Dst: dst.Strides(), Src: src.Strides()}
	for i := range rank {
		c.DstAt += (b.Lo[i] - dstLo[i]) * c.Dst[i]
		c.SrcAt += (b.Lo[i] - srcLo[i]) * c.Src[i]
	}
	return c
}

// flip turns a copy around.
func flip(c device.Strided) device.Strided {
	c.Dst, c.Src, c.DstAt, c.SrcAt = c.Src, c.Dst, c.SrcAt, c.DstAt
	return c
}

// run fills dst, a block of what this rank wants, from src, a block of what it
// has. Elements that nobody has are left alone.
func (e *exchange[T]) run(ctx context.Context, dst, src array.Array[T]) error {
	return e.move(ctx, dst, e.in, e.inB, src, e.out, e.outB, e.self, false)
}

// runBack is the reverse: dst is a block of what this rank has. What it holds of
// its own is written first; what comes is written or, if add, added to that.
func (e *exchange[T]) runBack(ctx context.Context, dst, src array.Array[T], add bool) error {
	return e.move(ctx, dst, e.out, e.outB, src, e.in, e.inB, flip(e.self), add)
}

func (e *exchange[T]) move(ctx context.Context, dst array.Array[T], in []leg, inB array.Array[T], src array.Array[T], out []leg, outB array.Array[T], self device.Strided, add bool) error {
	k := dst.Kernels()
	reqs := e.reqs[:0]
	for i := range in {
		l := &in[i]
		to := inB.Slice(l.lo, l.hi)
		if l.direct && !add {
			to = dst.Slice(l.at, l.at+l.hi-l.lo)
		}
		q, err := e.comm.IRecv(ctx, buf(to), l.peer)
		if err != nil {
			return err
		}
		reqs = append(reqs, q)
	}
	for i := range out {
		l := &out[i]
		from := outB.Slice(l.lo, l.hi)
		if l.direct {
			from = src.Slice(l.at, l.at+l.hi-l.lo)
		} else {
			k.CopyND(from.Mem(), src.Mem(), &l.c, false)
		}
		if err := dst.Device().Sync(ctx); err != nil {
			return err
		}
		q, err := e.comm.ISend(ctx, buf(from), l.peer)
		if err != nil {
			return err
		}
		reqs = append(reqs, q)
	}
	if e.hasSelf {
		e.now = self
		k.CopyND(dst.Mem(), src.Mem(), &e.now, false)
	}
	for i := range in {
		if err := reqs[i].Wait(ctx); err != nil {
			return err
		}
		l := &in[i]
		if l.direct && !add {
			continue
		}
		e.now = flip(l.c)
		k.CopyND(dst.Mem(), inB.Slice(l.lo, l.hi).Mem(), &e.now, add)
	}
	return comm.WaitAll(ctx, reqs[len(in):]...)
}
