package local

import (
	"context"
	"unsafe"

	"github.com/golops/golops/comm"
)

// Trees number ranks from root: v = (me-root) mod n. In the binomial tree the parent
// of v is v without its lowest bit, so the depth is log₂ n.

// Steps that a rank publishes.
const (
	treeUp   = 1 // its partial result is complete
	treeDone = 2 // it has the final result
)

// treeReduce leaves the reduction in dst of root. dst of other ranks holds partial
// results. callSlot.acc points to a rank's result.
func (r *rank) treeReduce(ctx context.Context, call *comm.Call, op comm.Op, root int, dst, src comm.Buf) error {
	f := comm.ReducerOf(op, src.DType)
	my := r.mySlot()
	v := (r.me - root + r.n) % r.n
	acc := my.src // before the first child: the source itself
	for bit := 1; bit < r.n && v&bit == 0; bit <<= 1 {
		if v|bit >= r.n {
			continue
		}
		child := ((v | bit) + root) % r.n
		if err := r.waitStep(ctx, child, treeUp, call); err != nil {
			return err
		}
		f(dst.Ptr, acc, r.slotOf(child).acc, src.N)
		acc = dst.Ptr
	}
	my.acc = acc
	if v != 0 {
		r.advance(treeUp)
		return nil
	}
	if op == comm.Average {
		comm.Divide(dst.Ptr, src.DType, src.N, r.n)
	}
	r.advance(treeDone)
	return nil
}

// treeSpread copies root's b to all ranks.
func (r *rank) treeSpread(ctx context.Context, call *comm.Call, root int, b comm.Buf) error {
	v := (r.me - root + r.n) % r.n
	if v != 0 {
		parent := (v&(v-1) + root) % r.n
		if err := r.waitStep(ctx, parent, treeDone, call); err != nil {
			return err
		}
		comm.Move(b.Ptr, r.slotOf(parent).dst, b.Bytes())
	}
	r.advance(treeDone)
	return nil
}

// treeGather collects blocks by recursive doubling. After k steps a rank has the
// blocks of the 2^k ranks from itself on. It then copies as many again from the rank
// 2^k further. No block is written twice, so a rank waits only for data.
func (r *rank) treeGather(ctx context.Context, call *comm.Call, dst, src comm.Buf) error {
	block := src.Bytes()
	comm.Move(unsafe.Add(dst.Ptr, r.me*block), src.Ptr, block)
	r.advance(1)
	steps := uint64(1)
	for have := 1; have < r.n; have *= 2 {
		peer := (r.me + have) % r.n
		if err := r.waitStep(ctx, peer, steps, call); err != nil {
			return err
		}
		for i := range min(have, r.n-have) {
			o := (peer + i) % r.n * block
			comm.Move(addrAt(dst.Ptr, o, block), addrAt(r.slotOf(peer).dst, o, block), block)
		}
		steps++
		r.advance(steps)
	}
	return nil
}
