package stage

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/comm/local"
)

// sizes of chunks: those of real runs, which the suite hardly reaches, and
// small ones, of which it has many.
var sizes = []struct{ chunk, above int }{{chunkBytes, chunkAbove}, {100, 200}, {4096, 4096}}

// TestSuite runs the suite of every communicator on a device whose work is
// done as late as it may be.
func TestSuite(t *testing.T) {
	for _, size := range sizes {
		for _, ranks := range []int{1, 2, 3, 4} {
			t.Run(fmt.Sprintf("chunk=%d/ranks=%d", size.chunk, ranks), func(t *testing.T) {
				cfg := commtest.Config{Sequences: 300}
				err := local.Run(t.Context(), ranks, func(ctx context.Context, host comm.Comm) error {
					dev := newLazy(host.Rank())
					c, err := newComm(host, dev, size.chunk, size.above)
					if err != nil {
						return err
					}
					cfg := cfg
					cfg.Device = dev
					if err := suite(ctx, c, cfg, size.above == chunkAbove, t.Errorf); err != nil {
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

// suite runs the cases; those about messages of different counts only where
// the messages are no chunks, which a receiver cannot do without.
func suite(ctx context.Context, c comm.Comm, cfg commtest.Config, whole bool, report func(string, ...any)) error {
	for _, k := range commtest.Cases(cfg) {
		if k.Name == "Mismatch/messages" && !whole {
			continue
		}
		own := k.Run(ctx, c)
		if own != nil {
			report("%s: rank %d: %v", k.Name, c.Rank(), own)
		}
		if err := comm.Agree(ctx, c, own); err != nil {
			var other *comm.RankError
			if own == nil && !errors.As(err, &other) {
				return err
			}
		}
	}
	return nil
}
