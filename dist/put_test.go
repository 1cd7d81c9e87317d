package dist_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/mpirun"
	"github.com/golops/golops/internal/testdevices"
)

// TestOneSided puts ghosts on goroutine ranks, on host memory and on memory that is
// staged. TestUnderMPI runs the same.
func TestOneSided(t *testing.T) {
	devices := []string{"host", "hidden"}
	if os.Getenv(testdevices.Var) == "" {
		devices = append(devices, "sim:staged") // hides GPUs
	}
	for _, ranks := range []int{2, 3} {
		for _, device := range devices {
			err := testdevices.On(t.Context(), device, ranks, func(ctx context.Context, r dist.Proc) error {
				return runOneSided(ctx, r, 0)
			})
			if err != nil {
				t.Errorf("%d ranks on %s: %v", ranks, device, err)
			}
		}
	}
}

// runOneSided widens blocks in front only, so that elements go one way. Ranks are at
// different speeds. A rank that put too early would spoil what another has not read.
func runOneSided(ctx context.Context, r dist.Proc, _ uint64) error {
	c := commtest.NewCounter(r.Comm)
	cr, err := dist.NewProc(ctx, c.Comm, r.Device)
	if err != nil {
		return err
	}
	s, err := dist.NewSpace(ctx, cr, dist.Layout{Way: dist.OneSided}, 3*r.Size(), 5)
	if errors.Is(err, errors.ErrUnsupported) && (strings.Contains(err.Error(), "cannot make windows") || strings.Contains(err.Error(), "ncclPutSignal")) {
		return nil // some builds of Open MPI, and GPUs over NCCL
	}
	if err != nil {
		return err
	}
	if want := "one-sided"; !strings.Contains(s.String(), want) {
		return fmt.Errorf("%v does not say %s", s, want)
	}
	a, err := dist.New[float64](s)
	if err != nil {
		return err
	}
	for i := range 5 {
		h, err := dist.NewHalo[float64](s, []int{1, 0}, []int{0, 0}, true)
		if err != nil {
			return err
		}
		c.Reset()
		if err := sendGhosts(ctx, r, c, h, a); err != nil {
			return err
		}
		if n := c.Calls("Window"); i > 0 && n > 0 { // the first one has given its memory back
			return fmt.Errorf("halo %d makes %d windows", i, n)
		}
		h.Free()
	}
	return cr.Close()
}

// sendGhosts applies h many times. It counts what is sent besides puts: a byte to each
// neighbour.
func sendGhosts(ctx context.Context, r dist.Proc, c *commtest.Counter, h *dist.Move[float64], a dist.Array[float64]) error {
	wide, err := dist.New[float64](h.Range())
	if err != nil {
		return err
	}
	neighbours := 2
	if r.Rank() == 0 || r.Rank() == r.Size()-1 {
		neighbours = 1
	}
	for k := range 10 {
		sent, collectives := c.SentBytes(), c.Collectives()
		v := float64(100*k + r.Rank() + 1)
		dist.Fill(a, v)
		if err := h.Forward(ctx, wide, a); err != nil {
			return err
		}
		for range k % (r.Rank() + 2) {
			runtime.Gosched()
		}
		got, err := wide.Host()
		if err != nil {
			return err
		}
		want := v - 1
		if r.Rank() == 0 {
			want = 0
		}
		if got[0] != want || got[5] != v {
			return fmt.Errorf("application %d: ghost %g and element %g, want %g and %g", k, got[0], got[5], want, v)
		}
		if err := h.Adjoint(ctx, a, wide); err != nil {
			return err
		}
		if got, err = a.Host(); err != nil {
			return err
		}
		if want = v; r.Rank() < r.Size()-1 {
			want = 2 * v
		}
		if got[10] != want || got[0] != v {
			return fmt.Errorf("application %d: adjoint %g and %g, want %g and %g", k, got[10], got[0], want, v)
		}
		if k > 0 && (c.SentBytes()-sent != 2*neighbours || c.Collectives() != collectives) {
			return fmt.Errorf("application %d: %v, want %d more bytes", k, c, 2*neighbours)
		}
	}
	return nil
}

