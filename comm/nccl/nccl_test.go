package nccl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/device"
)

// TestOlder runs the suite without the functions that only newer libraries have.
func TestOlder(t *testing.T) {
	run := suite(commtest.Config{Sequences: 50, NoFaults: true}, true, t.Errorf)
	err := simulated(t, 3, Config{}, func(ctx context.Context, c *Comm, dev device.Accelerator) error {
		l := c.w.l
		l.initRankScalable, l.allToAll, l.gather, l.scatter = 0, 0, 0, 0
		return run(ctx, c, dev)
	})
	if err != nil {
		t.Error(err)
	}
}

// TestNaN asserts that a reduction never hides a NaN.
func TestNaN(t *testing.T) {
	for _, op := range []comm.Op{comm.Min, comm.Max, comm.Sum} {
		err := simulated(t, 3, Config{}, func(ctx context.Context, c *Comm, dev device.Accelerator) error {
			x := []float32{1, 2, 3}
			x[c.Rank()] = float32(math.NaN())
			m, err := newMemory(dev, x...)
			if err != nil {
				return err
			}
			if err := c.AllReduce(ctx, m.buf(), m.buf(), op); err != nil {
				return err
			}
			got, err := m.values()
			if slices.ContainsFunc(got, func(v float32) bool { return v == v }) {
				return fmt.Errorf("%v gives %v, want NaNs", op, got)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestProgress receives messages whose sender waits in the host's communicator: in a barrier,
// for a message, for a lock.
func TestProgress(t *testing.T) {
	for name, wait := range map[string]func(context.Context, *Comm) error{
		"Barrier": func(ctx context.Context, c *Comm) error { return c.Barrier(ctx) },
		"SendRecv": func(ctx context.Context, c *Comm) error {
			x := comm.Of(make([]int32, 1))
			return c.SendRecv(ctx, x, 1-c.Rank(), comm.Of([]int32{1}), 1-c.Rank())
		},
		"AllReduce": func(ctx context.Context, c *Comm) error {
			x := comm.Of(make([]int32, 1))
			return c.AllReduce(ctx, x, x, comm.Sum)
		},
		"Test": func(ctx context.Context, c *Comm) error {
			x := comm.Of(make([]int32, 1))
			q, err := c.IAllReduce(ctx, x, x, comm.Sum)
			for done := false; err == nil && !done; runtime.Gosched() {
				done, err = q.Test()
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := simulated(t, 2, Config{}, func(ctx context.Context, c *Comm, dev device.Accelerator) error {
				m, err := newMemory(dev, int64(7+c.Rank()))
				if err != nil {
					return err
				}
				if c.Rank() == 1 {
					if err := c.Recv(ctx, m.buf(), 0); err != nil {
						return err
					}
					got, err := m.values()
					if err == nil && got[0] != 7 {
						err = fmt.Errorf("got %d, want 7", got[0])
					}
					return errors.Join(err, wait(ctx, c))
				}
				q, err := c.ISend(ctx, m.buf(), 1)
				if err != nil {
					return err
				}
				return errors.Join(wait(ctx, c), q.Wait(ctx))
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestMixed asserts that buffers in two kinds of memory are an error that says so.
func TestMixed(t *testing.T) {
	err := simulated(t, 2, Config{}, func(ctx context.Context, c *Comm, dev device.Accelerator) error {
		m, err := newMemory(dev, 1.0)
		if err != nil {
			return err
		}
		host := comm.Of([]float64{1})
		err = c.AllReduce(ctx, m.buf(), host, comm.Sum)
		if err == nil || !strings.Contains(err.Error(), "dst is in GPU memory, src is in host memory") {
			return fmt.Errorf("AllReduce from host to GPU memory: %v", err)
		}
		_, err = c.Window(ctx, m.buf())
		if !errors.Is(err, errors.ErrUnsupported) {
			return fmt.Errorf("window over GPU memory: %v", err)
		}
		if s := c.String(); !strings.HasPrefix(s, "NCCL 2.") || !strings.HasSuffix(s, " over goroutines") {
			return fmt.Errorf("String is %q", s)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestMixedMessages has the two sides of a message in different kinds of memory, in either
// order, also of one rank with itself, after messages that match. Both ranks get the same
// error, without a timeout.
func TestMixedMessages(t *testing.T) {
	for _, from := range []comm.Place{comm.OnHost, comm.OnDevice} {
		for _, first := range []string{"sender", "receiver", "self"} {
			t.Run(fmt.Sprintf("from %v/%s", from, first), func(t *testing.T) {
				var errs [2]error
				begun := make(chan struct{})
				simulated(t, 2, Config{}, func(ctx context.Context, c *Comm, dev device.Accelerator) error {
					m, err := newMemory(dev, 1.0, 2)
					if err != nil {
						return err
					}
					host, other := comm.Of([]float64{1, 2}), 1-c.Rank()
					for _, b := range []comm.Buf{host, m.buf()} {
						if err := c.SendRecv(ctx, b.Slice(1, 2), other, b.Slice(0, 1), other); err != nil {
							return err
						}
					}
					src, dst := m.buf(), host
					if from == comm.OnHost {
						src, dst = dst, src
					}
					sends := c.Rank() == 0
					if first == "self" {
						errs[c.Rank()] = c.SendRecv(ctx, dst, c.Rank(), src, c.Rank())
						return errs[c.Rank()]
					}
					if sends != (first == "sender") {
						<-begun
					}
					var q comm.Request
					if sends {
						q, err = c.ISend(ctx, src, 1)
					} else {
						q, err = c.IRecv(ctx, dst, 0)
					}
					if sends == (first == "sender") {
						close(begun)
					}
					if err == nil {
						err = q.Wait(ctx)
					}
					errs[c.Rank()] = errors.Join(err, c.Barrier(ctx))
					return errs[c.Rank()]
				})
				for r, err := range errs {
					var m *comm.MismatchError
					if !errors.As(err, &m) || m.Hint != "both sides of a message must be in the same kind of memory" {
						t.Errorf("rank %d: %v", r, err)
					}
				}
			})
		}
	}
}

// TestMixedRanks has rank 0 call a collective on host memory and the others on GPU memory.
// Checked mode finds it before the call, as do calls that ask the other ranks anyway. Other
// calls end by their timeout.
func TestMixedRanks(t *testing.T) {
	for _, k := range []struct {
		name string
		cfg  Config
		call func(ctx context.Context, c *Comm, b comm.Buf) error
		want string
	}{
		{"checked", Config{Checked: true}, func(ctx context.Context, c *Comm, b comm.Buf) error {
			return c.AllReduce(ctx, b, b, comm.Sum)
		}, "rank 2 is in AllReduce on GPU memory, rank 0 is in AllReduce on host memory"},
		{"checked start", Config{Checked: true}, func(ctx context.Context, c *Comm, b comm.Buf) error {
			_, err := c.IBroadcast(ctx, b, 0)
			return err
		}, "rank 2 is in IBroadcast on GPU memory, rank 0 is in IBroadcast on host memory"},
		{"unchecked with counts", Config{}, func(ctx context.Context, c *Comm, b comm.Buf) error {
			counts := []int{1, 1, 1}
			return c.AllToAllV(ctx, b, counts, b, counts)
		}, "rank 2 is in AllToAllV on GPU memory, rank 0 is in AllToAllV on host memory"},
		{"late", Config{Timeout: 50 * time.Millisecond}, func(ctx context.Context, c *Comm, b comm.Buf) error {
			return c.AllReduce(ctx, b, b, comm.Sum)
		}, "waited 50ms in AllReduce(sum, 3 float64) on GPU memory"},
	} {
		t.Run(k.name, func(t *testing.T) {
			var errs [3]error
			simulated(t, 3, Config{}, func(ctx context.Context, c *Comm, dev device.Accelerator) error {
				m, err := newMemory(dev, 1.0, 2, 3)
				if err == nil {
					err = c.AllReduce(ctx, m.buf(), m.buf(), comm.Sum) // now all NCCL communicators exist
				}
				if err != nil {
					return err
				}
				c.w.cfg = k.cfg
				b := m.buf()
				if c.Rank() == 0 {
					b = comm.Of([]float64{1, 2, 3})
				}
				errs[c.Rank()] = k.call(ctx, c, b)
				return errs[c.Rank()]
			})
			for r, err := range errs {
				if err == nil || !strings.Contains(err.Error(), k.want) {
					t.Errorf("rank %d: %v, want it to say %q", r, err, k.want)
				}
			}
		})
	}
}

// TestAllocs asserts that calls allocate nothing once they have run.
func TestAllocs(t *testing.T) {
	if err := simulated(t, 2, Config{}, allocs); err != nil {
		t.Error(err)
	}
}

func allocs(ctx context.Context, c *Comm, dev device.Accelerator) error {
	const runs, n = 100, 64
	a, err := newMemory(dev, make([]float32, n)...)
	if err != nil {
		return err
	}
	b, err := newMemory(dev, make([]float32, n)...)
	if err != nil {
		return err
	}
	src, dst, scalars := a.buf(), b.buf(), comm.Of(make([]float64, 2))
	each := n / c.Size()
	part, own := src.Slice(0, each), comm.Block(src, c.Rank(), c.Size())
	all := src.Slice(0, each*c.Size())
	counts := slices.Repeat([]int{each}, c.Size())
	to, from := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	for _, k := range []struct {
		name string
		call func() error
	}{
		{"AllReduce on the host", func() error { return c.AllReduce(ctx, scalars, scalars, comm.Sum) }},
		{"AllReduce", func() error { return c.AllReduce(ctx, dst, src, comm.Sum) }},
		{"Broadcast", func() error { return c.Broadcast(ctx, dst, 0) }},
		{"AllGather", func() error { return c.AllGather(ctx, dst.Slice(0, all.N), part) }},
		{"AllGatherV", func() error { return c.AllGatherV(ctx, dst.Slice(0, all.N), counts, part) }},
		{"ReduceScatterV", func() error { return c.ReduceScatterV(ctx, dst.Slice(0, each), all, counts, comm.Sum) }},
		{"AllToAllV", func() error { return c.AllToAllV(ctx, dst.Slice(0, all.N), counts, all, counts) }},
		{"AllToAll in place", func() error { return c.AllToAll(ctx, all, all) }},
		{"GatherV", func() error { return c.GatherV(ctx, dst.Slice(0, all.N), counts, own, 0) }},
		{"SendRecv", func() error { return c.SendRecv(ctx, dst, from, src, to) }},
		{"SendRecv on the host", func() error { return c.SendRecv(ctx, scalars.Slice(0, 1), from, scalars.Slice(1, 2), to) }},
		{"SendRecv with itself", func() error { return c.SendRecv(ctx, dst, c.Rank(), src, c.Rank()) }},
		{"IAllReduce", func() error {
			q, err := c.IAllReduce(ctx, dst, src, comm.Sum)
			if err != nil {
				return err
			}
			return q.Wait(ctx)
		}},
	} {
		var before, after runtime.MemStats
		for i := range runs + 10 {
			if i == 10 { // requests and notes exist by now
				if err := c.Barrier(ctx); err != nil {
					return err
				}
				runtime.ReadMemStats(&before)
			}
			if err := k.call(); err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
		}
		if err := c.Barrier(ctx); err != nil {
			return err
		}
		runtime.ReadMemStats(&after)
		if err := c.Barrier(ctx); err != nil { // before others allocate for the next call
			return err
		}
		// Goroutine ranks count the whole process, in which the runtime may allocate
		// too.
		if n := after.Mallocs - before.Mallocs; n > runs/4 {
			return fmt.Errorf("%s: %d allocations in %d calls", k.name, n, runs)
		}
	}
	return nil
}
