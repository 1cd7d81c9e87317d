package local

import (
	"context"
	"unsafe"

	"github.com/golops/golops/comm/driver"
)

// Trees number ranks from root: v = (me-root) mod n. In the binomial tree the parent
// of v is v without its lowest bit, so the depth is log₂ n.

// Steps that a rank publishes.
const (
	treeUp   = 1 // its partial result is complete
	treeDone = 2 // it has the final result
)

// treeReduce leaves the reduction in to of root. That of other ranks holds partial
// results. callSlot.acc points to a rank's result.
func (r *rank) treeReduce(ctx context.Context, c *driver.Call, root int, to unsafe.Pointer) error {
	f := driver.ReducerOf(c.Op, c.DType)
	my := r.mySlot()
	v := (r.me - root + r.n) % r.n
	acc := my.src // before the first child: the source itself
	for bit := 1; bit < r.n && v&bit == 0; bit <<= 1 {
		if v|bit >= r.n {
			continue
		}
		child := ((v | bit) + root) % r.n
		if err := r.waitStep(ctx, child, treeUp, c); err != nil {
			return err
		}
		f(to, acc, r.slotOf(child).acc, c.Src.N)
		acc = to
	}
	my.acc = acc
	if v != 0 {
		r.advance(treeUp)
		return nil
	}
	if c.Op == driver.Average {
		driver.Divide(to, c.DType, c.Src.N, r.n)
	}
	r.advance(treeDone)
	return nil
}

// treeSpread copies root's destination to all ranks.
func (r *rank) treeSpread(ctx context.Context, c *driver.Call, root int) error {
	v := (r.me - root + r.n) % r.n
	if v != 0 {
		parent := (v&(v-1) + root) % r.n
		if err := r.waitStep(ctx, parent, treeDone, c); err != nil {
			return err
		}
		driver.Move(c.Dst.Ptr, r.slotOf(parent).dst, c.Dst.Bytes())
	}
	r.advance(treeDone)
	return nil
}

// treeGather collects blocks by recursive doubling. After k steps a rank has the
// blocks of the 2^k ranks from itself on. It then copies as many again from the rank
// 2^k further. No block is written twice, so a rank waits only for data.
func (r *rank) treeGather(ctx context.Context, c *driver.Call) error {
	block := c.Src.Bytes()
	driver.Move(unsafe.Add(c.Dst.Ptr, r.me*block), c.Src.Ptr, block)
	r.advance(1)
	steps := uint64(1)
	for have := 1; have < r.n; have *= 2 {
		peer := (r.me + have) % r.n
		if err := r.waitStep(ctx, peer, steps, c); err != nil {
			return err
		}
		for i := range min(have, r.n-have) {
			o := (peer + i) % r.n * block
			driver.Move(addrAt(c.Dst.Ptr, o, block), addrAt(r.slotOf(peer).dst, o, block), block)
		}
		steps++
		r.advance(steps)
	}
	return nil
}
