package local_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/comm/local"
)

var errBoom = errors.New("boom")

// TestFaults lets one rank of four fail while the others wait in a collective,
// a message or a request. The calls of all others must end with an error that names
// the rank and the cause.
func TestFaults(t *testing.T) {
	waits := map[string]func(context.Context, *comm.Comm) error{
		"AllReduce": allReduce,
		"Barrier":   func(ctx context.Context, c *comm.Comm) error { return c.Barrier(ctx) },
		"Recv":      func(ctx context.Context, c *comm.Comm) error { return c.Recv(ctx, comm.Of(make([]int32, 1)), 2) },
		"Send":      func(ctx context.Context, c *comm.Comm) error { return c.Send(ctx, comm.Of(make([]int32, 1)), 2) },
		"Exchange":  func(ctx context.Context, c *comm.Comm) error { return recvLeg(ctx, c, 2) },
		"large": func(ctx context.Context, c *comm.Comm) error {
			x := comm.Of(make([]float64, 1<<20))
			return c.AllReduce(ctx, x, x, comm.Sum)
		},
		"IAllReduce": func(ctx context.Context, c *comm.Comm) error {
			x := comm.Of(make([]float64, 3))
			q, err := c.IAllReduce(ctx, x, x, comm.Sum)
			if err != nil {
				return err
			}
			return q.Wait(ctx)
		},
	}
	faults := []struct {
		name string
		fail func(context.Context, *comm.Comm) error
		want []string // in the error of the others
	}{
		{"error", func(context.Context, *comm.Comm) error { return errBoom }, []string{"rank 2", "boom"}},
		{"panic", func(context.Context, *comm.Comm) error { panic("bang") }, []string{"rank 2", "bang"}},
		{"nil dereference", func(context.Context, *comm.Comm) error {
			var p *int
			*p = 1
			return nil
		}, []string{"rank 2", "nil pointer"}},
		{"abort", func(ctx context.Context, c *comm.Comm) error {
			c.Abort(errBoom)
			return c.Barrier(ctx)
		}, []string{"rank 2", "boom"}},
		{"Goexit", func(context.Context, *comm.Comm) error { runtime.Goexit(); return nil }, []string{"rank 2", "runtime.Goexit"}},
		{"end", func(context.Context, *comm.Comm) error { return nil }, []string{"rank 2", "has ended"}},
	}
	for call, wait := range waits {
		for _, f := range faults {
			t.Run(call+"/"+f.name, func(t *testing.T) {
				errs := make([]error, 4)
				err := local.Run(t.Context(), 4, func(ctx context.Context, c *comm.Comm) error {
					if c.Rank() == 2 {
						return f.fail(ctx, c)
					}
					errs[c.Rank()] = wait(ctx, c)
					return errs[c.Rank()]
				})
				if err == nil {
					t.Fatal("Run returned no error")
				}
				for r, e := range errs {
					for _, want := range f.want {
						if r != 2 && (e == nil || !strings.Contains(e.Error(), want)) {
							t.Errorf("rank %d: %v, want it to say %q", r, e, want)
						}
					}
				}
			})
		}
	}
}

func allReduce(ctx context.Context, c *comm.Comm) error {
	x := comm.Of([]float64{1})
	return c.AllReduce(ctx, x, x, comm.Sum)
}

