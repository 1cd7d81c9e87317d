package local

import (
	"context"
	"unsafe"

	"github.com/golops/golops/comm"
)

func (r *rank) Broadcast(ctx context.Context, b comm.Buf, root int) error {
	a := args{dst: b}
	a.call, a.err = comm.CheckBroadcast(r, comm.KindBroadcast, b, root)
	if r.me == root {
		a.src = b
	}
	if err := r.meet(ctx, &a); err != nil {
		return err
	}
	from := r.slot(root).src
	switch {
	case r.algo == comm.Ring && r.n > 1:
		if err := r.ringSpread(ctx, &a.call, root, b); err != nil {
			return err
		}
	case r.algo == comm.Tree && r.n > 1:
		if err := r.treeSpread(ctx, &a.call, root, b); err != nil {
			return err
		}
	case b.Bytes() <= eager:
		if r.me != root {
			comm.Move(b.Ptr, from, b.Bytes())
		}
		return nil
	default:
		// Root would idle while the others copy, so it brings the last part of
		// the buffer to each of them: all ranks copy equally much.
		cut := b.Bytes() / r.n * (r.n - 1) &^ 63
		if r.me != root {
			comm.Move(b.Ptr, from, cut)
			break
		}
		for j := range r.n {
			if j != root {
				comm.Move(unsafe.Add(r.slot(j).dst, cut), unsafe.Add(from, cut), b.Bytes()-cut)
			}
		}
	}
	return r.part(ctx, &a.call, nil)
}

func (r *rank) AllGather(ctx context.Context, dst, src comm.Buf) error {
	a := args{dst: dst, src: src}
	a.call, a.err = comm.CheckAllGather(r, comm.KindAllGather, dst, src)
	if err := r.meet(ctx, &a); err != nil {
		return err
	}
	sh := shares{n: dst.N, parts: r.n}
	switch {
	case r.algo == comm.Ring && r.n > 1:
		comm.Move(comm.Block(dst, r.me, r.n).Ptr, src.Ptr, src.Bytes())
		r.advance(uint64(r.n - 1)) // the steps that a reduction would take first
		if err := r.ringGather(ctx, &a.call, sh, dst); err != nil {
			return err
		}
	case r.algo == comm.Tree && r.n > 1:
		if err := r.treeGather(ctx, &a.call, dst, src); err != nil {
			return err
		}
	default:
		for j := range r.n {
			comm.Move(comm.Block(dst, j, r.n).Ptr, r.slot(j).src, src.Bytes())
		}
		if src.Bytes() <= eager {
			return nil
		}
	}
	return r.part(ctx, &a.call, nil)
}

func (r *rank) AllGatherV(ctx context.Context, dst comm.Buf, counts []int, src comm.Buf) error {
	a := args{dst: dst, src: src, in: counts}
	a.call, a.err = comm.CheckAllGatherV(r, dst, counts, src)
	if err := r.meet(ctx, &a); err != nil {
		return err
	}
	return r.part(ctx, &a.call, r.collect(&a.call, dst, counts))
}

