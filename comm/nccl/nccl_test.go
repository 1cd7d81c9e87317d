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
	"github.com/golops/golops/internal/soak"
)

// TestOlder runs the suite without the functions that only newer libraries have.
func TestOlder(t *testing.T) {
	run := suite(commtest.Config{Sequences: soak.Or(20, 50), NoFaults: true, FewTypes: !soak.On()}, true, t.Errorf)
	err := simulated(t, 3, Config{}, func(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
		l := inside(c).w.l
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
		err := simulated(t, 3, Config{}, func(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
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

// TestProgress has an exchange with a rank that waits in the host's communicator: in a
// barrier, for a message, for a collective.
func TestProgress(t *testing.T) {
	for name, wait := range map[string]func(context.Context, *comm.Comm) error{
		"Barrier": func(ctx context.Context, c *comm.Comm) error { return c.Barrier(ctx) },
		"SendRecv": func(ctx context.Context, c *comm.Comm) error {
			x := comm.Of(make([]int32, 1))
			return c.SendRecv(ctx, x, 1-c.Rank(), comm.Of([]int32{1}), 1-c.Rank())
		},
		"AllReduce": func(ctx context.Context, c *comm.Comm) error {
			x := comm.Of(make([]int32, 1))
			return c.AllReduce(ctx, x, x, comm.Sum)
		},
		"Test": func(ctx context.Context, c *comm.Comm) error {
			x := comm.Of(make([]int32, 1))
			q, err := c.IAllReduce(ctx, x, x, comm.Sum)
			for done := false; err == nil && !done; runtime.Gosched() {
				done, err = q.Test()
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := simulated(t, 2, Config{}, func(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
				m, err := newMemory(dev, int64(7+c.Rank()))
				if err != nil {
					return err
				}
				if c.Rank() == 1 {
					x, err := comm.NewExchange(c, []comm.Leg{{Peer: 0, Buf: m.buf()}}, nil)
					if err == nil {
						err = x.Run(ctx)
					}
					if err != nil {
						return err
					}
					got, err := m.values()
					if err == nil && got[0] != 7 {
						err = fmt.Errorf("got %d, want 7", got[0])
					}
					return errors.Join(err, wait(ctx, c))
				}
				x, err := comm.NewExchange(c, nil, []comm.Leg{{Peer: 1, Buf: m.buf()}})
				if err == nil {
					err = x.Start(ctx)
				}
				if err != nil {
					return err
				}
				return errors.Join(wait(ctx, c), x.Wait(ctx))
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestMixed asserts that buffers in two kinds of memory are an error that says so.
func TestMixed(t *testing.T) {
	err := simulated(t, 2, Config{}, func(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
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
		if err == nil || !strings.Contains(err.Error(), "buffer is in GPU memory") {
			return fmt.Errorf("window over GPU memory: %v", err)
		}
		x, err := comm.NewExchange(c, []comm.Leg{{Peer: c.Rank(), Buf: m.buf()}}, []comm.Leg{{Peer: c.Rank(), Buf: host}})
		if err != nil {
			return err
		}
		if err := x.Start(ctx); err == nil || !strings.Contains(err.Error(), "some legs are in GPU memory, others in host memory") {
			return fmt.Errorf("exchange from host to GPU memory: %v", err)
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

// TestMixedMessages has the two sides of messages in different kinds of memory, also of one
// rank with itself.
func TestMixedMessages(t *testing.T) {
	err := simulated(t, 2, Config{}, func(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
		for _, peer := range []int{1 - c.Rank(), c.Rank()} {
			m, err := newMemory(dev, 1.0, 2)
			if err != nil {
				return err
			}
			host := []float64{float64(7 + c.Rank()), 8}
			if err := c.SendRecv(ctx, m.buf(), peer, comm.Of(host), peer); err != nil {
				return err
			}
			if got, err := m.values(); err != nil || got[0] != float64(7+peer) || got[1] != 8 {
				return fmt.Errorf("from host memory of rank %d: got %v, %v", peer, got, err)
			}
			if err := c.SendRecv(ctx, comm.Of(host), peer, m.buf(), peer); err != nil {
				return err
			}
			if host[0] != float64(7+c.Rank()) || host[1] != 8 {
				return fmt.Errorf("from GPU memory of rank %d: got %v", peer, host)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestLegs has exchanges whose legs do not match: between two ranks in checked mode, and of
// a rank with itself. The other legs arrive, and ranks can continue.
func TestLegs(t *testing.T) {
	err := simulated(t, 3, Config{Checked: true}, func(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
		me, n := c.Rank(), 1
		a, err := newMemory(dev, 1.0, 2, 3, 4)
		if err != nil {
			return err
		}
		b, err := newMemory(dev, float64(10*me), 0, 0, 0)
		if err != nil {
			return err
		}
		if me == 1 {
			n = 2 // more than rank 0 expects
		}
		to, from := (me+1)%3, (me+2)%3
		dst, src := a.buf(), b.buf()
		for _, k := range []struct {
			name       string
			recv, send []comm.Leg
			bad        bool
		}{
			{"one element more", []comm.Leg{{Peer: to, Buf: dst.Slice(2, 3)}, {Peer: from, Buf: dst.Slice(0, 1)}},
				[]comm.Leg{{Peer: from, Buf: src.Slice(1, 1+n)}, {Peer: to, Buf: src.Slice(0, 1)}}, me < 2},
			{"another meaning", []comm.Leg{{Peer: from, Buf: dst.Slice(0, 1)}},
				[]comm.Leg{{Peer: to, Buf: src.Slice(0, 1).Labelled(comm.LabelOf(fmt.Sprint(me)))}}, true},
			{"itself", []comm.Leg{{Peer: me, Buf: dst.Slice(1, 3)}, {Peer: from, Buf: dst.Slice(0, 1)}},
				[]comm.Leg{{Peer: me, Buf: src.Slice(1, 2)}, {Peer: to, Buf: src.Slice(0, 1)}}, true},
			{"itself once", []comm.Leg{{Peer: me, Buf: dst.Slice(1, 3)}, {Peer: from, Buf: dst.Slice(0, 1)}},
				[]comm.Leg{{Peer: to, Buf: src.Slice(0, 1)}}, true},
			{"valid", []comm.Leg{{Peer: from, Buf: dst.Slice(0, 1)}}, []comm.Leg{{Peer: to, Buf: src.Slice(0, 1)}}, false},
		} {
			if err := a.set(1, 2, 3, 4); err != nil {
				return err
			}
			x, err := comm.NewExchange(c, k.recv, k.send)
			if err != nil {
				return err
			}
			var m *comm.MismatchError
			if err := x.Run(ctx); errors.As(err, &m) != k.bad || err != nil && !k.bad {
				return fmt.Errorf("%s: %v", k.name, err)
			}
			want := float64(10 * from)
			if k.name == "another meaning" {
				want = 1
			}
			if got, err := a.values(); err != nil || got[0] != want {
				return fmt.Errorf("%s: got %v, %v, want %v", k.name, got, err, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestMixedRanks has rank 0 call a collective on host memory and the others on GPU memory.
// Checked mode finds it before the call, as do calls that ask the other ranks anyway. Other
// calls end by their timeout.
func TestMixedRanks(t *testing.T) {
	for _, k := range []struct {
		name string
		cfg  Config
		call func(ctx context.Context, c *comm.Comm, b comm.Buf) error
		want string
	}{
		{"checked", Config{Checked: true}, func(ctx context.Context, c *comm.Comm, b comm.Buf) error {
			return c.AllReduce(ctx, b, b, comm.Sum)
		}, "rank 2 is in AllReduce on GPU memory, rank 0 is in AllReduce on host memory"},
		{"checked start", Config{Checked: true}, func(ctx context.Context, c *comm.Comm, b comm.Buf) error {
			_, err := c.IBroadcast(ctx, b, 0)
			return err
		}, "rank 2 is in IBroadcast on GPU memory, rank 0 is in IBroadcast on host memory"},
		{"unchecked with counts", Config{}, func(ctx context.Context, c *comm.Comm, b comm.Buf) error {
			counts := []int{1, 1, 1}
			return c.AllToAllV(ctx, b, counts, b, counts)
		}, "rank 2 is in AllToAllV on GPU memory, rank 0 is in AllToAllV on host memory"},
		{"checked exchange", Config{Checked: true}, func(ctx context.Context, c *comm.Comm, b comm.Buf) error {
			x, err := comm.NewExchange(c, []comm.Leg{{Peer: (c.Rank() + 2) % 3, Buf: b}}, []comm.Leg{{Peer: (c.Rank() + 1) % 3, Buf: b}})
			if err == nil {
				err = x.Run(ctx)
			}
			return err
		}, `"on GPU"`},
		{"late", Config{Timeout: 50 * time.Millisecond}, func(ctx context.Context, c *comm.Comm, b comm.Buf) error {
			return c.AllReduce(ctx, b, b, comm.Sum)
		}, "waited 50ms in AllReduce(sum, 3 float64) on GPU memory"},
	} {
		t.Run(k.name, func(t *testing.T) {
			var errs [3]error
			simulated(t, 3, Config{}, func(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
				m, err := newMemory(dev, 1.0, 2, 3)
				if err == nil {
					err = c.AllReduce(ctx, m.buf(), m.buf(), comm.Sum) // now all NCCL communicators exist
				}
				if err != nil {
					return err
				}
				inside(c).w.cfg = k.cfg
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

// TestNames has rank 1 in a barrier, while rank 0 reduces in GPU or in host memory. Before that
// reduction rank 0 compares its call with the other ranks', over the host. The error must
// name the reduction, not the steps of that comparison.
func TestNames(t *testing.T) {
	const want = `rank 0 is in AllReduce(sum, 1 float64, "dot"), rank 1 is in Barrier()`
	for _, onHost := range []bool{false, true} {
		var errs [2]error
		simulated(t, 2, Config{Checked: true}, func(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
			if c.Rank() == 0 {
				errs[0] = reduceDot(ctx, c, dev, onHost)
			} else {
				errs[1] = c.Barrier(ctx)
			}
			return errs[c.Rank()]
		})
		for r, err := range errs {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("in host memory %v: rank %d: %v, want it to say %q", onHost, r, err, want)
			}
		}
	}
}

// reduceDot is the reduction of a dot product.
func reduceDot(ctx context.Context, c *comm.Comm, dev device.Accelerator, onHost bool) error {
	m, err := newMemory(dev, 1.0)
	if err != nil {
		return err
	}
	b := m.buf()
	if onHost {
		b = comm.Of([]float64{1})
	}
	b = b.Labelled(comm.LabelOf("dot"))
	return c.AllReduce(ctx, b, b, comm.Sum)
}

// TestAllocs asserts that calls allocate nothing once they have run.
func TestAllocs(t *testing.T) {
	if err := simulated(t, 2, Config{}, allocs); err != nil {
		t.Error(err)
	}
}

func allocs(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
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
	part, own := src.Slice(0, each), src.Slice(c.Rank()*each, (c.Rank()+1)*each)
	all := src.Slice(0, each*c.Size())
	counts := slices.Repeat([]int{each}, c.Size())
	to, from := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	legs := func(b comm.Buf, peers ...int) (all []comm.Leg) {
		for i, p := range peers {
			all = append(all, comm.Leg{Peer: p, Buf: b.Slice(7*i, 7*i+7)})
		}
		return all
	}
	x, err := comm.NewExchange(c, legs(dst, from, c.Rank(), to), legs(src, to, c.Rank(), from))
	if err != nil {
		return err
	}
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
		{"Exchange", func() error { return x.Run(ctx) }},
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
			if i == 10 { // requests exist by now
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
