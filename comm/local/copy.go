package local

import (
	"context"
	"unsafe"

	"github.com/golops/golops/comm/driver"
)

func (r *rank) broadcast(ctx context.Context, c *driver.Call, algo driver.Algo) error {
	root, bytes := c.Root(), c.Dst.Bytes()
	switch algo {
	case driver.Ring:
		return r.ringSpread(ctx, c)
	case driver.Tree:
		return r.treeSpread(ctx, c, root)
	}
	// Root would idle while the others copy. So root copies the last part of the
	// buffer to each of them, and all ranks copy the same amount.
	from := r.slotOf(root).src
	cut := bytes / r.n * (r.n - 1) &^ 63
	if r.me != root {
		driver.Move(c.Dst.Ptr, from, cut)
		return nil
	}
	for j := range r.n {
		if j != root {
			driver.Move(unsafe.Add(r.slotOf(j).dst, cut), unsafe.Add(from, cut), bytes-cut)
		}
	}
	return nil
}

func (r *rank) allGather(ctx context.Context, c *driver.Call, algo driver.Algo) error {
	switch {
	case algo == driver.Ring && c.In == nil:
		driver.Move(c.DstBlock(r.me, r.n).Ptr, c.Src.Ptr, c.Src.Bytes())
		r.advance(uint64(r.n - 1)) // ringGather counts steps from those of ringReduce
		return r.ringGather(ctx, c, shares{n: c.Dst.N, count: r.n})
	case algo == driver.Tree && c.In == nil:
		return r.treeGather(ctx, c)
	}
	size, at := c.DType.Size(), 0
	for j := range r.n {
		s := r.slotOf(j)
		driver.Move(addrAt(c.Dst.Ptr, at*size, s.n), s.src, s.n*size)
		at += s.n
	}
	return nil
}

// gather copies this rank's block to root, so that all cores copy.
func (r *rank) gather(c *driver.Call) {
	root := r.slotOf(c.Root())
	to, bytes := block(root.dst, root.in, r.me, c.Src.N, c.DType.Size())
	driver.Move(to, c.Src.Ptr, bytes)
}

func (r *rank) scatter(c *driver.Call) {
	root := r.slotOf(c.Root())
	from, bytes := block(root.src, root.out, r.me, c.Dst.N, c.DType.Size())
	driver.Move(c.Dst.Ptr, from, bytes)
}

// allToAll copies to this rank the blocks that all ranks have for it. If a rank works
// in place, copying in one direction would overwrite what must go in the other. So two
// ranks share the work for their two blocks: each swaps one half of both, and no other
// rank uses that half.
func (r *rank) allToAll(c *driver.Call) {
	my, size := r.mySlot(), c.DType.Size()
	for j := range r.n {
		peer := r.slotOf(j)
		in, n := block(peer.src, peer.out, r.me, c.Src.N/r.n, size)
		to, _ := block(my.dst, my.in, j, c.Dst.N/r.n, size)
		if j == r.me || my.src != my.dst && peer.src != peer.dst {
			driver.Move(to, in, n)
			continue
		}
		out, _ := block(my.src, my.out, j, c.Src.N/r.n, size)
		back, _ := block(peer.dst, peer.in, r.me, c.Dst.N/r.n, size)
		lo, hi := 0, n/2/size*size
		if r.me > j {
			lo, hi = hi, n
		}
		tmp := unsafe.Pointer(&r.chunk)
		for ; lo < hi; lo += chunk {
			n := min(chunk, hi-lo)
			driver.Move(tmp, unsafe.Add(in, lo), n)
			driver.Move(unsafe.Add(back, lo), unsafe.Add(out, lo), n)
			driver.Move(unsafe.Add(to, lo), tmp, n)
		}
	}
}

// block returns address and size in bytes of block j of a buffer at p. Without counts
// each block has n elements of the given size.
func block(p unsafe.Pointer, counts []int, j, n, size int) (unsafe.Pointer, int) {
	at := j * n
	if counts != nil {
		at, n = driver.Offset(counts, j), counts[j]
	}
	return addrAt(p, at*size, n), n * size
}
