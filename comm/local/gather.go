package local

import (
	"context"
	"unsafe"

	"github.com/golops/golops/comm"
)

func (r *rank) AllGather(ctx context.Context, dst, src comm.Buf) error {
	a := args{dst: dst, src: src}
	a.call, a.err = comm.CheckAllGather(r, comm.KindAllGather, dst, src)
	if err := r.enter(ctx, &a); err != nil {
		return err
	}
	sh := shares{n: dst.N, count: r.n}
	switch {
	case r.algo == comm.Ring && r.n > 1:
		comm.Move(comm.Block(dst, r.me, r.n).Ptr, src.Ptr, src.Bytes())
		r.advance(uint64(r.n - 1)) // ringGather counts steps from those of ringReduce
		if err := r.ringGather(ctx, &a.call, sh, dst); err != nil {
			return err
		}
	case r.algo == comm.Tree && r.n > 1:
		if err := r.treeGather(ctx, &a.call, dst, src); err != nil {
			return err
		}
	default:
		for j := range r.n {
			comm.Move(comm.Block(dst, j, r.n).Ptr, r.slotOf(j).src, src.Bytes())
		}
		if src.Bytes() <= eager {
			return nil
		}
	}
	return r.leave(ctx, &a.call, nil)
}

func (r *rank) AllGatherV(ctx context.Context, dst comm.Buf, counts []int, src comm.Buf) error {
	a := args{dst: dst, src: src, in: counts}
	a.call, a.err = comm.CheckAllGatherV(r, dst, counts, src)
	if err := r.enter(ctx, &a); err != nil {
		return err
	}
	return r.leave(ctx, &a.call, r.gatherBlocks(&a.call, dst, counts))
}

// gatherBlocks copies all ranks' sources into dst. Rank j has counts[j] elements.
func (r *rank) gatherBlocks(call *comm.Call, dst comm.Buf, counts []int) error {
	size, done := dst.DType.Size(), 0
	for j, n := range counts {
		s := r.slotOf(j)
		if s.n != n {
			return r.countMismatch(call, j, s.n, n, "sends")
		}
		comm.Move(addrAt(dst.Ptr, done*size, n), s.src, n*size)
		done += n
	}
	return nil
}

func (r *rank) Gather(ctx context.Context, dst, src comm.Buf, root int) error {
	a := args{src: src}
	if r.me == root {
		a.dst = dst
	}
	a.call, a.err = comm.CheckGather(r, comm.KindGather, dst, nil, src, root)
	if err := r.enter(ctx, &a); err != nil {
		return err
	}
	if src.Bytes() <= eager {
		if r.me == root {
			for j := range r.n {
				comm.Move(comm.Block(dst, j, r.n).Ptr, r.slotOf(j).src, src.Bytes())
			}
		}
		return nil
	}
	// Each rank copies its own block to root, so that all cores copy.
	comm.Move(unsafe.Add(r.slotOf(root).dst, r.me*src.Bytes()), src.Ptr, src.Bytes())
	return r.leave(ctx, &a.call, nil)
}

func (r *rank) GatherV(ctx context.Context, dst comm.Buf, counts []int, src comm.Buf, root int) error {
	a := args{src: src}
	if r.me == root {
		a.dst, a.in = dst, counts
	}
	a.call, a.err = comm.CheckGather(r, comm.KindGatherV, dst, counts, src, root)
	if err := r.enter(ctx, &a); err != nil {
		return err
	}
	to := r.slotOf(root)
	if want := to.in[r.me]; want != src.N {
		err := &comm.MismatchError{RankA: root, CallA: to.call.String(), RankB: r.me, CallB: a.call.String()}
		err.Hint = r.countMismatch(&a.call, r.me, src.N, want, "sends").(*comm.MismatchError).Hint
		return r.leave(ctx, &a.call, err)
	}
	comm.Move(addrAt(to.dst, comm.Offset(to.in, r.me)*src.DType.Size(), src.N), src.Ptr, src.Bytes())
	return r.leave(ctx, &a.call, nil)
}
