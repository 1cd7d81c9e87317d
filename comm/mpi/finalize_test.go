package mpi

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/internal/mpirun"
	"github.com/golops/golops/internal/soak"
)

func note(rank int, text string) { fmt.Printf("NOTE rank %d: %s\n", rank, text) }

// manyRequests starts collectives that it never waits for.
func manyRequests(ctx context.Context, c *comm.Comm) error {
	b := comm.Of(make([]float64, 1))
	for range 20000 {
		if _, err := c.IAllReduce(ctx, b, b, comm.Sum); err != nil {
			return err
		}
	}
	return nil
}

// forgetWindows returns with open windows, an open group and a pending request.
func forgetWindows(ctx context.Context, c *comm.Comm) error {
	for range 3 {
		if _, err := c.Window(ctx, comm.Of(make([]float64, 4))); err != nil {
			return err
		}
	}
	g, err := c.Split(ctx, 0, -c.Rank())
	if err != nil {
		return err
	}
	if _, err := g.Window(ctx, comm.Of(make([]float64, 4))); err != nil {
		return err
	}
	_, err = c.IRecv(ctx, comm.Of(make([]float64, 1)), 1-c.Rank())
	return err
}

// keepLock lets rank 1 return with a lock that rank 0 may want.
func keepLock(ctx context.Context, c *comm.Comm) error {
	w, err := c.Window(ctx, comm.Of(make([]float64, 1)))
	if err != nil || c.Rank() == 0 {
		return err
	}
	return w.Lock(ctx, 0, comm.Exclusive)
}

// lockCircle has two ranks that each hold the lock that the other wants.
func lockCircle(ctx context.Context, c *comm.Comm) error {
	w, err := c.Window(ctx, comm.Of(make([]float64, 1)))
	if err != nil {
		return err
	}
	b := comm.Of(make([]float64, 1))
	for _, target := range []int{c.Rank(), 1 - c.Rank()} {
		if err := w.Lock(ctx, target, comm.Exclusive); err != nil {
			return err
		}
		if err := w.Get(ctx, b, target, 0); err != nil { // some libraries lock only now
			return err
		}
		if err := w.Flush(ctx, target); err != nil {
			return err
		}
		if err := c.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}

// stopOne stops the process of rank 1 while rank 0 waits for it.
func stopOne(ctx context.Context, c *comm.Comm) error {
	if err := c.Barrier(ctx); err != nil {
		return err
	}
	if c.Rank() == 1 {
		return exec.Command("kill", "-STOP", strconv.Itoa(os.Getpid())).Run()
	}
	return c.Recv(ctx, comm.Of(make([]float64, 1)), 1)
}

// unasked sends a message that nobody receives.
func unasked(ctx context.Context, c *comm.Comm) error {
	if c.Rank() == 0 {
		return c.Send(ctx, comm.Of(make([]float64, 1)), 1)
	}
	return nil
}

// alone has a collective on rank 0 only.
func alone(ctx context.Context, c *comm.Comm) error {
	if c.Rank() == 0 {
		b := comm.Of(make([]float64, 1))
		return c.AllReduce(ctx, b, b, comm.Sum)
	}
	return nil
}

// aloneInBarrier has a barrier on rank 0 only.
func aloneInBarrier(ctx context.Context, c *comm.Comm) error {
	if c.Rank() == 0 {
		return c.Barrier(ctx)
	}
	return nil
}

// slow is a correct program. Rank 0 works until rank 1 tells it that its program has ended.
// It then receives a message that rank 1 sent before.
func slow(ctx context.Context, c *comm.Comm) error {
	b := comm.Of(make([]float64, 1))
	if c.Rank() == 1 {
		return c.Send(ctx, b, 0)
	}
	for w := c.Conn().(*rank).w; w.ended.Load() == 0; w.pollNotices() {
		runtime.Gosched()
	}
	return c.Recv(ctx, b, 1)
}

// TestEnds runs programs that end in a wrong way. Each must end with an error that says
// why.
func TestEnds(t *testing.T) {
	mpirun.Each(t, []string{"openmpi", "mpich"}, func(t *testing.T, m mpirun.MPI) {
		for child, want := range map[string][]string{
			"requests":  {"wait for requests"},
			"lock":      {"rank 1 ended its program while it held 1 locks of windows", "Unlock"},
			"circle":    {"waited 1s in "},
			"stop":      {"rank 0 waited 1s in Recv"},
			"send self": {"cannot wait for itself"},
			"recv self": {"cannot wait for itself"},
			"alone":     {"aborted by rank 0", "rank 0 is in AllReduce(sum, 1 float64)", "the program of rank 1 has ended"},
			"barrier":   {"rank 0 is in Barrier()", "the program of rank 1 has ended"},
			"unasked":   {"rank 0 has sent 1 messages to rank 1, which has asked for 0"},
		} {
			if m.Name == "mpich" && children[child].cfg.Timeout > 0 && !soak.On() {
				continue // our own clock ends them, with any library
			}
			t.Run(child, func(t *testing.T) {
				out, err := ranks(t, m, 2, child)
				for _, w := range want {
					if err == nil || !strings.Contains(out, w) {
						t.Errorf("%v, want an error that says %q\n%s", err, w, out)
					}
				}
			})
		}
		t.Run("slow", func(t *testing.T) {
			if out, err := ranks(t, m, 2, "slow"); err != nil || out != "" {
				t.Errorf("%v\n%s", err, out)
			}
		})
		t.Run("windows", func(t *testing.T) {
			out, err := ranks(t, m, 2, "windows")
			for _, want := range []string{"4 windows were never closed", "1 groups of Split were never closed", "1 requests were never waited for"} {
				if err != nil || strings.Count(out, want) != 2 {
					t.Errorf("%v, want %q of both ranks\n%s", err, want, out)
				}
			}
		})
	})
}
