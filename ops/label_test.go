package ops_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/mpirun"
	"github.com/golops/golops/internal/soak"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
)

// mixed goes forward on one rank and back on the others.
func mixed(ctx context.Context, r dist.Proc, op linop.Operator[float64], forward int) error {
	x, err := dist.New[float64](op.Domain())
	if err != nil {
		return err
	}
	y, err := dist.New[float64](op.Range())
	if err != nil {
		return err
	}
	if r.Rank() == forward {
		return op.Forward(ctx, y, x)
	}
	return op.Adjoint(ctx, x, y)
}

// Whatever an operator sends, ranks that go different ways are told so.
func TestForwardMeetsAdjoint(t *testing.T) {
	senders := 0
	for i, m := range forms[float64]() {
		for forward := i % 2; forward < 2; forward += soak.Or(2, 1) {
			var sent atomic.Int64
			err := testdevices.Local(t.Context(), 2, func(ctx context.Context, r dist.Proc) error {
				count := commtest.NewCounter(r.Comm)
				counted, err := dist.NewProc(ctx, count.Comm, r.Device)
				if err != nil {
					return err
				}
				x, err := dist.NewSpace(ctx, counted, dist.Layout{}, 7, 5)
				if err != nil {
					return err
				}
				op, err := forms[float64]()[i].make(ctx, x)
				if err != nil {
					return err
				}
				count.Reset()
				err = mixed(ctx, r, op, forward)
				sent.Add(int64(count.Total() + count.Received()))
				return err
			})
			mismatch := (*comm.MismatchError)(nil)
			if sends := sent.Load() > 0; sends != errors.As(err, &mismatch) {
				t.Errorf("%s, forward on rank %d: %d messages, got error %v", m.name, forward, sent.Load(), err)
			} else if sends {
				senders++
			}
		}
	}
	if senders < soak.Or(20, 40) {
		t.Errorf("only %d of the programs sent anything", senders)
	}
}

// underMPIMixed is a program that must fail: derivatives of two ranks that happen
// to fit each other's messages.
func underMPIMixed(ctx context.Context, r dist.Proc) error {
	x, err := dist.NewSpace(ctx, r, dist.Layout{}, 8, 5)
	if err != nil {
		return err
	}
	op, err := ops.FirstDerivative[float64](ctx, x, 0, ops.DerivativeDefaults())
	if err != nil {
		return err
	}
	return mixed(ctx, r, op, 0)
}

func TestForwardMeetsAdjointUnderMPI(t *testing.T) {
	mpirun.Each(t, []string{"openmpi", "mpich"}, func(t *testing.T, m mpirun.MPI) {
		c := m.Command(t.Context(), 2, os.Args[0])
		c.Env = append(c.Env, childVar+"=mixed")
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		err := c.Run()
		// A rank that has never used the other's word shows it as (other).
		if text := out.String(); err == nil || !strings.Contains(text, "FAILED") || !strings.Contains(text, "mismatch") || !strings.Contains(text, `"forward"`) && !strings.Contains(text, `"adjoint"`) {
			t.Errorf("got error %v, output\n%s", err, text)
		}
	})
}

// lost is a transport whose exchange number fails, from 1, fails.
type lost struct {
	driver.Conn
	fails, starts int
	started       []uint64
}

var errLost = errors.New("the network is down")

func (f *lost) Start(ctx context.Context, q *driver.Call) (uint64, error) {
	if f.starts++; f.starts == f.fails {
		return 0, errLost
	}
	id, err := f.Conn.Start(ctx, q)
	f.started = append(f.started, id)
	return id, err
}

// A derivative that fails halfway leaves no message under way.
func TestLineFailsHalfway(t *testing.T) {
	err := launch.Config{Ranks: 3}.Local(t.Context(), func(ctx context.Context, r dist.Proc) error {
		f := &lost{Conn: r.Comm.Conn()}
		rank, err := dist.NewProc(ctx, comm.New(f), r.Device)
		if err != nil {
			return err
		}
		x, err := dist.NewSpace(ctx, rank, dist.Layout{}, 9, 4)
		if err != nil {
			return err
		}
		op, err := ops.Laplacian[float64](ctx, x, ops.LaplacianOptions{})
		if err != nil {
			return err
		}
		f.started, f.starts = nil, 0
		if r.Rank() == 1 {
			f.fails = 1
		}
		err = mixed(ctx, r, op, r.Rank())
		for i, q := range f.started {
			if done, _ := f.Test(q); !done {
				return fmt.Errorf("exchange %d of %d is still under way", i, len(f.started))
			}
		}
		if r.Rank() == 1 && len(f.started) != 0 {
			return fmt.Errorf("%d exchanges were started, want none", len(f.started))
		}
		return err
	})
	if !errors.Is(err, errLost) || strings.Contains(err.Error(), "under way") || strings.Contains(err.Error(), "started") {
		t.Errorf("got error %v", err)
	}
}
