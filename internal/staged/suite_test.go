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

// TestSuite runs the suite of every communicator on a device whose work is done as late as
// possible. The buffers of the suite rarely exceed a chunk of the default size, so it also runs
// with small chunks.
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
						host = gpuAwareHost{host}
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
					c.s.failed = false // failed calls of the suite use no blocks any more
					return errors.Join(c.Close(), dev.Close())
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// suite runs the cases. The case of messages with different counts runs only if messages are not
// divided.
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

// gpuAwareHost is a host communicator that takes addresses of a bare device in calls without
// reduction.
type gpuAwareHost struct{ comm.Comm }

func (gpuAwareHost) GPUAware(platform string) bool { return platform == "cuda" }

func (gpuAwareHost) TakesGPUMemory(call comm.Call) bool {
	switch call.Kind {
	case comm.KindAllReduce, comm.KindReduce, comm.KindReduceScatter, comm.KindReduceScatterV, comm.KindIAllReduce:
		return false
	}
	return true
}

func (k gpuAwareHost) Split(ctx context.Context, color, key int) (comm.Comm, error) {
	c, err := k.Comm.Split(ctx, color, key)
	if c == nil || err != nil {
		return nil, err
	}
	return gpuAwareHost{c}, nil
}

func (k gpuAwareHost) Window(ctx context.Context, b comm.Buf) (comm.Window, error) {
	return comm.NewWindow(ctx, k.Comm, b)
}
