package commtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/golops/golops/comm"
)

// Counter is a communicator that forwards to another one and counts calls, elements and
// bytes. Groups of Split count into the same numbers. Counts are those of one rank; each rank
// wraps its handle.
type Counter struct {
	inner comm.Comm
	n     *counts
}

// calls are the methods of comm.Comm that communicate.
var calls = [...]string{"Barrier", "AllReduce", "Reduce", "Broadcast", "AllGather", "AllGatherV", "Gather", "GatherV",
	"Scatter", "ScatterV", "ReduceScatter", "ReduceScatterV", "AllToAll", "AllToAllV", "IAllReduce", "IBroadcast",
	"IAllGather", "Split", "Close", "Window", "Send", "Recv", "SendRecv", "ISend", "IRecv"}

const collectives = 20 // of calls, before the messages

type counts struct {
	calls    [len(calls)]tally
	sent     tally // messages of all calls
	received tally
}

// tally is atomic, because goroutines may use handles of Split at the same time.
type tally struct{ calls, elements, bytes atomic.Int64 }

func (t *tally) add(b comm.Buf) {
	t.calls.Add(1)
	t.elements.Add(int64(b.N))
	t.bytes.Add(int64(b.Bytes()))
}

func (t *tally) reset() {
	t.calls.Store(0)
	t.elements.Store(0)
	t.bytes.Store(0)
}

var (
	_ comm.Comm     = (*Counter)(nil)
	_ comm.Windower = (*Counter)(nil)
)

// NewCounter returns a communicator that forwards to c and counts.
func NewCounter(c comm.Comm) *Counter { return &Counter{c, &counts{}} }

// Calls returns how often the method of this name was called.
func (c *Counter) Calls(method string) int { return int(c.at(method).calls.Load()) }

// Elements returns how many elements calls of this name had on this rank: of src, or of dst in
// Broadcast, Recv and Scatter.
func (c *Counter) Elements(method string) int { return int(c.at(method).elements.Load()) }

// Bytes is Elements in bytes.
func (c *Counter) Bytes(method string) int { return int(c.at(method).bytes.Load()) }

// Collectives returns the number of all collective calls.
func (c *Counter) Collectives() int {
	n := 0
	for i := range collectives {
		n += int(c.n.calls[i].calls.Load())
	}
	return n
}

// Sent returns the number of messages that this rank sent by Send, ISend and
// SendRecv.
func (c *Counter) Sent() int { return int(c.n.sent.calls.Load()) }

// Received returns the number of receives of this rank.
func (c *Counter) Received() int { return int(c.n.received.calls.Load()) }

// SentBytes returns the bytes of the messages that Sent counts.
func (c *Counter) SentBytes() int { return int(c.n.sent.bytes.Load()) }

// Total returns the number of collective calls and of messages sent.
func (c *Counter) Total() int { return c.Collectives() + c.Sent() }

// Reset sets all counts to zero.
func (c *Counter) Reset() {
	for i := range c.n.calls {
		c.n.calls[i].reset()
	}
	c.n.sent.reset()
	c.n.received.reset()
}

// String names the transport and the calls so far.
func (c *Counter) String() string {
	var s []string
	for i, name := range calls {
		if t := &c.n.calls[i]; t.calls.Load() > 0 {
			s = append(s, fmt.Sprintf("%d %s of %d elements, %d bytes", t.calls.Load(), name, t.elements.Load(), t.bytes.Load()))
		}
	}
	if s == nil {
		s = []string{"no calls"}
	}
	return fmt.Sprintf("%v (counted: %s)", c.inner, strings.Join(s, "; "))
}

func (c *Counter) at(method string) *tally {
	i := slices.Index(calls[:], method)
	if i < 0 {
		panic(fmt.Sprintf("commtest: no call %q: have %v", method, calls))
	}
	return &c.n.calls[i]
}

func (c *Counter) count(method string, b comm.Buf) { c.at(method).add(b) }

// Rank implements comm.Comm, as do all methods below.
func (c *Counter) Rank() int { return c.inner.Rank() }

// Size forwards.
func (c *Counter) Size() int { return c.inner.Size() }

// Barrier counts and forwards.
func (c *Counter) Barrier(ctx context.Context) error {
	c.count("Barrier", comm.Buf{})
	return c.inner.Barrier(ctx)
}

// AllReduce counts and forwards.
func (c *Counter) AllReduce(ctx context.Context, dst, src comm.Buf, op comm.Op) error {
	c.count("AllReduce", src)
	return c.inner.AllReduce(ctx, dst, src, op)
}

// Reduce counts and forwards.
func (c *Counter) Reduce(ctx context.Context, dst, src comm.Buf, op comm.Op, root int) error {
	c.count("Reduce", src)
	return c.inner.Reduce(ctx, dst, src, op, root)
}

// Broadcast counts and forwards.
func (c *Counter) Broadcast(ctx context.Context, buf comm.Buf, root int) error {
	c.count("Broadcast", buf)
	return c.inner.Broadcast(ctx, buf, root)
}

// AllGather counts and forwards.
func (c *Counter) AllGather(ctx context.Context, dst, src comm.Buf) error {
	c.count("AllGather", src)
	return c.inner.AllGather(ctx, dst, src)
}

