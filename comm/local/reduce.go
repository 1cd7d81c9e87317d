package local

import (
	"context"

	"github.com/golops/golops/comm/driver"
)

// The direct algorithm: after all ranks have entered, each does an equal share of the
// work on all ranks' memory. Direct was the fastest algorithm at every size from 8 B
// to 64 MB on 2, 4, 8 and 16 ranks (docs/benchmarks.md), so Auto is Direct.

func (r *rank) allReduce(ctx context.Context, c *driver.Call, algo driver.Algo) error {
	size := c.DType.Size()
	sh := shares{n: c.Src.N, count: r.n, bytes: size}
	lo, hi := sh.bounds(r.me)
	switch algo {
	case driver.Ring:
		if err := r.ringReduce(ctx, c, sh, addrAt(c.Dst.Ptr, lo*size, hi-lo)); err != nil {
			return err
		}
		return r.ringGather(ctx, c, sh)
	case driver.Tree:
		if err := r.treeReduce(ctx, c, 0, c.Dst.Ptr); err != nil {
			return err
		}
		return r.treeSpread(ctx, c, 0)
	}
	srcs, dsts := r.operands()
	r.reduceRange(c.Op, c.DType, lo, hi, dsts, srcs)
	return nil
}

func (r *rank) reduce(ctx context.Context, c *driver.Call, algo driver.Algo) error {
	root, size := c.Root(), c.DType.Size()
	sh := shares{n: c.Src.N, count: r.n, bytes: size}
	lo, hi := sh.bounds(r.me)
	switch algo {
	case driver.Ring:
		return r.ringReduce(ctx, c, sh, addrAt(r.slotOf(root).dst, lo*size, hi-lo))
	case driver.Tree:
		acc := c.Dst.Ptr
		if r.me != root {
			acc = r.scratchBytes(c.Src.Bytes())
		}
		return r.treeReduce(ctx, c, root, acc)
	}
	srcs, dsts := r.operands()
	r.reduceRange(c.Op, c.DType, lo, hi, dsts[root:root+1], srcs)
	return nil
}

func (r *rank) reduceScatter(ctx context.Context, c *driver.Call, algo driver.Algo) error {
	sh := shares{n: c.Src.N, count: r.n, counts: c.Out}
	lo, hi := sh.bounds(r.me)
	switch algo {
	case driver.Ring:
		return r.ringReduce(ctx, c, sh, c.Dst.Ptr)
	case driver.Tree:
		if err := r.treeReduce(ctx, c, 0, r.scratchBytes(c.Src.Bytes())); err != nil {
			return err
		}
		if err := r.waitStep(ctx, 0, treeDone, c); err != nil {
			return err
		}
		driver.Move(c.Dst.Ptr, addrAt(r.slotOf(0).acc, lo*c.DType.Size(), c.Dst.N), c.Dst.Bytes())
		return nil
	}
	srcs, _ := r.operands()
	r.foldInto(c.Dst.Ptr, c.Op, c.DType, lo, hi, srcs)
	return nil
}