// collect copies all ranks' sources, of counts elements each, into dst.
func (r *rank) collect(call *comm.Call, dst comm.Buf, counts []int) error {
	size, done := dst.DType.Size(), 0
	for j, n := range counts {
		s := r.slot(j)
		if s.n != n {
			return r.ragged(call, j, s.n, n, "sends")
		}
		comm.Move(at(dst.Ptr, done*size, n), s.src, n*size)
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
	if err := r.meet(ctx, &a); err != nil {
		return err
	}
	if src.Bytes() <= eager {
		if r.me == root {
			for j := range r.n {
				comm.Move(comm.Block(dst, j, r.n).Ptr, r.slot(j).src, src.Bytes())
			}
		}
		return nil
	}
	// Each rank brings its own block, so that all cores copy.
	comm.Move(unsafe.Add(r.slot(root).dst, r.me*src.Bytes()), src.Ptr, src.Bytes())
	return r.part(ctx, &a.call, nil)
}

func (r *rank) GatherV(ctx context.Context, dst comm.Buf, counts []int, src comm.Buf, root int) error {
	a := args{src: src}
	if r.me == root {
		a.dst, a.in = dst, counts
	}
	a.call, a.err = comm.CheckGather(r, comm.KindGatherV, dst, counts, src, root)
	if err := r.meet(ctx, &a); err != nil {
		return err
	}
	to := r.slot(root)
	if want := to.in[r.me]; want != src.N {
		err := &comm.MismatchError{RankA: root, CallA: to.call.String(), RankB: r.me, CallB: a.call.String()}
		err.Hint = r.ragged(&a.call, r.me, src.N, want, "sends").(*comm.MismatchError).Hint
		return r.part(ctx, &a.call, err)
	}
	comm.Move(at(to.dst, comm.Offset(to.in, r.me)*src.DType.Size(), src.N), src.Ptr, src.Bytes())
	return r.part(ctx, &a.call, nil)
}

func (r *rank) Scatter(ctx context.Context, dst, src comm.Buf, root int) error {
	a := args{dst: dst}
	if r.me == root {
		a.src = src
	}
	a.call, a.err = comm.CheckScatter(r, comm.KindScatter, dst, src, nil, root)
	if err := r.meet(ctx, &a); err != nil {
		return err
	}
	comm.Move(dst.Ptr, unsafe.Add(r.slot(root).src, r.me*dst.Bytes()), dst.Bytes())
	if dst.Bytes()*r.n <= eager {
		return nil
	}
	return r.part(ctx, &a.call, nil)
}

func (r *rank) ScatterV(ctx context.Context, dst, src comm.Buf, counts []int, root int) error {
	a := args{dst: dst}
	if r.me == root {
		a.src, a.in = src, counts
	}
	a.call, a.err = comm.CheckScatter(r, comm.KindScatterV, dst, src, counts, root)
	if err := r.meet(ctx, &a); err != nil {
		return err
	}
	from := r.slot(root)
	if n := from.in[r.me]; n != dst.N {
		return r.part(ctx, &a.call, r.ragged(&a.call, root, n, dst.N, "sends"))
	}
	comm.Move(dst.Ptr, at(from.src, comm.Offset(from.in, r.me)*dst.DType.Size(), dst.N), dst.Bytes())
	return r.part(ctx, &a.call, nil)
}

func (r *rank) AllToAll(ctx context.Context, dst, src comm.Buf) error {
	a := args{dst: dst, src: src}
	a.call, a.err = comm.CheckAllToAll(r, dst, src)
	if err := r.meet(ctx, &a); err != nil {
		return err
	}
	r.exchange(src.Bytes()/r.n, src.DType.Size())
	if src.Bytes() <= eager {
		return nil
	}
	return r.part(ctx, &a.call, nil)
}

func (r *rank) AllToAllV(ctx context.Context, dst comm.Buf, recvCounts []int, src comm.Buf, sendCounts []int) error {
	a := args{dst: dst, src: src, in: recvCounts, out: sendCounts}
	a.call, a.err = comm.CheckAllToAllV(r, dst, recvCounts, src, sendCounts)
	if err := r.meet(ctx, &a); err != nil {
		return err
	}
	var found error
	for j := 0; j < r.n && found == nil; j++ {
		switch s := r.slot(j); {
		case s.out[r.me] != recvCounts[j]:
			found = r.ragged(&a.call, j, s.out[r.me], recvCounts[j], "sends")
		case s.in[r.me] != sendCounts[j]:
			found = r.ragged(&a.call, j, s.in[r.me], sendCounts[j], "receives")
		}
	}
	if found == nil {
		r.exchange(0, src.DType.Size())
	}
	return r.part(ctx, &a.call, found)
}

// sendAt and recvAt return where in a rank's source the block for rank j is,
// and where in its destination the one from rank j, in bytes: by counts, or in
// equal blocks where there are none.
func (s *slot) sendAt(j, block, size int) (p unsafe.Pointer, bytes int) {
	if s.out == nil {
		return at(s.src, j*block, block), block
	}
	return at(s.src, comm.Offset(s.out, j)*size, s.out[j]), s.out[j] * size
}

func (s *slot) recvAt(j, block, size int) unsafe.Pointer {
	if s.in == nil {
		return at(s.dst, j*block, block)
	}
	return at(s.dst, comm.Offset(s.in, j)*size, s.in[j])
}

// exchange copies to each rank the block that every rank has for it. A rank
// may work in place, and then copying one way destroys what must go the other
// way. So two ranks share the work for the pair of them: each moves one half of
// the blocks in both directions, and nobody else touches that half.
func (r *rank) exchange(block, size int) {
	mine := r.own()
	for j := range r.n {
		his := r.slot(j)
		inPlace := mine.src == mine.dst || his.src == his.dst
		in, n := his.sendAt(r.me, block, size)
		to := mine.recvAt(j, block, size)
		if !inPlace || j == r.me {
			comm.Move(to, in, n)
			continue
		}
		out, _ := mine.sendAt(j, block, size)
		back := his.recvAt(r.me, block, size)
		lo, hi := 0, n/2/size*size
		if r.me > j {
			lo, hi = hi, n
		}
		tmp := unsafe.Pointer(&r.chunk)
		for ; lo < hi; lo += chunk {
			n := min(chunk, hi-lo)
			comm.Move(tmp, unsafe.Add(in, lo), n)
			comm.Move(unsafe.Add(back, lo), unsafe.Add(out, lo), n)
			comm.Move(unsafe.Add(to, lo), tmp, n)
		}
	}
}
