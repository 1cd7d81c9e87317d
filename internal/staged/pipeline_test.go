package staged

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/local"
	"github.com/golops/golops/device/cuda"
)

// vector returns a buffer of int32 in GPU or host memory.
func vector(d *lazy, onHost bool, vals []int32) comm.Buf {
	b := comm.Of(vals)
	if onHost || len(vals) == 0 {
		return b
	}
	a, _ := d.AllocBytes(b.Bytes())
	copy(d.bytes(a, b.Bytes()), hostBytes(b))
	b.Ptr, b.Place = *(*unsafe.Pointer)(unsafe.Pointer(&a)), comm.OnDevice
	return b
}

// values returns the elements of b.
func values(d *lazy, b comm.Buf) []int32 {
	if !onDevice(&b) {
		return comm.As[int32](b)
	}
	d.Sync(context.Background())
	got := make([]int32, b.N)
	copy(hostBytes(comm.Of(got)), d.bytes(b.Addr(), b.Bytes()))
	return got
}

func counting(n, from int) []int32 {
	v := make([]int32, n)
	for i := range v {
		v[i] = int32(from + i)
	}
	return v
}

// TestChunkBorders uses counts around multiples of the chunk, between ranks with host and GPU
// memory.
func TestChunkBorders(t *testing.T) {
	const chunk, above, ranks = 64, 128, 3 // bytes; 16 elements a chunk, from 33 elements on
	for _, n := range []int{31, 32, 33, 47, 48, 49, 63, 64, 65, 160, 161} {
		for places := range 1 << ranks {
			err := local.Run(t.Context(), ranks, func(ctx context.Context, host *comm.Comm) error {
				d := newLazy(host.Rank(), false)
				c, err := newComm(host, d, chunk, above)
				if err != nil {
					return err
				}
				me, onHost := c.Rank(), places>>c.Rank()&1 == 1
				differ := func(what string, got comm.Buf, want []int32) error {
					for i, x := range values(d, got) {
						if x != want[i] {
							return fmt.Errorf("%s: index %d of %d: got %d, want %d", what, i, n, x, want[i])
						}
					}
					return nil
				}
				sum := make([]int32, n)
				for i := range sum {
					sum[i] = int32(3*i + 300)
				}
				src, dst := vector(d, onHost, counting(n, 100*me)), vector(d, (places>>1)>>me&1 == 1, make([]int32, n))
				if err := c.AllReduce(ctx, dst, src, comm.Sum); err != nil {
					return err
				}
				if err := errors.Join(differ("AllReduce", dst, sum), differ("src of AllReduce", src, counting(n, 100*me))); err != nil {
					return err
				}
				out := vector(d, onHost, make([]int32, n))
				if err := c.Reduce(ctx, out, src, comm.Sum, 1); err != nil {
					return err
				}
				if me != 1 {
					sum = make([]int32, n)
				}
				b := vector(d, onHost, counting(n, 7*me))
				if err := errors.Join(differ("Reduce", out, sum), c.Broadcast(ctx, b, 2)); err != nil {
					return err
				}
				if err := differ("Broadcast", b, counting(n, 14)); err != nil {
					return err
				}
				if err := c.SendRecv(ctx, dst, (me+2)%3, src, (me+1)%3); err != nil {
					return err
				}
				return differ("SendRecv", dst, counting(n, 100*((me+2)%3)))
			})
			if err != nil {
				t.Errorf("%d elements, places %03b: %v", n, places, err)
			}
		}
	}
}

