package local

import (
	"context"
	"unsafe"

	"github.com/golops/golops/comm"
)

func (r *rank) AllToAll(ctx context.Context, dst, src comm.Buf) error {
	a := args{dst: dst, src: src}
	a.call, a.err = comm.CheckAllToAll(r, dst, src)
	if err := r.enter(ctx, &a); err != nil {
		return err
	}
	r.exchange(src.Bytes()/r.n, src.DType.Size())
	if src.Bytes() <= eager {
		return nil
	}
	return r.leave(ctx, &a.call, nil)
}

func (r *rank) AllToAllV(ctx context.Context, dst comm.Buf, recvCounts []int, src comm.Buf, sendCounts []int) error {
	a := args{dst: dst, src: src, in: recvCounts, out: sendCounts}
	a.call, a.err = comm.CheckAllToAllV(r, dst, recvCounts, src, sendCounts)
	if err := r.enter(ctx, &a); err != nil {
		return err
	}
	var found error
	for j := 0; j < r.n && found == nil; j++ {
		switch s := r.slotOf(j); {
		case s.out[r.me] != recvCounts[j]:
			found = r.countMismatch(&a.call, j, s.out[r.me], recvCounts[j], "sends")
		case s.in[r.me] != sendCounts[j]:
			found = r.countMismatch(&a.call, j, s.in[r.me], sendCounts[j], "receives")
		}
	}
	if found == nil {
		r.exchange(0, src.DType.Size())
	}
	return r.leave(ctx, &a.call, found)
}

// sendBlock returns the address and size in bytes of the block of s.src that goes to
// rank j. Without counts, all blocks have the size block.
func (s *callSlot) sendBlock(j, block, size int) (p unsafe.Pointer, bytes int) {
	if s.out == nil {
		return addrAt(s.src, j*block, block), block
	}
	return addrAt(s.src, comm.Offset(s.out, j)*size, s.out[j]), s.out[j] * size
}

// recvBlock returns the address in s.dst of the block that comes from rank j.
func (s *callSlot) recvBlock(j, block, size int) unsafe.Pointer {
	if s.in == nil {
		return addrAt(s.dst, j*block, block)
	}
	return addrAt(s.dst, comm.Offset(s.in, j)*size, s.in[j])
}

// exchange copies to this rank the blocks that all ranks have for it. If a rank works
// in place, copying in one direction would overwrite what must go in the other. So two
// ranks share the work for their two blocks: each swaps one half of both, and no other
// rank uses that half.
func (r *rank) exchange(block, size int) {
	my := r.mySlot()
	for j := range r.n {
		peer := r.slotOf(j)
		inPlace := my.src == my.dst || peer.src == peer.dst
		in, n := peer.sendBlock(r.me, block, size)
		to := my.recvBlock(j, block, size)
		if !inPlace || j == r.me {
			comm.Move(to, in, n)
			continue
		}
		out, _ := my.sendBlock(j, block, size)
		back := peer.recvBlock(r.me, block, size)
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
