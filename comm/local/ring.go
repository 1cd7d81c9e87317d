package local

import (
	"context"
	"unsafe"

	"github.com/golops/golops/comm"
)

// Rings: each rank only ever reads its left neighbour. A rank says how many
// steps it has done in cell.step; the right neighbour follows one step behind.

// advance says that this rank has done that many steps of the collective.
func (r *rank) advance(steps uint64) {
	r.cell.step.Store(r.seq<<stepBits + steps)
	r.published()
}

// waitStep waits until rank j has done that many steps.
func (r *rank) waitStep(ctx context.Context, j int, steps uint64, call *comm.Call) error {
	return r.waitFlag(ctx, &r.g.cells[j].step, r.seq<<stepBits+steps, j, call)
}

// ringReduce leaves share me of the reduction at final. In step s a
// rank folds its own share me-s-2 into the left neighbour's partial result of
// it, so that after n-1 steps share me has passed all ranks. Partial results
// are kept in two scratch buffers in turn; the right neighbour must have read
// one before it is used again.
func (r *rank) ringReduce(ctx context.Context, call *comm.Call, op comm.Op, sh shares, final unsafe.Pointer) error {
	f, size := comm.ReducerOf(op, call.DType), call.DType.Size()
	left, right := (r.me+r.n-1)%r.n, (r.me+1)%r.n
	widest := 0
	for i := range r.n {
		lo, hi := sh.part(i)
		widest = max(widest, (hi-lo)*size)
	}
	widest = (widest + 63) &^ 63
	mine, his := r.own(), r.slot(left)
	mine.acc = r.room(2 * widest)
	r.advance(0)
	for s := range r.n - 1 {
		lo, hi := sh.part((r.me + 2*r.n - s - 2) % r.n)
		if err := r.waitStep(ctx, left, uint64(s), call); err != nil {
			return err
		}
		n := (hi - lo) * size
		in := at(his.acc, (s+1)%2*widest, n)
		if s == 0 {
			in = at(his.src, lo*size, n)
		}
		out := at(mine.acc, s%2*widest, n)
		if s == r.n-2 {
			out = final
		} else if s >= 2 {
			if err := r.waitStep(ctx, right, uint64(s), call); err != nil {
				return err
			}
		}
		f(out, in, at(mine.src, lo*size, n), hi-lo)
		if op == comm.Average && s == r.n-2 {
			comm.Divide(out, call.DType, hi-lo, r.n)
		}
		r.advance(uint64(s + 1))
	}
	return nil
}

// ringGather passes the shares around: in step t a rank copies share me-t-1
// from its left neighbour, who has it since the step before. Steps count on
// from those of ringReduce.
func (r *rank) ringGather(ctx context.Context, call *comm.Call, sh shares, dst comm.Buf) error {
	left, size := (r.me+r.n-1)%r.n, dst.DType.Size()
	his := r.slot(left)
	for t := range r.n - 1 {
		done := uint64(r.n - 1 + t)
		if err := r.waitStep(ctx, left, done, call); err != nil {
			return err
		}
		lo, hi := sh.part((r.me + r.n - t - 1) % r.n)
		n := (hi - lo) * size
		comm.Move(at(dst.Ptr, lo*size, n), at(his.dst, lo*size, n), n)
		r.advance(done + 1)
	}
	return nil
}

// ringSpread passes root's buffer along the ring in pieces, so that all ranks
// copy at the same time.
func (r *rank) ringSpread(ctx context.Context, call *comm.Call, root int, b comm.Buf) error {
	pieces := max(b.Bytes()>>18, 1)
	if r.me == root {
		r.advance(uint64(pieces))
		return nil
	}
	left := (r.me + r.n - 1) % r.n
	from := r.slot(left).dst
	sh := shares{n: b.Bytes(), parts: pieces, bytes: 1}
	for p := range pieces {
		if err := r.waitStep(ctx, left, uint64(p+1), call); err != nil {
			return err
		}
		lo, hi := sh.part(p)
		comm.Move(unsafe.Add(b.Ptr, lo), unsafe.Add(from, lo), hi-lo)
		r.advance(uint64(p + 1))
	}
	return nil
}
