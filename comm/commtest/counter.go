package commtest

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
)

// Counter is a communicator that counts calls, elements and bytes. Groups of Split count into
// the same numbers. Counts are those of one rank; each rank wraps its handle.
type Counter struct {
	*comm.Comm
	n *counts
}

type counts struct {
	calls    [len(driver.Specs)]tally
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

// NewCounter returns a communicator on the transport of c that counts. c must not be used any
// more.
func NewCounter(c *comm.Comm) *Counter {
	n := &counts{}
	return &Counter{comm.New(counted(c.Conn(), n)), n}
}

// Calls returns how often the method of this name was called. ISend counts as Send, IRecv as
// Recv, and SendRecv as both.
func (c *Counter) Calls(method string) int { return int(c.at(method).calls.Load()) }

// Elements returns how many elements calls of this name had on this rank: of src, or of dst in
// Broadcast, Recv and Scatter.
func (c *Counter) Elements(method string) int { return int(c.at(method).elements.Load()) }

// Bytes is Elements in bytes.
func (c *Counter) Bytes(method string) int { return int(c.at(method).bytes.Load()) }

// Collectives returns the number of all collective calls.
func (c *Counter) Collectives() int {
	n := 0
	for k := range c.n.calls {
		if s := driver.Kind(k).Spec(); !s.Message && driver.Kind(k) != driver.KindExchange {
			n += int(c.n.calls[k].calls.Load())
		}
	}
	return n
}

// Sent returns the number of messages that this rank sent, legs of exchanges included.
func (c *Counter) Sent() int { return int(c.n.sent.calls.Load()) }

// Received returns the number of receives of this rank.
func (c *Counter) Received() int { return int(c.n.received.calls.Load()) }

// SentBytes returns the bytes of the messages that Sent counts.
func (c *Counter) SentBytes() int { return int(c.n.sent.bytes.Load()) }

// Total returns the number of collective calls and of messages sent.
func (c *Counter) Total() int { return c.Collectives() + c.Sent() }

// Reset sets all counts to zero. No call may be under way.
func (c *Counter) Reset() { *c.n = counts{} }

// String names the transport and the calls so far.
func (c *Counter) String() string {
	var s []string
	for k := range c.n.calls {
		if t := &c.n.calls[k]; t.calls.Load() > 0 {
			s = append(s, fmt.Sprintf("%d %v of %d elements, %d bytes", t.calls.Load(), driver.Kind(k), t.elements.Load(), t.bytes.Load()))
		}
	}
	if s == nil {
		s = []string{"no calls"}
	}
	return fmt.Sprintf("%v (counted: %s)", c.Comm, strings.Join(s, "; "))
}

func (c *Counter) at(method string) *tally {
	for k := range c.n.calls {
		if driver.Specs[k].Name == method {
			return &c.n.calls[k]
		}
	}
	panic(fmt.Sprintf("commtest: no call %q", method))
}

// counting is a transport that forwards to another one and counts.
type counting struct {
	driver.Conn
	n *counts
}

// counted wraps a transport. The result has the optional interfaces that the transport has.
func counted(conn driver.Conn, n *counts) driver.Conn {
	c := counting{conn, n}
	nonBlocking, has := conn.(driver.NonBlocking)
	oneSided, exposes := conn.(driver.OneSided)
	switch {
	case has && exposes:
		return countingAll{countingStarts{c, nonBlocking}, oneSided}
	case has:
		return countingStarts{c, nonBlocking}
	}
	return c
}

func (c counting) count(q *driver.Call) {
	b := q.Src
	if s := q.Kind.Spec(); s.Src == driver.None || s.SrcAtRoot {
		b = q.Dst
	}
	c.n.calls[q.Kind].add(b)
}

func (c counting) Do(ctx context.Context, q *driver.Call) error {
	c.count(q)
	return c.Conn.Do(ctx, q)
}

func (c counting) Start(ctx context.Context, q *driver.Call) (uint64, error) {
	c.count(q)
	switch q.Kind {
	case driver.KindSend:
		c.n.sent.add(q.Src)
	case driver.KindRecv:
		c.n.received.add(q.Dst)
	}
	for _, l := range q.Send {
		c.n.sent.add(l.Buf)
	}
	for _, l := range q.Recv {
		c.n.received.add(l.Buf)
	}
	return c.Conn.Start(ctx, q)
}

func (c counting) Split(ctx context.Context, q *driver.Call) (driver.Conn, error) {
	c.count(q)
	sub, err := c.Conn.Split(ctx, q)
	if sub == nil {
		return nil, err
	}
	return counted(sub, c.n), err
}

func (c counting) Close() error {
	c.n.calls[driver.KindClose].add(comm.Buf{})
	return c.Conn.Close()
}

type countingStarts struct {
	counting
	nonBlocking driver.NonBlocking
}

func (c countingStarts) StartCollective(ctx context.Context, q *driver.Call) (uint64, error) {
	c.count(q)
	return c.nonBlocking.StartCollective(ctx, q)
}

type countingAll struct {
	countingStarts
	oneSided driver.OneSided
}

func (c countingAll) Window(ctx context.Context, q *driver.Call) (driver.Window, []int, error) {
	c.count(q)
	return c.oneSided.Window(ctx, q)
}
