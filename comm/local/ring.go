package local

import (
	"context"
	"unsafe"

	"github.com/golops/golops/comm/driver"
)

// In a ring each rank reads only from its left neighbour. A rank publishes how many
// steps it has done in rankState.step. Its right neighbour follows one step later.

// advance publishes that this rank has done this many steps of the collective.
func (r *rank) advance(steps uint64) {
	r.state.step.Store(r.seq<<stepBits + steps)
	r.wakeWaiters()
}

// waitStep waits until rank j has done this many steps.
func (r *rank) waitStep(ctx context.Context, j int, steps uint64, c *driver.Call) error {
	return r.waitFlag(ctx, &r.g.states[j].step, r.seq<<stepBits+steps, j, c.Named())
}

// ringReduce writes share me of the reduction to final. In step s a rank adds its
// share me-s-2 to the left neighbour's partial result of that share. After n-1 steps
// share me has passed all ranks. Partial results alternate between two scratch
// buffers. A buffer is reused only after the right neighbour has read it.
func (r *rank) ringReduce(ctx context.Context, c *driver.Call, sh shares, final unsafe.Pointer) error {
	f, size := driver.ReducerOf(c.Op, c.DType), c.DType.Size()
	left, right := (r.me+r.n-1)%r.n, (r.me+1)%r.n
	widest := 0
	for i := range r.n {
		lo, hi := sh.bounds(i)
		widest = max(widest, (hi-lo)*size)
	}
	widest = (widest + 63) &^ 63
	my, prev := r.mySlot(), r.slotOf(left)
	my.acc = r.scratchBytes(2 * widest)
	r.advance(0)
	for s := range r.n - 1 {
		lo, hi := sh.bounds((r.me + 2*r.n - s - 2) % r.n)
		if err := r.waitStep(ctx, left, uint64(s), c); err != nil {
			return err
		}
		n := (hi - lo) * size
		in := addrAt(prev.acc, (s+1)%2*widest, n)
		if s == 0 {
			in = addrAt(prev.src, lo*size, n)
		}
		out := addrAt(my.acc, s%2*widest, n)
		if s == r.n-2 {
			out = final
		} else if s >= 2 {
			if err := r.waitStep(ctx, right, uint64(s), c); err != nil {
				return err
			}
		}
		f(out, in, addrAt(my.src, lo*size, n), hi-lo)
		if c.Op == driver.Average && s == r.n-2 {
			driver.Divide(out, c.DType, hi-lo, r.n)
		}
		r.advance(uint64(s + 1))
	}
	return nil
}

// ringGather passes the shares around. In step t a rank copies share me-t-1 from its
// left neighbour, which got it in the step before. Steps continue the count of
// ringReduce.
func (r *rank) ringGather(ctx context.Context, c *driver.Call, sh shares) error {
	left, size := (r.me+r.n-1)%r.n, c.DType.Size()
	prev := r.slotOf(left)
	for t := range r.n - 1 {
		done := uint64(r.n - 1 + t)
		if err := r.waitStep(ctx, left, done, c); err != nil {
			return err
		}
		lo, hi := sh.bounds((r.me + r.n - t - 1) % r.n)
		n := (hi - lo) * size
		driver.Move(addrAt(c.Dst.Ptr, lo*size, n), addrAt(prev.dst, lo*size, n), n)
		r.advance(done + 1)
	}
	return nil
}

// ringSpread passes root's buffer along the ring in pieces, so that all ranks
// copy at the same time.
func (r *rank) ringSpread(ctx context.Context, c *driver.Call) error {
	b := c.Dst
	pieces := max(b.Bytes()>>18, 1)
	if r.me == c.Root() {
		r.advance(uint64(pieces))
		return nil
	}
	left := (r.me + r.n - 1) % r.n
	from := r.slotOf(left).dst
	sh := shares{n: b.Bytes(), count: pieces, bytes: 1}
	for p := range pieces {
		if err := r.waitStep(ctx, left, uint64(p+1), c); err != nil {
			return err
		}
		lo, hi := sh.bounds(p)
		driver.Move(unsafe.Add(b.Ptr, lo), unsafe.Add(from, lo), hi-lo)
		r.advance(uint64(p + 1))
	}
	return nil
}