// TestCountsDiffer has ranks that disagree on a count although their first
// chunks are equal.
func TestCountsDiffer(t *testing.T) {
	err := local.Run(t.Context(), 3, func(ctx context.Context, host *comm.Comm) error {
		d := newLazy(host.Rank(), false)
		c, err := newComm(host, d, 64, 128)
		if err != nil {
			return err
		}
		n := 48
		if c.Rank() == 1 {
			n = 64
		}
		b := vector(d, false, counting(n, 0))
		var m *comm.MismatchError
		err = c.AllReduce(ctx, b, b, comm.Sum)
		if !errors.As(err, &m) || m.RankA != 0 || m.RankB != 1 || !strings.Contains(m.CallA, "48") || !strings.Contains(m.CallB, "64") {
			return fmt.Errorf("AllReduce of 48, 64 and 48 elements: got %v", err)
		}
		// The error must name the call, not the exchange of counts before it.
		if c.Rank() == 1 {
			err = c.Barrier(ctx)
		} else {
			err = c.GatherV(ctx, comm.Buf{}, nil, b, 1)
		}
		if !errors.As(err, &m) || !strings.Contains(err.Error(), "Barrier") || c.Rank() != 1 && !strings.Contains(err.Error(), "GatherV") {
			return fmt.Errorf("GatherV and Barrier: got %v", err)
		}
		switch c.Rank() {
		case 0:
			_ = c.Send(ctx, b, 1) // the sender may get the error too
		case 1:
			if err := c.Recv(ctx, b, 0); !errors.As(err, &m) || !strings.Contains(err.Error(), "48") {
				return fmt.Errorf("64 elements asked for, 48 sent: got %v", err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestAllocs asserts that calls on GPU memory allocate nothing once they have run, neither on the
// heap nor pinned memory.
func TestAllocs(t *testing.T) {
	const runs, n = 100, 3 << 19 // 6 MiB of float32
	err := local.Run(t.Context(), 2, func(ctx context.Context, host *comm.Comm) error {
		runtime.LockOSThread()
		return withGPU(ctx, host, func(ctx context.Context, c *comm.Comm, dev *cuda.Device) error {
			mem := func(n int) (comm.Buf, error) {
				a, err := dev.AllocBytes(4 * n)
				b := comm.Of(make([]float32, n))
				b.Ptr, b.Place = *(*unsafe.Pointer)(unsafe.Pointer(&a)), comm.OnDevice
				return b, err
			}
			src, err1 := mem(n)
			dst, err2 := mem(n)
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
			peer, few, many := 1-c.Rank(), []int{3, 3}, []int{n / 2, n / 2}
			x, err := comm.NewExchange(c, []comm.Leg{{Peer: peer, Buf: dst.Slice(0, 50)}, {Peer: peer, Buf: dst.Slice(50, 99)}},
				[]comm.Leg{{Peer: peer, Buf: src.Slice(0, 50)}, {Peer: peer, Buf: src.Slice(50, 99)}})
			if err != nil {
				return err
			}
			started := func(q comm.Request, err error) error {
				if err != nil {
					return err
				}
				return q.Wait(ctx)
			}
			for _, k := range []struct {
				name string
				call func() error
			}{
				{"AllReduce", func() error { return c.AllReduce(ctx, dst.Slice(0, 100), src.Slice(0, 100), comm.Sum) }},
				{"AllReduce in chunks", func() error { return c.AllReduce(ctx, dst, src, comm.Sum) }},
				{"Reduce in chunks", func() error { return c.Reduce(ctx, dst, src, comm.Sum, 0) }},
				{"Broadcast in chunks", func() error { return c.Broadcast(ctx, dst, 1) }},
				{"AllGather", func() error { return c.AllGather(ctx, dst.Slice(0, 100), src.Slice(0, 50)) }},
				{"AllGather in chunks", func() error { return c.AllGather(ctx, dst, src.Slice(0, n/2)) }},
				{"AllToAll in place in chunks", func() error { return c.AllToAll(ctx, dst, dst) }},
				{"AllToAllV", func() error { return c.AllToAllV(ctx, dst.Slice(0, 6), few, src.Slice(0, 6), few) }},
				{"AllToAllV in chunks", func() error { return c.AllToAllV(ctx, dst, many, src, many) }},
				{"ReduceScatterV in chunks", func() error { return c.ReduceScatterV(ctx, dst.Slice(0, many[c.Rank()]), src, many, comm.Sum) }},
				{"SendRecv", func() error { return c.SendRecv(ctx, dst.Slice(0, 50), peer, src.Slice(0, 50), peer) }},
				{"SendRecv of much", func() error { return c.SendRecv(ctx, dst, peer, src, peer) }},
				{"Exchange", func() error { return x.Run(ctx) }},
				{"IAllReduce", func() error { return started(c.IAllReduce(ctx, dst, src, comm.Sum)) }},
			} {
				var before, after runtime.MemStats
				pinned := 0
				for i := range runs + 10 {
					if i == 10 {
						if err := c.Barrier(ctx); err != nil {
							return err
						}
						runtime.ReadMemStats(&before)
						pinned = inside(c).s.pool.bytes
					}
					if err := k.call(); err != nil {
						return fmt.Errorf("%s: %w", k.name, err)
					}
				}
				runtime.ReadMemStats(&after)
				if m := after.Mallocs - before.Mallocs; m > runs/4 {
					return fmt.Errorf("%s: %d allocations in %d calls", k.name, m, runs)
				}
				if more := inside(c).s.pool.bytes - pinned; more > 0 {
					return fmt.Errorf("%s: %d more pinned bytes after %d calls", k.name, more, runs)
				}
			}
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
}

// TestSizesOfBlocks checks the size classes of the pool.
func TestSizesOfBlocks(t *testing.T) {
	last, lastSize := -1, 0
	for n := 1; n < 1<<34; n += 1 + n/97 {
		class, size := classOf(n)
		if size < n || n > 256 && size > 2*n || n > 1<<20 && size > n+n/4+1 {
			t.Fatalf("%d bytes: block of %d", n, size)
		}
		if class < last || class == last && size != lastSize || class > last && size <= lastSize || class >= classes {
			t.Fatalf("%d bytes: class %d of %d, after class %d of %d", n, class, size, last, lastSize)
		}
		last, lastSize = class, size
	}
}

// TestNoPinnedMemory checks the error if pinning fails.
func TestNoPinnedMemory(t *testing.T) {
	err := local.Run(t.Context(), 1, func(ctx context.Context, host *comm.Comm) error {
		d := newLazy(0, false)
		c, err := New(host, d)
		if err != nil {
			return err
		}
		b := vector(d, false, counting(1<<19, 0))
		d.noMore = true
		if err := c.AllReduce(ctx, b, b, comm.Sum); err == nil || !strings.Contains(err.Error(), "pin 2097152 bytes") {
			return fmt.Errorf("got %v", err)
		}
		if _, err := c.Window(ctx, b); err == nil || !strings.Contains(err.Error(), "GPU memory") {
			return fmt.Errorf("window on the device: got %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