// TestMismatch lets rank 2 of four be somewhere else. All ranks end, and the
// error names both ranks and both calls.
func TestMismatch(t *testing.T) {
	for name, c := range map[string]struct {
		other func(context.Context, *comm.Comm) error
		want  []string
	}{
		"another collective": {func(ctx context.Context, c *comm.Comm) error { return c.Barrier(ctx) },
			[]string{"rank 0 is in AllReduce(sum, 1 float64)", "rank 2 is in Barrier()"}},
		"another count": {func(ctx context.Context, c *comm.Comm) error {
			x := comm.Of([]float64{1, 2})
			return c.AllReduce(ctx, x, x, comm.Sum)
		}, []string{"AllReduce(sum, 1 float64)", "rank 2 is in AllReduce(sum, 2 float64)"}},
		"a receive that nobody serves": {func(ctx context.Context, c *comm.Comm) error {
			return c.Recv(ctx, comm.Of(make([]int32, 5)), 0)
		}, []string{"Recv(5 int32, from rank 0)", "AllReduce(sum, 1 float64)"}},
		"a non-blocking collective": {func(ctx context.Context, c *comm.Comm) error {
			x := comm.Of([]float64{1})
			q, err := c.IAllReduce(ctx, x, x, comm.Sum)
			if err != nil {
				return err
			}
			return q.Wait(ctx)
		}, []string{"rank 2 is in IAllReduce(sum, 1 float64)", "is in AllReduce(sum, 1 float64)"}},
	} {
		t.Run(name, func(t *testing.T) {
			errs := make([]error, 4)
			err := local.Run(t.Context(), 4, func(ctx context.Context, k *comm.Comm) error {
				f := allReduce
				if k.Rank() == 2 {
					f = c.other
				}
				errs[k.Rank()] = f(ctx, k)
				return errs[k.Rank()]
			})
			for r, e := range errs {
				var m *comm.MismatchError
				if !errors.As(e, &m) {
					t.Errorf("rank %d: %v, want a mismatch", r, e)
				}
			}
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want it to say %q", err, want)
				}
			}
		})
	}
}

// TestDeadlock lets ranks wait for each other in a circle of messages.
func TestDeadlock(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		err := local.Run(t.Context(), n, func(ctx context.Context, c *comm.Comm) error {
			return c.Send(ctx, comm.Of([]int32{1}), (c.Rank()+1)%n)
		})
		var m *comm.MismatchError
		if !errors.As(err, &m) {
			t.Errorf("%d ranks: %v, want a mismatch", n, err)
		}
	}
}

// TestNoFalseAlarm lets ranks wait long for one that computes, and for one that
// answers only after others have gone to sleep.
func TestNoFalseAlarm(t *testing.T) {
	err := local.Run(t.Context(), 4, func(ctx context.Context, c *comm.Comm) error {
		for round := range 3 {
			if c.Rank() == round {
				time.Sleep(20 * time.Millisecond) // long enough that the others sleep
			}
			x := []int32{1}
			if err := c.SendRecv(ctx, comm.Of(x), (c.Rank()+3)%4, comm.Of([]int32{7}), (c.Rank()+1)%4); err != nil {
				return err
			}
			if err := c.Barrier(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	err := local.Run(ctx, 3, func(ctx context.Context, c *comm.Comm) error {
		if c.Rank() == 1 {
			cancel(errBoom)
			<-ctx.Done()
			return nil
		}
		return c.Barrier(ctx)
	})
	if !errors.Is(err, errBoom) {
		t.Errorf("%v, want the cause of the cancellation", err)
	}
}

func TestTimeout(t *testing.T) {
	err := local.Config{Timeout: time.Millisecond}.Run(t.Context(), 2, func(ctx context.Context, c *comm.Comm) error {
		if c.Rank() == 1 {
			<-ctx.Done() // the abort ends it
			return nil
		}
		return c.Barrier(ctx)
	})
	if err == nil || !strings.Contains(err.Error(), "waited 1ms in Barrier()") || !strings.Contains(err.Error(), "for rank 1") {
		t.Errorf("%v, want a timeout that names call and rank", err)
	}
}

func TestBadConfig(t *testing.T) {
	nop := func(context.Context, *comm.Comm) error { return nil }
	for _, err := range []error{
		local.Run(t.Context(), 0, nop),
		local.Run(t.Context(), -3, nop),
		local.Config{Algo: driver.Native}.Run(t.Context(), 1, nop),
		local.Config{Timeout: -1}.Run(t.Context(), 1, nop),
	} {
		if err == nil {
			t.Error("no error")
		}
	}
}