// AllGatherV counts and forwards.
func (c *Counter) AllGatherV(ctx context.Context, dst comm.Buf, counts []int, src comm.Buf) error {
	c.count("AllGatherV", src)
	return c.inner.AllGatherV(ctx, dst, counts, src)
}

// Gather counts and forwards.
func (c *Counter) Gather(ctx context.Context, dst, src comm.Buf, root int) error {
	c.count("Gather", src)
	return c.inner.Gather(ctx, dst, src, root)
}

// GatherV counts and forwards.
func (c *Counter) GatherV(ctx context.Context, dst comm.Buf, counts []int, src comm.Buf, root int) error {
	c.count("GatherV", src)
	return c.inner.GatherV(ctx, dst, counts, src, root)
}

// Scatter counts and forwards.
func (c *Counter) Scatter(ctx context.Context, dst, src comm.Buf, root int) error {
	c.count("Scatter", dst)
	return c.inner.Scatter(ctx, dst, src, root)
}

// ScatterV counts and forwards.
func (c *Counter) ScatterV(ctx context.Context, dst, src comm.Buf, counts []int, root int) error {
	c.count("ScatterV", dst)
	return c.inner.ScatterV(ctx, dst, src, counts, root)
}

// ReduceScatter counts and forwards.
func (c *Counter) ReduceScatter(ctx context.Context, dst, src comm.Buf, op comm.Op) error {
	c.count("ReduceScatter", src)
	return c.inner.ReduceScatter(ctx, dst, src, op)
}

// ReduceScatterV counts and forwards.
func (c *Counter) ReduceScatterV(ctx context.Context, dst, src comm.Buf, counts []int, op comm.Op) error {
	c.count("ReduceScatterV", src)
	return c.inner.ReduceScatterV(ctx, dst, src, counts, op)
}

// AllToAll counts and forwards.
func (c *Counter) AllToAll(ctx context.Context, dst, src comm.Buf) error {
	c.count("AllToAll", src)
	return c.inner.AllToAll(ctx, dst, src)
}

// AllToAllV counts and forwards.
func (c *Counter) AllToAllV(ctx context.Context, dst comm.Buf, recvCounts []int, src comm.Buf, sendCounts []int) error {
	c.count("AllToAllV", src)
	return c.inner.AllToAllV(ctx, dst, recvCounts, src, sendCounts)
}

// IAllReduce counts and forwards.
func (c *Counter) IAllReduce(ctx context.Context, dst, src comm.Buf, op comm.Op) (comm.Request, error) {
	c.count("IAllReduce", src)
	return c.inner.IAllReduce(ctx, dst, src, op)
}

// IBroadcast counts and forwards.
func (c *Counter) IBroadcast(ctx context.Context, buf comm.Buf, root int) (comm.Request, error) {
	c.count("IBroadcast", buf)
	return c.inner.IBroadcast(ctx, buf, root)
}

// IAllGather counts and forwards.
func (c *Counter) IAllGather(ctx context.Context, dst, src comm.Buf) (comm.Request, error) {
	c.count("IAllGather", src)
	return c.inner.IAllGather(ctx, dst, src)
}

// Send counts and forwards.
func (c *Counter) Send(ctx context.Context, src comm.Buf, to int) error {
	c.count("Send", src)
	c.n.sent.add(src)
	return c.inner.Send(ctx, src, to)
}

// Recv counts and forwards.
func (c *Counter) Recv(ctx context.Context, dst comm.Buf, from int) error {
	c.count("Recv", dst)
	c.n.received.add(dst)
	return c.inner.Recv(ctx, dst, from)
}

// SendRecv counts and forwards.
func (c *Counter) SendRecv(ctx context.Context, dst comm.Buf, from int, src comm.Buf, to int) error {
	c.count("SendRecv", src)
	if to != comm.Nobody {
		c.n.sent.add(src)
	}
	if from != comm.Nobody {
		c.n.received.add(dst)
	}
	return c.inner.SendRecv(ctx, dst, from, src, to)
}

// ISend counts and forwards.
func (c *Counter) ISend(ctx context.Context, src comm.Buf, to int) (comm.Request, error) {
	c.count("ISend", src)
	c.n.sent.add(src)
	return c.inner.ISend(ctx, src, to)
}

// IRecv counts and forwards.
func (c *Counter) IRecv(ctx context.Context, dst comm.Buf, from int) (comm.Request, error) {
	c.count("IRecv", dst)
	c.n.received.add(dst)
	return c.inner.IRecv(ctx, dst, from)
}

// Group forwards. Calls in f are counted.
func (c *Counter) Group(ctx context.Context, f func() error) error { return c.inner.Group(ctx, f) }

// Split counts and forwards. The new group counts into the same numbers.
func (c *Counter) Split(ctx context.Context, color, key int) (comm.Comm, error) {
	c.count("Split", comm.Buf{})
	g, err := c.inner.Split(ctx, color, key)
	if g == nil || err != nil {
		return nil, err
	}
	return &Counter{g, c.n}, nil
}

// Window counts and forwards. Accesses to the window are not counted.
func (c *Counter) Window(ctx context.Context, buf comm.Buf) (comm.Window, error) {
	c.count("Window", buf)
	return comm.NewWindow(ctx, c.inner, buf)
}

// Abort forwards.
func (c *Counter) Abort(cause error) { c.inner.Abort(cause) }

// Close counts and forwards.
func (c *Counter) Close() error {
	c.count("Close", comm.Buf{})
	return c.inner.Close()
}
