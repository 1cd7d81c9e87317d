package staged

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/comm"
)

// All ranks must use the same number of chunks. For most calls the size alone decides, so small
// calls need no extra message. Otherwise ranks compare their counts first.

// minBlockShare bounds how small a rank's block in a chunk gets with many ranks: at least this
// fraction of a chunk. Then chunks grow with the ranks and messages do not shrink.
const minBlockShare = 16

// chunkElements returns how many elements of a block are in a chunk.
func (c *Comm) chunkElements(k comm.Call) int {
	n := c.s.chunk
	switch k.Kind {
	case comm.KindAllReduce, comm.KindReduce, comm.KindBroadcast: // one block
	default:
		n = max(n/c.Size(), n/minBlockShare)
	}
	return max(1, n/k.DType.Size())
}

// above reports whether a collective of n elements (as k.N) must be divided into chunks.
func (c *Comm) above(k comm.Call, n int) bool {
	switch k.Kind {
	case comm.KindAllGather, comm.KindGather, comm.KindScatter: // n is that of one rank
		n *= c.Size()
	}
	return n*k.DType.Size() > c.s.above
}

// agree returns the number of chunks of a collective. It is 0 if the collective is not divided:
// if it is not large, or in host memory on all ranks. If counts must be equal and are not, all
// ranks get an error, because the first chunks might be equal.
func (c *Comm) agree(ctx context.Context, k comm.Call, dst, src side) (chunks int, err error) {
	n := k.N
	if n < 0 {
		n = int64(max(dst.buf.N, src.buf.N))
	}
	c.counts = [4]int64{n, -n, int64(max(dst.largest(), src.largest()))}
	if onDevice(dst.buf) || onDevice(src.buf) {
		c.counts[3] = 1
	}
	if err := c.reduceCounts(ctx, k); err != nil {
		return 0, err
	}
	if k.N >= 0 && c.counts[0] != -c.counts[1] {
		return 0, c.countMismatch(ctx, k)
	}
	if c.counts[3] == 0 || !c.above(k, int(c.counts[0])) {
		return 0, nil
	}
	per := c.chunkElements(k)
	return (int(c.counts[2]) + per - 1) / per, nil
}

// reduceCounts replaces counts by their maxima over all ranks.
func (c *Comm) reduceCounts(ctx context.Context, k comm.Call) error {
	if c.Size() == 1 {
		return nil
	}
	b := comm.Of(c.counts[:]).Labelled(k.Label)
	err := c.host.AllReduce(ctx, b, b, comm.Max)
	if err == nil {
		return nil
	}
	var m *comm.MismatchError
	if errors.As(err, &m) && m.Hint == "" {
		own, _ := comm.CheckAllReduce(comm.KindAllReduce, b, b, comm.Max)
		hinted := *m
		hinted.Hint = fmt.Sprintf("%v is the first step of this rank's %v", own, k)
		return &hinted
	}
	return err
}

// countMismatch returns an error that names two ranks whose counts differ.
func (c *Comm) countMismatch(ctx context.Context, k comm.Call) error {
	all := make([]int64, c.Size())
	if err := c.host.AllGather(ctx, comm.Of(all), comm.Of([]int64{k.N})); err != nil {
		return err
	}
	j := 1
	for all[j] == all[0] {
		j++
	}
	a, o := k, k
	a.N, o.N = all[0], all[j]
	return &comm.MismatchError{RankA: 0, CallA: a.String(), RankB: j, CallB: o.String()}
}
