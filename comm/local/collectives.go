package local

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// chunk is how many bytes a reduction works on at a time: small enough that a
// partial result stays in the first-level cache while all ranks' data is folded in.
const chunk = 8192

// streaming is from how many bytes of its share on a rank writes past the
// caches, which cannot hold that much anyway.
const streaming = 8 << 20

// The direct algorithms: after all ranks have met, each does an equal share of
// the work on everybody's memory. Small sources travel in the slots, and then
// the ranks need not wait for each other at the end. In one form or the other
// they were the fastest at every size from 8 B to 64 MB on 2, 4, 8 and 16 ranks
// (docs/benchmarks.md), so Auto takes them always.

func (r *rank) Barrier(ctx context.Context) error {
	return r.meet(ctx, &args{call: comm.Call{Kind: comm.KindBarrier, Peer: -1}})
}

func (r *rank) AllReduce(ctx context.Context, dst, src comm.Buf, op comm.Op) error {
	a := args{dst: dst, src: src}
	a.call, a.err = comm.CheckAllReduce(comm.KindAllReduce, dst, src, op)
	if err := r.meet(ctx, &a); err != nil {
		return err
	}
	algo := r.algo
	if algo == comm.Auto || r.n == 1 {
		algo = comm.Direct
	}
	size := src.DType.Size()
	if algo == comm.Direct && src.N*size <= eager {
		r.gatherFold(dst.Ptr, op, src.DType, 0, src.N, r.inSlots())
		return nil
	}
	sh := shares{n: src.N, parts: r.n, bytes: size}
	lo, hi := sh.part(r.me)
	switch {
	case algo == comm.Ring:
		if err := r.ringReduce(ctx, &a.call, op, sh, at(dst.Ptr, lo*size, hi-lo)); err != nil {
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
	return r.part(ctx, &a.call, nil)
}

func (r *rank) Reduce(ctx context.Context, dst, src comm.Buf, op comm.Op, root int) error {
	a := args{dst: dst, src: src}
	a.call, a.err = comm.CheckReduce(r, dst, src, op, root)
	if err := r.meet(ctx, &a); err != nil {
		return err
	}
	sh := shares{n: src.N, parts: r.n, bytes: src.DType.Size()}
	lo, hi := sh.part(r.me)
	switch {
	case r.algo == comm.Ring && r.n > 1:
		if err := r.ringReduce(ctx, &a.call, op, sh, at(r.slot(root).dst, lo*src.DType.Size(), hi-lo)); err != nil {
			return err
		}
	case r.algo == comm.Tree && r.n > 1:
		if r.me != root {
			dst = comm.Buf{DType: src.DType, N: src.N, Ptr: r.room(src.Bytes())}
		}
		if err := r.treeReduce(ctx, &a.call, op, root, dst, src); err != nil {
			return err
		}
	case src.Bytes() <= eager:
		if r.me == root {
			r.gatherFold(dst.Ptr, op, src.DType, 0, src.N, r.inSlots())
		}
		return nil
	default:
		srcs, dsts := r.operands()
		r.reduceRange(op, src.DType, lo, hi, dsts[root:root+1], srcs)
	}
	return r.part(ctx, &a.call, nil)
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
	if err := r.meet(ctx, &a); err != nil {
		return err
	}
	sh := shares{n: src.N, parts: r.n, counts: counts}
	if err := r.uneven(&a.call); err != nil {
		return r.part(ctx, &a.call, err)
	}
	lo, hi := sh.part(r.me)
	switch {
	case r.algo == comm.Ring && r.n > 1:
		if err := r.ringReduce(ctx, &a.call, op, sh, dst.Ptr); err != nil {
			return err
		}
	case r.algo == comm.Tree && r.n > 1:
		all := comm.Buf{DType: src.DType, N: src.N, Ptr: r.room(src.Bytes())}
		if err := r.treeReduce(ctx, &a.call, op, 0, all, src); err != nil {
			return err
		}
		if err := r.waitStep(ctx, 0, treeDone, &a.call); err != nil {
			return err
		}
		comm.Move(dst.Ptr, at(r.slot(0).acc, lo*src.DType.Size(), dst.N), dst.Bytes())
	default:
		srcs, _ := r.operands()
		r.gatherFold(dst.Ptr, op, src.DType, lo, hi, srcs)
		if counts == nil && src.Bytes() <= eager {
			return nil
		}
	}
	return r.part(ctx, &a.call, nil)
}

// uneven compares all ranks' counts, so that all ranks see the same.
func (r *rank) uneven(call *comm.Call) error {
	zero := r.slot(0).in
	for j := range r.n {
		for k, n := range r.slot(j).in {
			if n != zero[k] {
				return &comm.MismatchError{RankA: 0, CallA: call.String(), RankB: j, CallB: call.String(),
					Hint: fmt.Sprintf("for rank %d they have counts %d and %d", k, zero[k], n)}
			}
		}
	}
	return nil
}

// shares divides n elements among parts: by counts, or evenly with borders on
// cache lines so that two ranks never write to one. bytes 0 means equal blocks.
type shares struct {
	n, parts, bytes int
	counts          []int
}

func (s shares) part(i int) (lo, hi int) {
	if s.counts != nil {
		lo = comm.Offset(s.counts, i)
		return lo, lo + s.counts[i]
	}
	if s.bytes == 0 {
		return i * s.n / s.parts, (i + 1) * s.n / s.parts
	}
	line := max(64/s.bytes, 1)
	lines := (s.n + line - 1) / line
	return min(i*lines/s.parts*line, s.n), min((i+1)*lines/s.parts*line, s.n)
}

// operands lists where all ranks' sources and destinations of the collective
// are. Slots hold them far from the flags, so small calls, which have just
// read the flags and data, do not look.
func (r *rank) operands() (srcs, dsts []unsafe.Pointer) {
	r.srcs, r.dsts = r.srcs[:0], r.dsts[:0]
	for j := range r.n {
		s := r.slot(j)
		r.srcs, r.dsts = append(r.srcs, s.src), append(r.dsts, s.dst)
	}
	return r.srcs, r.dsts
}

func (r *rank) inSlots() []unsafe.Pointer {
	r.srcs = r.srcs[:0]
	for j := range r.n {
		r.srcs = append(r.srcs, unsafe.Pointer(&r.slot(j).data))
	}
	return r.srcs
}

// reduceRange reduces elements lo to hi of all sources into all dsts. Nobody
// else touches that range, so the buffers may be in place. The order of
// summation is by rank, so the result repeats bit for bit.
func (r *rank) reduceRange(op comm.Op, dt scalar.DType, lo, hi int, dsts, srcs []unsafe.Pointer) {
	f, size := comm.ReducerOf(op, dt), dt.Size()
	if len(srcs) == 2 && len(dsts) == 2 && op == comm.Sum && lo < hi {
		o := lo * size
		stream := (hi-lo)*size >= streaming && srcs[0] != dsts[0] && srcs[1] != dsts[1]
		if comm.AddInto2(dt, unsafe.Add(dsts[0], o), unsafe.Add(dsts[1], o), unsafe.Add(srcs[0], o), unsafe.Add(srcs[1], o), hi-lo, stream) {
			return
		}
	}
	acc := unsafe.Pointer(&r.chunk)
	for at := lo; at < hi; at += chunk / size {
		n := min(chunk/size, hi-at)
		r.foldAt(acc, f, op, dt, srcs, at*size, n)
		for _, d := range dsts {
			comm.Move(unsafe.Add(d, at*size), acc, n*size)
		}
	}
}

// gatherFold reduces elements lo to hi of all sources into dst.
func (r *rank) gatherFold(dst unsafe.Pointer, op comm.Op, dt scalar.DType, lo, hi int, srcs []unsafe.Pointer) {
	f, size := comm.ReducerOf(op, dt), dt.Size()
	acc := unsafe.Pointer(&r.chunk)
	for at := lo; at < hi; at += chunk / size {
		n := min(chunk/size, hi-at)
		to := unsafe.Add(dst, (at-lo)*size)
		if len(srcs) <= 2 { // the one fold reads this rank's element before it writes
			acc = to
		}
		r.foldAt(acc, f, op, dt, srcs, at*size, n)
		comm.Move(to, acc, n*size)
	}
}

// foldAt leaves the reduction of n elements of all sources in acc.
func (r *rank) foldAt(acc unsafe.Pointer, f comm.Reducer, op comm.Op, dt scalar.DType, srcs []unsafe.Pointer, offset, n int) {
	if len(srcs) == 1 {
		comm.Move(acc, unsafe.Add(srcs[0], offset), n*dt.Size())
		return
	}
	f(acc, unsafe.Add(srcs[0], offset), unsafe.Add(srcs[1], offset), n)
	for _, s := range srcs[2:] {
		f(acc, acc, unsafe.Add(s, offset), n)
	}
	if op == comm.Average {
		comm.Divide(acc, dt, n, len(srcs))
	}
}
