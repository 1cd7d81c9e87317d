package staged

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/comm/local"
)

// TestSuite runs the suite of every communicator on a device whose work is
// done as late as it may be. The suite hardly reaches the chunks of real runs,
// so they are small too.
func TestSuite(t *testing.T) {
	for _, run := range []struct {
		chunk, above int
		ranks        []int
		aware        bool
	}{
		{chunkBytes, chunkAbove, []int{1, 2, 4}, false},
		{100, 200, []int{1, 3}, false},
		{4096, 4096, []int{2}, false},
		{100, 200, []int{3}, true},
	} {
		for _, ranks := range run.ranks {
			t.Run(fmt.Sprintf("chunk=%d/aware=%v/ranks=%d", run.chunk, run.aware, ranks), func(t *testing.T) {
				err := local.Run(t.Context(), ranks, func(ctx context.Context, host comm.Comm) error {
					if run.aware {
						host = knowing{host}
					}
					dev := newLazy(host.Rank(), run.aware)
					c, err := newComm(host, dev, run.chunk, run.above)
					if err != nil {
						return err
					}
					cfg := commtest.Config{Sequences: 60, Device: dev}
					if err := suite(ctx, c, cfg, run.above == chunkAbove || run.aware, t.Errorf); err != nil {
						return err
					}
					c.s.failed = false // calls of the suite that fail leave nothing behind
					return errors.Join(c.Close(), dev.Close())
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// suite runs the cases; that about messages of different counts only where the
// messages are whole.
func suite(ctx context.Context, c comm.Comm, cfg commtest.Config, whole bool, report func(string, ...any)) error {
	for _, k := range commtest.Cases(cfg) {
		if k.Name == "Mismatch/messages" && !whole {
			continue
		}
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

// knowing is a host communicator that takes addresses of a bare device in
// calls that reduce nothing.
type knowing struct{ comm.Comm }

func (knowing) GPUAware(platform string) bool { return platform == "cuda" }

func (knowing) TakesGPUMemory(call comm.Call) bool {
	switch call.Kind {
	case comm.KindAllReduce, comm.KindReduce, comm.KindReduceScatter, comm.KindReduceScatterV, comm.KindIAllReduce:
		return false
	}
	return true
}

func (k knowing) Split(ctx context.Context, color, key int) (comm.Comm, error) {
	c, err := k.Comm.Split(ctx, color, key)
	if c == nil || err != nil {
		return nil, err
	}
	return knowing{c}, nil
}

func (k knowing) Window(ctx context.Context, b comm.Buf) (comm.Window, error) {
	return comm.NewWindow(ctx, k.Comm, b)
}
