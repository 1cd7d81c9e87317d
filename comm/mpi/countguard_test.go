package mpi

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/internal/mpirun"
)

// guarded is a buffer followed by elements that nobody may write.
type guarded []float64

func newGuarded(n int) guarded {
	g := make(guarded, n+200000)
	for i := range g {
		g[i] = -7
	}
	return g
}

func (g guarded) buf(n int) comm.Buf { return comm.Of([]float64(g[:n])) }

func (g guarded) overwritten(n int) int {
	k := 0
	for _, x := range g[n:] {
		if x != -7 {
			k++
		}
	}
	return k
}

// unequal calls collectives with another count on each rank. Every rank must return an
// error, and none may write past its buffers. AllReduce comes last, because its error
// ends the program.
func unequal(ctx context.Context, c *comm.Comm) error {
	p, me := c.Size(), c.Rank()
	for _, k := range []struct {
		name     string
		dst, src int // blocks
		call     func(dst, src comm.Buf, n int) error
	}{
		{"Broadcast", 1, 1, func(dst, _ comm.Buf, _ int) error { return c.Broadcast(ctx, dst, 0) }},
		{"AllGather", p, 1, func(dst, src comm.Buf, _ int) error { return c.AllGather(ctx, dst, src) }},
		{"AllGatherV", p, 1, func(dst, src comm.Buf, n int) error { return c.AllGatherV(ctx, dst, []int{n, n}, src) }},
		{"Gather", p, 1, func(dst, src comm.Buf, _ int) error { return c.Gather(ctx, dst, src, 0) }},
		{"Scatter", 1, p, func(dst, src comm.Buf, _ int) error { return c.Scatter(ctx, dst, src, 0) }},
		{"Reduce", 1, 1, func(dst, src comm.Buf, _ int) error { return c.Reduce(ctx, dst, src, comm.Sum, 0) }},
		{"ReduceScatter", 1, p, func(dst, src comm.Buf, _ int) error { return c.ReduceScatter(ctx, dst, src, comm.Sum) }},
		{"ReduceScatterV", 1, p, func(dst, src comm.Buf, n int) error { return c.ReduceScatterV(ctx, dst, src, []int{n, n}, comm.Sum) }},
		{"AllToAll", p, p, func(dst, src comm.Buf, _ int) error { return c.AllToAll(ctx, dst, src) }},
		{"AllReduce", 1, 1, func(dst, src comm.Buf, _ int) error { return c.AllReduce(ctx, dst, src, comm.Sum) }},
	} {
		for _, counts := range [][2]int{{100, 3000}, {3000, 100}, {100000, 200000}, {200000, 100000}} {
			n := counts[me]
			dst, src := newGuarded(n*k.dst), newGuarded(n*k.src)
			err := k.call(dst.buf(n*k.dst), src.buf(n*k.src), n)
			if over := dst.overwritten(n * k.dst); err == nil || over > 0 {
				return fmt.Errorf("%s of %v: error %v, %d elements overwritten", k.name, counts, err, over)
			}
			if k.name == "AllReduce" {
				fmt.Printf("FOUND rank %d: %v\n", me, err)
				return err
			}
		}
	}
	return nil
}

// TestUnequalCounts is for Open MPI, which would write past the end. Without checked
// mode MPICH finds only some of these errors.
func TestUnequalCounts(t *testing.T) {
	mpirun.Each(t, []string{"openmpi", "openmpi5"}, func(t *testing.T, m mpirun.MPI) {
		out, err := ranks(t, m, 2, "unequal")
		if err == nil || strings.Count(out, "FOUND") != 2 || !strings.Contains(out, "AllReduce of another count") {
			t.Errorf("%v, want all calls to be refused\n%s", err, out)
		}
	})
}
