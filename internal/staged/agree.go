package staged

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/comm"
)

// Ranks must do alike: go in chunks or not, and in as many. What they know by
// themselves is the size of most collectives, which keeps small ones as fast as
// they are. All else they tell each other.

// least is how much of a chunk each rank's block has at least where there are
// many: chunks then grow with the ranks, rather than their messages shrink.
const least = 16

// per returns how many elements of a block are in a chunk.
func (c *Comm) per(k comm.Call) int {
	n := c.s.chunk
	switch k.Kind {
	case comm.KindAllReduce, comm.KindReduce, comm.KindBroadcast: // one block
	default:
		n = max(n/c.Size(), n/least)
	}
	return max(1, n/k.DType.Size())
}

// above reports whether a collective is too large to go without chunks, if k.N
// is n.
func (c *Comm) above(k comm.Call, n int) bool {
	switch k.Kind {
	case comm.KindAllGather, comm.KindGather, comm.KindScatter: // n is that of one rank
		n *= c.Size()
	}
	return n*k.DType.Size() > c.s.above
}

// agree returns how many chunks a collective goes in, 0 if it goes as it is: if
// it is not large, or on the host everywhere. Ranks whose counts must be equal
// and are not get an error: chunks alone would not show it.
func (c *Comm) agree(ctx context.Context, k comm.Call, dst, src side) (chunks int, err error) {
	n := k.N
	if n < 0 {
		n = int64(max(dst.buf.N, src.buf.N))
	}
	c.counts = [4]int64{n, -n, int64(max(dst.largest(), src.largest()))}
	if onDevice(dst.buf) || onDevice(src.buf) {
		c.counts[3] = 1
	}
	if err := c.tell(ctx, k); err != nil {
		return 0, err
	}
	if k.N >= 0 && c.counts[0] != -c.counts[1] {
		return 0, c.unlike(ctx, k)
	}
	if c.counts[3] == 0 || !c.above(k, int(c.counts[0])) {
		return 0, nil
	}
	per := c.per(k)
	return (int(c.counts[2]) + per - 1) / per, nil
}

// tell replaces counts by the largest of all ranks.
func (c *Comm) tell(ctx context.Context, k comm.Call) error {
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
		hinted.Hint = fmt.Sprintf("%v begins this rank's %v", own, k)
		return &hinted
	}
	return err
}

// unlike returns an error that names two ranks whose counts differ.
func (c *Comm) unlike(ctx context.Context, k comm.Call) error {
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
