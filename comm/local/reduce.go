package local

import (
	"context"
	"fmt"

	"github.com/golops/golops/comm"
)

// The direct algorithm: after all ranks have entered, each does an equal share of the
// work on all ranks' memory. Small sources are copied into the slots, and then ranks
// leave without waiting for each other. Direct was the fastest algorithm at every size
// from 8 B to 64 MB on 2, 4, 8 and 16 ranks (docs/benchmarks.md), so Auto is Direct.

func (r *rank) AllReduce(ctx context.Context, dst, src comm.Buf, op comm.Op) error {
	a := args{dst: dst, src: src}
	a.call, a.err = comm.CheckAllReduce(comm.KindAllReduce, dst, src, op)
	if err := r.enter(ctx, &a); err != nil {
		return err
	}
	algo := r.algo
	if algo == comm.Auto || r.n == 1 {
		algo = comm.Direct
	}
	size := src.DType.Size()
	if algo == comm.Direct && src.N*size <= eager {
		r.foldInto(dst.Ptr, op, src.DType, 0, src.N, r.inSlots())
		return nil
	}
	sh := shares{n: src.N, count: r.n, bytes: size}
	lo, hi := sh.bounds(r.me)
	switch {
	case algo == comm.Ring:
		if err := r.ringReduce(ctx, &a.call, op, sh, addrAt(dst.Ptr, lo*size, hi-lo)); err != nil {
			return err
		}
		if err := r.ringGather(ctx, &a.call, sh, dst); err != nil {
			return err
		}
	case algo == comm.Tree:
		if err := r.treeReduce(ctx, &a.call, op, 0, dst, src); err != nil {
			return err
		}
		if err := r.treeSpread(ctx, &a.call, 0, dst); err != nil {
			return err
		}
	default:
		srcs, dsts := r.operands()
		r.reduceRange(op, src.DType, lo, hi, dsts, srcs)
	}
	return r.leave(ctx, &a.call, nil)
}

func (r *rank) Reduce(ctx context.Context, dst, src comm.Buf, op comm.Op, root int) error {
	a := args{dst: dst, src: src}
	a.call, a.err = comm.CheckReduce(r, dst, src, op, root)
	if err := r.enter(ctx, &a); err != nil {
		return err
	}
	sh := shares{n: src.N, count: r.n, bytes: src.DType.Size()}
	lo, hi := sh.bounds(r.me)
	switch {
	case r.algo == comm.Ring && r.n > 1:
		if err := r.ringReduce(ctx, &a.call, op, sh, addrAt(r.slotOf(root).dst, lo*src.DType.Size(), hi-lo)); err != nil {
			return err
		}
	case r.algo == comm.Tree && r.n > 1:
		if r.me != root {
			dst = comm.Buf{DType: src.DType, N: src.N, Ptr: r.scratchBytes(src.Bytes())}
		}
		if err := r.treeReduce(ctx, &a.call, op, root, dst, src); err != nil {
			return err
		}
	case src.Bytes() <= eager:
		if r.me == root {
			r.foldInto(dst.Ptr, op, src.DType, 0, src.N, r.inSlots())
		}
		return nil
	default:
		srcs, dsts := r.operands()
		r.reduceRange(op, src.DType, lo, hi, dsts[root:root+1], srcs)
	}
	return r.leave(ctx, &a.call, nil)
}

func (r *rank) ReduceScatter(ctx context.Context, dst, src comm.Buf, op comm.Op) error {
	return r.reduceScatter(ctx, comm.KindReduceScatter, dst, src, nil, op)
}

func (r *rank) ReduceScatterV(ctx context.Context, dst, src comm.Buf, counts []int, op comm.Op) error {
	return r.reduceScatter(ctx, comm.KindReduceScatterV, dst, src, counts, op)
}

func (r *rank) reduceScatter(ctx context.Context, k comm.Kind, dst, src comm.Buf, counts []int, op comm.Op) error {
	a := args{dst: dst, src: src, in: counts}
	a.call, a.err = comm.CheckReduceScatter(r, k, dst, src, counts, op)
	if err := r.enter(ctx, &a); err != nil {
		return err
	}
	sh := shares{n: src.N, count: r.n, counts: counts}
	if err := r.compareCounts(&a.call); err != nil {
		return r.leave(ctx, &a.call, err)
	}
	lo, hi := sh.bounds(r.me)
	switch {
	case r.algo == comm.Ring && r.n > 1:
		if err := r.ringReduce(ctx, &a.call, op, sh, dst.Ptr); err != nil {
			return err
		}
	case r.algo == comm.Tree && r.n > 1:
		all := comm.Buf{DType: src.DType, N: src.N, Ptr: r.scratchBytes(src.Bytes())}
		if err := r.treeReduce(ctx, &a.call, op, 0, all, src); err != nil {
			return err
		}
		if err := r.waitStep(ctx, 0, treeDone, &a.call); err != nil {
			return err
		}
		comm.Move(dst.Ptr, addrAt(r.slotOf(0).acc, lo*src.DType.Size(), dst.N), dst.Bytes())
	default:
		srcs, _ := r.operands()
		r.foldInto(dst.Ptr, op, src.DType, lo, hi, srcs)
		if counts == nil && src.Bytes() <= eager {
			return nil
		}
	}
	return r.leave(ctx, &a.call, nil)
}

// compareCounts returns an error if the counts of two ranks differ. All ranks
// return the same.
func (r *rank) compareCounts(call *comm.Call) error {
	zero := r.slotOf(0).in
	for j := range r.n {
		for k, n := range r.slotOf(j).in {
			if n != zero[k] {
				return &comm.MismatchError{RankA: 0, CallA: call.String(), RankB: j, CallB: call.String(),
					Hint: fmt.Sprintf("for rank %d they have counts %d and %d", k, zero[k], n)}
			}
		}
	}
	return nil
}
