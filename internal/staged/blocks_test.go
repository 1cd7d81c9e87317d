package staged

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/comm/local"
)

// move is one rank's call of a collective of blocks.
type move struct {
	name     string
	dst, src int // elements
	own      int // offset of the smaller buffer in the larger one in place; -1 if not possible
	call     func(c *comm.Comm, dst, src comm.Buf) error
}

// moves returns all collectives of blocks, with blocks of n elements, of about n, or empty.
func moves(ctx context.Context, c *comm.Comm, n int) []move {
	me, p := c.Rank(), c.Size()
	root := p - 1
	counts, in, out, both := make([]int, p), make([]int, p), make([]int, p), make([]int, p)
	pairs := func(i, j int) int { return []int{n, 0, 2*n + 3, 1}[(2*i+3*j)%4] }
	for r := range p {
		counts[r] = []int{2*n + 1, 0, 1, n + 7}[(r+n)%4]
		in[r], out[r], both[r] = pairs(r, me), pairs(me, r), pairs(r, me)+pairs(me, r)
	}
	all := func(counts []int) int { return driver.Offset(counts, p-1) + counts[p-1] }
	total, at := all(counts), driver.Offset(counts, me)
	atRoot := func(n int) int {
		if me == root {
			return n
		}
		return 0
	}
	placed := func(at int) int { // not in place in an empty buffer
		if me == root {
			return at
		}
		return -1
	}
	return []move{
		{"AllGather", p * n, n, me * n, func(c *comm.Comm, dst, src comm.Buf) error { return c.AllGather(ctx, dst, src) }},
		{"AllGatherV", total, counts[me], at, func(c *comm.Comm, dst, src comm.Buf) error {
			return c.AllGatherV(ctx, dst, counts, src)
		}},
		{"Gather", atRoot(p * n), n, placed(me * n), func(c *comm.Comm, dst, src comm.Buf) error { return c.Gather(ctx, dst, src, root) }},
		{"GatherV", atRoot(total), counts[me], placed(at), func(c *comm.Comm, dst, src comm.Buf) error {
			if me != root {
				return c.GatherV(ctx, comm.Buf{N: 7}, []int{-1}, src, root) // unused on this rank
			}
			return c.GatherV(ctx, dst, counts, src, root)
		}},
		{"Scatter", n, atRoot(p * n), placed(me * n), func(c *comm.Comm, dst, src comm.Buf) error { return c.Scatter(ctx, dst, src, root) }},
		{"ScatterV", counts[me], atRoot(total), placed(at), func(c *comm.Comm, dst, src comm.Buf) error {
			if me != root {
				return c.ScatterV(ctx, dst, comm.Buf{N: 7}, nil, root)
			}
			return c.ScatterV(ctx, dst, src, counts, root)
		}},
		{"ReduceScatter", n, p * n, me * n, func(c *comm.Comm, dst, src comm.Buf) error { return c.ReduceScatter(ctx, dst, src, comm.Sum) }},
		{"ReduceScatterV", counts[me], total, at, func(c *comm.Comm, dst, src comm.Buf) error {
			return c.ReduceScatterV(ctx, dst, src, counts, comm.Sum)
		}},
		{"AllToAll", p * n, p * n, 0, func(c *comm.Comm, dst, src comm.Buf) error { return c.AllToAll(ctx, dst, src) }},
		{"AllToAllV", all(in), all(out), -1, func(c *comm.Comm, dst, src comm.Buf) error {
			return c.AllToAllV(ctx, dst, in, src, out)
		}},
		{"AllToAllV in pairs", all(both), all(both), 0, func(c *comm.Comm, dst, src comm.Buf) error {
			return c.AllToAllV(ctx, dst, both, src, both)
		}},
	}
}

// run makes the call on memory of two kinds and returns dst and src, or only dst in place, where
// src may be overwritten.
func (m move) run(c *comm.Comm, d *lazy, dstOnHost, srcOnHost, inPlace bool) (got []int32, err error) {
	from := counting(m.src, 1000*(c.Rank()+1))
	if !inPlace {
		dst, src := vector(d, dstOnHost, make([]int32, m.dst)), vector(d, srcOnHost, from)
		err := m.call(c, dst, src)
		return slices.Concat(values(d, dst), values(d, src)), err
	}
	large := make([]int32, max(m.dst, m.src))
	if m.src >= m.dst {
		copy(large, from)
	} else {
		copy(large[m.own:], from)
	}
	b := vector(d, dstOnHost, large)
	dst, src := b, b
	if m.src >= m.dst {
		dst = b.Slice(m.own, m.own+m.dst)
	} else {
		src = b.Slice(m.own, m.own+m.src)
	}
	err = m.call(c, dst, src)
	return values(d, dst), err
}