// refusesPuts checks that NewSpace refuses a one-sided space, with these words.
func refusesPuts(ctx context.Context, r dist.Proc, words ...string) error {
	_, err := dist.NewSpace(ctx, r, dist.Layout{Way: dist.OneSided}, 7)
	if !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("got %v, want ErrUnsupported", err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			return fmt.Errorf("got %v, want it to say %q", err, w)
		}
	}
	return nil
}

// TestNoPut asks for a one-sided space where ranks have none. All of them get an error
// that says what to do.
func TestNoPut(t *testing.T) {
	if os.Getenv(testdevices.Var) == "" {
		err := testdevices.On(t.Context(), "sim", 2, func(ctx context.Context, r dist.Proc) error {
			return refusesPuts(ctx, r, "dist: space", "OneSided", "NCCL 2.", "lacks ncclPutSignal, which 2.29 has", "use messages")
		})
		if err != nil {
			t.Errorf("NCCL: %v", err)
		}
	}
	err := testdevices.On(t.Context(), "host", 2, func(ctx context.Context, r dist.Proc) error {
		none, err := dist.NewProc(ctx, comm.New(struct{ driver.Conn }{r.Comm.Conn()}), r.Device)
		if err != nil {
			return err
		}
		return refusesPuts(ctx, none, "dist: space", "OneSided", "window over goroutines")
	})
	if err != nil {
		t.Errorf("no windows: %v", err)
	}
}

// runNoWindows asks for a one-sided space of an MPI that cannot make windows.
func runNoWindows(ctx context.Context, r dist.Proc, _ uint64) error {
	for range 2 { // the second time the answer is known
		if err := refusesPuts(ctx, r, "dist: space", "OneSided", "MPI_Win_create", "cannot make windows", "use messages"); err != nil {
			return err
		}
	}
	return nil
}

// TestNoWindows is for Open MPI 4.1 with its component pt2pt alone, which declines. The
// Open MPI of Ubuntu has no other.
func TestNoWindows(t *testing.T) {
	mpirun.Each(t, []string{"openmpi"}, func(t *testing.T, m mpirun.MPI) {
		m.Env = append(slices.Clone(m.Env), "OMPI_MCA_osc=pt2pt", testdevices.Var+"=host")
		if out, err := underMPI(t, m, "no windows", 0); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// TestPutsTakeTurns lets rank 0 put the next row before rank 1 has read the present one.
func TestPutsTakeTurns(t *testing.T) {
	err := testdevices.On(t.Context(), "host", 2, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{Way: dist.OneSided}, 2, 3)
		if err != nil {
			return err
		}
		plan := dist.NewPlan(s, dist.LabelForward)
		plan.Rows(0, func(place int) [][]dist.Rows { // rank 1 reads row 0
			return [][][]dist.Rows{{nil, nil}, {{{Lo: 0, Hi: 1}}, nil}}[place]
		})
		x, err := dist.NewExchange[float32](plan)
		if err != nil {
			return err
		}
		a, err := dist.New[float32](s)
		if err != nil {
			return err
		}
		beside, err := r.Split(ctx, 0, r.Rank()) // its messages wait for none of the exchange
		if err != nil {
			return err
		}
		defer beside.Close()
		start := func(k int) error {
			dist.Fill(a, float32(k))
			return x.Start(ctx, a.Local(), a.Local())
		}
		const rounds = 6
		err = start(0)
		for k := 0; err == nil && k < rounds; k++ {
			if err = x.Wait(ctx, a.Local()); err != nil {
				return err
			}
			started := []int32{0}
			if r.Rank() == 0 {
				if err = start(k + 1); err == nil {
					err = beside.Send(ctx, comm.Of(started), 1)
				}
				continue
			}
			if err = beside.Recv(ctx, comm.Of(started), 0); err != nil {
				return err
			}
			got := make([]float32, 3)
			if err = x.Ghosts().CopyOut(got); err == nil && got[0] != float32(k) {
				err = fmt.Errorf("row %v in round %d", got, k)
			}
			if err == nil {
				err = start(k + 1)
			}
		}
		if err != nil {
			return err
		}
		return x.Wait(ctx, a.Local())
	})
	if err != nil {
		t.Error(err)
	}
}
