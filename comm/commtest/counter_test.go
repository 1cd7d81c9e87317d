package commtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/comm/local"
)

// TestCounterForwards runs the suite through a Counter.
func TestCounterForwards(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		err := local.Run(t.Context(), ranks, func(ctx context.Context, c *comm.Comm) error {
			return commtest.Run(ctx, commtest.NewCounter(c).Comm, commtest.Config{Sequences: 200}, nil)
		})
		if err != nil {
			t.Errorf("%d ranks: %v", ranks, err)
		}
	}
}

// TestCounterCounts makes one call of each kind on three ranks.
func TestCounterCounts(t *testing.T) {
	err := local.Run(t.Context(), 3, func(ctx context.Context, inner *comm.Comm) error {
		c := commtest.NewCounter(inner)
		a, b := comm.Of(make([]float64, 6)), comm.Of(make([]float64, 6))
		two, counts := a.Slice(0, 2), []int{2, 2, 2}
		right, left := (c.Rank()+1)%3, (c.Rank()+2)%3
		wait := func(q comm.Request, err error) error {
			if err != nil {
				return err
			}
			return q.Wait(ctx)
		}
		messages := func() error {
			return errors.Join(c.Send(ctx, two, right), c.Recv(ctx, b.Slice(0, 2), left))
		}
		for _, k := range []struct {
			name            string
			elements, total int
			call            func() error
		}{
			{"Barrier", 0, 1, func() error { return c.Barrier(ctx) }},
			{"AllReduce", 6, 1, func() error { return c.AllReduce(ctx, b, a, comm.Sum) }},
			{"Reduce", 6, 1, func() error { return c.Reduce(ctx, b, a, comm.Sum, 1) }},
			{"Broadcast", 6, 1, func() error { return c.Broadcast(ctx, b, 1) }},
			{"AllGather", 2, 1, func() error { return c.AllGather(ctx, b, two) }},
			{"AllGatherV", 2, 1, func() error { return c.AllGatherV(ctx, b, counts, two) }},
			{"Gather", 2, 1, func() error { return c.Gather(ctx, b, two, 0) }},
			{"GatherV", 2, 1, func() error { return c.GatherV(ctx, b, counts, two, 0) }},
			{"Scatter", 2, 1, func() error { return c.Scatter(ctx, two, b, 0) }},
			{"ScatterV", 2, 1, func() error { return c.ScatterV(ctx, two, b, counts, 0) }},
			{"ReduceScatter", 6, 1, func() error { return c.ReduceScatter(ctx, two, b, comm.Sum) }},
			{"ReduceScatterV", 6, 1, func() error { return c.ReduceScatterV(ctx, two, b, counts, comm.Sum) }},
			{"AllToAll", 6, 1, func() error { return c.AllToAll(ctx, b, a) }},
			{"AllToAllV", 6, 1, func() error { return c.AllToAllV(ctx, b, counts, a, counts) }},
			{"IAllReduce", 6, 1, func() error { return wait(c.IAllReduce(ctx, b, a, comm.Sum)) }},
			{"IBroadcast", 6, 1, func() error { return wait(c.IBroadcast(ctx, b, 0)) }},
			{"IAllGather", 2, 1, func() error { return wait(c.IAllGather(ctx, b, two)) }},
			{"Send", 2, 1, func() error { return c.Group(ctx, messages) }},
			{"Recv", 2, 1, func() error { return c.Group(ctx, messages) }},
			{"Window", 6, 1, func() error {
				w, err := c.Window(ctx, b)
				if err != nil {
					return err
				}
				return w.Close(ctx)
			}},
		} {
			c.Reset()
			if err := k.call(); err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			if c.Calls(k.name) != 1 || c.Elements(k.name) != k.elements || c.Bytes(k.name) != 8*k.elements || c.Total() != k.total {
				return fmt.Errorf("%s: %v, total %d: want 1 of %d elements, total %d", k.name, c, c.Total(), k.elements, k.total)
			}
			if !strings.Contains(c.String(), fmt.Sprintf("1 %s of %d elements", k.name, k.elements)) {
				return fmt.Errorf("%s: String is %q", k.name, c)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestCounterMessages counts both sides of messages from rank to rank, also in a group of
// Split.
func TestCounterMessages(t *testing.T) {
	err := local.Run(t.Context(), 3, func(ctx context.Context, inner *comm.Comm) error {
		c := commtest.NewCounter(inner)
		x, y := comm.Of(make([]float32, 5)), comm.Of(make([]float32, 5))
		to, from := c.Rank()+1, c.Rank()-1
		if to == c.Size() {
			to = comm.Nobody
		}
		if err := c.SendRecv(ctx, y, from, x, to); err != nil { // rank -1 is Nobody
			return err
		}
		sent, received := 1, 1
		if to == comm.Nobody {
			sent = 0
		}
		if from == comm.Nobody {
			received = 0
		}
		if c.Sent() != sent || c.Received() != received || c.SentBytes() != 20*sent || c.Total() != sent {
			return fmt.Errorf("rank %d: %d sent (%d bytes), %d received, want %d and %d", c.Rank(), c.Sent(), c.SentBytes(), c.Received(), sent, received)
		}
		color := c.Rank() / 2
		if c.Rank() == 2 {
			color = comm.NoColor
		}
		g, err := c.Split(ctx, color, 0)
		if err != nil {
			return err
		}
		c.Reset()
		if g == nil { // rank 2 is in no group
			return nil
		}
		q, err := g.IRecv(ctx, y, 1-g.Rank())
		if err != nil {
			return err
		}
		p, err := g.ISend(ctx, x, 1-g.Rank())
		if err != nil {
			return err
		}
		if err := comm.WaitAll(ctx, p, q); err != nil {
			return err
		}
		if c.Calls("Send") != 1 || c.Calls("Recv") != 1 || c.Sent() != 1 || c.Received() != 1 || c.Total() != 1 {
			return fmt.Errorf("messages of a group: %v", c)
		}
		return g.Close()
	})
	if err != nil {
		t.Error(err)
	}
}

// noWindows is a transport without windows.
type noWindows struct{ driver.Conn }

func TestCounterWithoutWindows(t *testing.T) {
	err := local.Run(t.Context(), 1, func(ctx context.Context, c *comm.Comm) error {
		if _, err := commtest.NewCounter(comm.New(noWindows{c.Conn()})).Window(ctx, comm.Of([]float32{1})); !errors.Is(err, errors.ErrUnsupported) {
			return fmt.Errorf("%v, want ErrUnsupported", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
