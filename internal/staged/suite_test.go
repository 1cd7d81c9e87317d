package staged

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/comm/local"
	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/soak"
)

// TestSuite runs the suite of every communicator on a device whose work is done as late as
// possible. The buffers of the suite rarely exceed a chunk of the default size, so it also runs
// with small chunks.
func TestSuite(t *testing.T) {
	for _, run := range []struct {
		chunk, above int
		ranks        []int
		aware        bool
	}{
		{chunkBytes, chunkAbove, soak.Or([]int{1, 4}, []int{1, 2, 4}), false},
		{100, 200, soak.Or([]int{3}, []int{1, 3}), false},
		{4096, 4096, soak.Or(nil, []int{2}), false},
		{100, 200, []int{3}, true},
	} {
		for _, ranks := range run.ranks {
			t.Run(fmt.Sprintf("chunk=%d/aware=%v/ranks=%d", run.chunk, run.aware, ranks), func(t *testing.T) {
				err := local.Run(t.Context(), ranks, func(ctx context.Context, host *comm.Comm) error {
					if run.aware {
						host = comm.New(newGPUAware(host.Conn()))
					}
					dev := newLazy(host.Rank(), run.aware)
					c, err := newComm(host, dev, run.chunk, run.above)
					if err != nil {
						return err
					}
					cfg := commtest.Config{Sequences: soak.Or(20, 60), Device: dev, FewTypes: !soak.On() && ranks != 4}
					if err := suite(ctx, c, cfg, t.Errorf); err != nil {
						return err
					}
					return errors.Join(c.Close(), dev.Close())
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// newComm is New with other chunks.
func newComm(host *comm.Comm, dev device.Accelerator, chunk, above int) (*comm.Comm, error) {
	c, err := NewConn(host.Conn(), dev)
	if err != nil {
		return nil, err
	}
	c.s.chunk, c.s.above = chunk, above
	return comm.New(c), nil
}

func inside(c *comm.Comm) *Conn { return c.Conn().(*Conn) }

// suite runs the cases.
func suite(ctx context.Context, c *comm.Comm, cfg commtest.Config, report func(string, ...any)) error {
	for _, k := range commtest.Cases(cfg) {
		own := k.Run(ctx, c)
		if own != nil {
			report("%s: rank %d: %v", k.Name, c.Rank(), own)
		}
		var other *comm.RankError
		if err := comm.Agree(ctx, c, own); err != nil && own == nil && !errors.As(err, &other) {
			return err
		}
	}
	return nil
}

// gpuAware is a host that takes addresses of a bare device in calls without reduction.
type gpuAware struct {
	driver.Conn
	driver.NonBlocking
	driver.OneSided
}

func newGPUAware(c driver.Conn) gpuAware {
	return gpuAware{c, c.(driver.NonBlocking), c.(driver.OneSided)}
}

func (k gpuAware) Info() driver.Info {
	i := k.Conn.Info()
	i.GPUAware = func(platform string, c *driver.Signature) bool { return platform == "cuda" && !c.Kind.Spec().Reduces }
	return i
}

func (k gpuAware) Split(ctx context.Context, q *driver.Call) (driver.Conn, error) {
	c, err := k.Conn.Split(ctx, q)
	if c == nil || err != nil {
		return nil, err
	}
	return newGPUAware(c), nil
}
