package local

import (
	"context"
	"unsafe"

	"github.com/golops/golops/comm/driver"
)

// Do implements driver.Conn. Small sources are copied into the slots. Ranks then leave
// without waiting for each other.
func (r *rank) Do(ctx context.Context, c *driver.Call) error {
	if err := r.enter(ctx, c); err != nil || c.Kind == driver.KindBarrier {
		return err
	}
	s, algo := c.Kind.Spec(), c.Algo
	if algo == driver.Auto {
		algo = r.algo
	}
	if algo == driver.Auto || r.n == 1 {
		algo = driver.Direct
	}
	bytes := int(c.N) * c.DType.Size() // of the largest source
	if s.SrcAtRoot {
		bytes *= r.n
	}
	if algo == driver.Direct && bytes <= eager && !s.Counts {
		r.fromSlots(c, s)
		return nil
	}
	if s.Counts {
		mismatch := driver.CompareCounts(r.n, c, func(j int) (own int, in, out []int) {
			o := r.slotOf(j)
			if s.Src == driver.Blocks {
				return o.m, o.in, o.out
			}
			return o.n, o.in, o.out
		})
		if mismatch != nil {
			if err := r.leave(ctx, c); err != nil {
				return err
			}
			return mismatch
		}
	}
	if err := r.move(ctx, c, algo); err != nil {
		return err
	}
	return r.leave(ctx, c)
}

// move does the work of a collective on the memory of all ranks. Its error means that the
// program was aborted.
func (r *rank) move(ctx context.Context, c *driver.Call, algo driver.Algo) error {
	switch c.Kind {
	case driver.KindAllReduce:
		return r.allReduce(ctx, c, algo)
	case driver.KindReduce:
		return r.reduce(ctx, c, algo)
	case driver.KindExScan:
		return r.exScan(ctx, c)
	case driver.KindReduceScatter, driver.KindReduceScatterV:
		return r.reduceScatter(ctx, c, algo)
	case driver.KindBroadcast:
		return r.broadcast(ctx, c, algo)
	case driver.KindAllGather, driver.KindAllGatherV:
		return r.allGather(ctx, c, algo)
	case driver.KindGather, driver.KindGatherV:
		r.gather(c)
	case driver.KindScatter, driver.KindScatterV:
		r.scatter(c)
	case driver.KindAllToAll, driver.KindAllToAllV:
		r.allToAll(c)
	}
	return nil
}

// fromSlots does a call whose sources are all in the slots, with blocks of equal size.
// No rank uses the memory of another.
func (r *rank) fromSlots(c *driver.Call, s *driver.Spec) {
	to, bytes := c.Dst.Ptr, c.Dst.Bytes()
	switch {
	case s.DstAtRoot && r.me != c.Root():
	case s.Before:
		r.foldLower(to, c, r.inSlots())
	case s.Reduces && s.Src == driver.Blocks:
		r.foldInto(to, c.Op, c.DType, r.me*c.Dst.N, (r.me+1)*c.Dst.N, r.inSlots())
	case s.Reduces:
		r.foldInto(to, c.Op, c.DType, 0, c.Dst.N, r.inSlots())
	case s.Dst == driver.Blocks: // one block from each rank
		bytes /= r.n
		at := 0
		if s.Src == driver.Blocks {
			at = r.me * bytes
		}
		for j := range r.n {
			driver.Move(addrAt(to, j*bytes, bytes), addrAt(unsafe.Pointer(&r.slotOf(j).data), at, bytes), bytes)
		}
	case s.Src == driver.Blocks: // a block from root
		driver.Move(to, addrAt(unsafe.Pointer(&r.slotOf(c.Root()).data), r.me*bytes, bytes), bytes)
	case r.me != c.Root():
		driver.Move(to, unsafe.Pointer(&r.slotOf(c.Root()).data), bytes)
	}
}

// exScan reduces to scratch memory, because higher ranks may still read a source that is
// also the destination.
func (r *rank) exScan(ctx context.Context, c *driver.Call) error {
	srcs, _ := r.operands()
	tmp := r.scratchBytes(c.Dst.Bytes())
	r.foldLower(tmp, c, srcs)
	if err := r.leave(ctx, c); err != nil {
		return err
	}
	driver.Move(c.Dst.Ptr, tmp, c.Dst.Bytes())
	return nil
}

// foldLower reduces the sources of lower ranks to to.
func (r *rank) foldLower(to unsafe.Pointer, c *driver.Call, srcs []unsafe.Pointer) {
	if r.me == 0 {
		clear(unsafe.Slice((*byte)(to), c.Dst.Bytes()))
		return
	}
	r.foldInto(to, c.Op, c.DType, 0, c.Dst.N, srcs[:r.me])
}
