package local_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/local"
)

// says checks that err contains all of words.
func says(t *testing.T, err error, words ...string) {
	t.Helper()
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("got %v, want it to say %q", err, w)
		}
	}
}

// TestGoexitOnAllRanks ends every rank the way t.Fatal does.
func TestGoexitOnAllRanks(t *testing.T) {
	for _, n := range []int{1, 3} {
		err := local.Run(t.Context(), n, func(context.Context, *comm.Comm) error { runtime.Goexit(); return nil })
		says(t, err, "runtime.Goexit", "rank 0")
	}
}

// TestLockHeldAtTheEnd lets rank 1 return with a lock that rank 0 wants.
func TestLockHeldAtTheEnd(t *testing.T) {
	err := local.Run(t.Context(), 2, func(ctx context.Context, c *comm.Comm) error {
		w, err := c.Window(ctx, comm.Of(make([]float64, 1)))
		if err != nil {
			return err
		}
		if c.Rank() == 1 {
			if err := w.Lock(ctx, 0, comm.Exclusive); err != nil {
				return err
			}
		}
		if err := c.Barrier(ctx); err != nil || c.Rank() == 1 {
			return err
		}
		return w.Lock(ctx, 0, comm.Exclusive)
	})
	says(t, err, "rank 1 ended its program while it held 1 locks of windows", "Unlock")
}

// TestCloseWithALock closes a window on which one rank holds a lock.
func TestCloseWithALock(t *testing.T) {
	err := local.Run(t.Context(), 2, func(ctx context.Context, c *comm.Comm) error {
		w, err := c.Window(ctx, comm.Of(make([]float64, 1)))
		if err != nil {
			return err
		}
		if c.Rank() == 1 {
			if err := w.Lock(ctx, 0, comm.Shared); err != nil {
				return err
			}
		}
		return w.Close(ctx)
	})
	says(t, err, "rank 1", "holds a lock on rank 0", "Unlock")
}

// TestMessagesToItself waits for messages of which a rank has started one side only.
func TestMessagesToItself(t *testing.T) {
	b := func() comm.Buf { return comm.Of(make([]float64, 1)) }
	for name, f := range map[string]func(context.Context, *comm.Comm) error{
		"Send":     func(ctx context.Context, c *comm.Comm) error { return c.Send(ctx, b(), c.Rank()) },
		"Recv":     func(ctx context.Context, c *comm.Comm) error { return c.Recv(ctx, b(), c.Rank()) },
		"SendRecv": func(ctx context.Context, c *comm.Comm) error { return c.SendRecv(ctx, b(), c.Rank(), b(), comm.Nobody) },
	} {
		t.Run(name, func(t *testing.T) {
			err := local.Run(t.Context(), 2, func(ctx context.Context, c *comm.Comm) error {
				if c.Rank() == 1 {
					return f(ctx, c)
				}
				return c.Barrier(ctx)
			})
			says(t, err, "rank 1", "cannot wait for itself")
		})
	}
}

// TestManyRequests starts requests that it never waits for.
func TestManyRequests(t *testing.T) {
	for name, start := range map[string]func(context.Context, *comm.Comm, comm.Buf) (comm.Request, error){
		"IAllReduce": func(ctx context.Context, c *comm.Comm, b comm.Buf) (comm.Request, error) {
			return c.IAllReduce(ctx, b, b, comm.Sum)
		},
		"IRecv": func(ctx context.Context, c *comm.Comm, b comm.Buf) (comm.Request, error) {
			return c.IRecv(ctx, b, 1-c.Rank())
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := local.Run(t.Context(), 2, func(ctx context.Context, c *comm.Comm) error {
				b := comm.Of(make([]float64, 1))
				for range 1<<18 + 1 {
					if _, err := start(ctx, c, b); err != nil {
						return err
					}
				}
				return nil
			})
			says(t, err, "wait for requests")
		})
	}
}

// TestNote returns without waiting for a message and an exchange.
func TestNote(t *testing.T) {
	var mu sync.Mutex
	var notes []string
	cfg := local.Config{Note: func(rank int, text string) {
		mu.Lock()
		defer mu.Unlock()
		notes = append(notes, fmt.Sprintf("rank %d: %s", rank, text))
	}}
	err := cfg.Run(t.Context(), 2, func(ctx context.Context, c *comm.Comm) error {
		b := comm.Of(make([]float64, 1))
		if c.Rank() == 0 {
			return nil
		}
		if _, err := c.IRecv(ctx, b, 0); err != nil {
			return err
		}
		x, err := comm.NewExchange(c, []comm.Leg{{Peer: 0, Buf: b}, {Peer: 0, Buf: b}}, nil)
		if err != nil {
			return err
		}
		return x.Start(ctx)
	})
	if want := "rank 1: 2 requests were never waited for"; err != nil || len(notes) != 1 || !strings.HasPrefix(notes[0], want) {
		t.Errorf("%v, notes %q, want one that begins with %q", err, notes, want)
	}
}
