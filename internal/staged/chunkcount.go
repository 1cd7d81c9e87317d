package staged

import (
	"context"

	"github.com/golops/golops/comm/driver"
)

// All ranks must use the same number of chunks. For most calls the size alone decides, so small
// calls need no extra message. Otherwise ranks compare their counts first.

// minBlockShare bounds how small a rank's block in a chunk gets with many ranks: at least this
// fraction of a chunk. Then chunks grow with the ranks and messages do not shrink.
const minBlockShare = 16

// chunkElements returns how many elements of a block are in a chunk.
func (c *Conn) chunkElements(q *driver.Call) int {
	n := c.s.chunk
	if s := q.Kind.Spec(); s.Dst == driver.Blocks || s.Src == driver.Blocks {
		n = max(n/c.info.Size, n/minBlockShare)
	}
	return max(1, n/q.DType.Size())
}

// large reports whether a collective of n elements (as q.N) must be divided into chunks.
func (c *Conn) large(q *driver.Call, n int) bool {
	s := q.Kind.Spec()
	if !s.Counts && (s.SrcAtRoot || s.Dst == driver.Blocks && s.Src == driver.One) { // n is that of one rank
		n *= c.info.Size
	}
	return n*q.DType.Size() > c.s.above
}

// agree returns the number of chunks of a collective. It is 0 if the collective is not divided:
// if it is not large, or in host memory on all ranks. If counts must be equal and are not, all
// ranks get an error, because the first chunks might be equal.
func (c *Conn) agree(ctx context.Context, q *driver.Call) (chunks int, err error) {
	c.describe(q)
	dst, src := &c.pipeline.dst, &c.pipeline.src
	n := q.N
	if n < 0 {
		n = int64(max(dst.buf.N, src.buf.N))
	}
	c.counts = [4]int64{n, -n, int64(max(dst.largest(), src.largest()))}
	if onDevice(&dst.buf) || onDevice(&src.buf) {
		c.counts[3] = 1
	}
	if c.info.Size > 1 {
		if err := c.call.Step(ctx, c.host, q, driver.KindAllReduce, driver.Max, c.counts[:], c.counts[:]); err != nil {
			return 0, err
		}
	}
	if q.N >= 0 && c.counts[0] != -c.counts[1] {
		return 0, c.countMismatch(ctx, q)
	}
	if c.counts[3] == 0 || !c.large(q, int(c.counts[0])) {
		return 0, nil
	}
	per := c.chunkElements(q)
	return (int(c.counts[2]) + per - 1) / per, nil
}

// countMismatch returns an error that names two ranks whose counts differ.
func (c *Conn) countMismatch(ctx context.Context, q *driver.Call) error {
	all := make([]int64, c.info.Size)
	if err := c.call.Step(ctx, c.host, q, driver.KindAllGather, 0, all, []int64{q.N}); err != nil {
		return err
	}
	j := 1
	for all[j] == all[0] {
		j++
	}
	a, o := q.Signature, q.Signature
	a.N, o.N = all[0], all[j]
	return &driver.MismatchError{RankA: 0, CallA: a.String(), RankB: j, CallB: o.String()}
}