// TestBlocks compares collectives of blocks in chunks with those of the host communicator, with
// memory on host and GPU, in place and not.
func TestBlocks(t *testing.T) {
	const chunk, above = 64, 128 // bytes
	for ranks := 1; ranks <= 4; ranks++ {
		for _, n := range []int{0, 1, 7, 8, 9, 16, 17, 40, 41, 61} {
			for _, places := range []int{0, 0b01, 0b10, 0b0110, 0b11010010, 0b00001111, 0xff} {
				err := local.Run(t.Context(), ranks, func(ctx context.Context, host *comm.Comm) error {
					d := newLazy(host.Rank(), false)
					c, err := newComm(host, d, chunk, above)
					if err != nil {
						return err
					}
					bits := places >> (2 * c.Rank())
					for _, m := range moves(ctx, c, n) {
						for _, inPlace := range []bool{false, m.own >= 0} {
							want, err := m.run(host, d, true, true, inPlace)
							if err != nil {
								return fmt.Errorf("%s on the host: %w", m.name, err)
							}
							got, err := m.run(c, d, bits&1 == 1, bits&2 == 2, inPlace)
							if err != nil {
								return fmt.Errorf("%s: %w", m.name, err)
							}
							if !slices.Equal(got, want) {
								return fmt.Errorf("%s, in place %v: got %v, want %v", m.name, inPlace, got, want)
							}
						}
					}
					return nil
				})
				if err != nil {
					t.Errorf("%d ranks, %d elements, places %08b: %v", ranks, n, places, err)
				}
			}
		}
	}
}

// TestPinnedIsBounded sends far more than may be pinned, with chunks of the default size. The
// buffers of AllToAll have 24 MiB.
func TestPinnedIsBounded(t *testing.T) {
	const ranks, n = 3, 1 << 20 // 4 MiB a block
	err := local.Run(t.Context(), ranks, func(ctx context.Context, host *comm.Comm) error {
		d := newLazy(host.Rank(), false)
		c, err := New(host, d)
		if err != nil {
			return err
		}
		for _, m := range moves(ctx, c, n) {
			if _, err := m.run(c, d, false, false, false); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			for _, a := range slices.Clone(d.at) {
				d.FreeBytes(a)
			}
		}
		if limit := 16 * chunkBytes; d.pinned > limit || d.pinned == 0 {
			return fmt.Errorf("%d bytes are pinned, want no more than %d", d.pinned, limit)
		}
		return errors.Join(c.Close(), d.Close())
	})
	if err != nil {
		t.Error(err)
	}
}

// TestBlocksFail has one rank with invalid arguments, or with more elements than the others
// expect, in large collectives. All ranks get an error and can continue.
func TestBlocksFail(t *testing.T) {
	const ranks, n, odd = 3, 100, 1
	err := local.Run(t.Context(), ranks, func(ctx context.Context, host *comm.Comm) error {
		d := newLazy(host.Rank(), false)
		c, err := newComm(host, d, 64, 128)
		if err != nil {
			return err
		}
		me := c.Rank()
		size := n
		if me == odd {
			size += 50
		}
		more := moves(ctx, c, size)
		for i, m := range moves(ctx, c, n) {
			good := m.call
			m.call = func(c *comm.Comm, dst, src comm.Buf) error {
				if me == odd {
					dst.DType, src.DType = 0, 0
				}
				return good(c, dst, src)
			}
			_, err := m.run(c, d, false, me == 2, false)
			var other *comm.RankError
			if err == nil || me != odd && (!errors.As(err, &other) || other.Rank != odd) {
				return fmt.Errorf("%s, rank %d has no element type: got %v", m.name, odd, err)
			}
			if _, err := more[i].run(c, d, false, me == 2, false); err == nil {
				return fmt.Errorf("%s, rank %d has more elements than others: no error", m.name, odd)
			}
			b := vector(d, false, counting(n, 0))
			if err := c.AllReduce(ctx, b, b, comm.Sum); err != nil || values(d, b)[1] != ranks {
				return fmt.Errorf("AllReduce after %s: got %v, %w", m.name, values(d, b)[:2], err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
