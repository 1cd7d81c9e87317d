package ops_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
)

// Operators send what the mathematics needs: one message per neighbour and
// direction for a stencil, nothing along an axis that is whole.
func TestMessages(t *testing.T) {
	for _, o := range operators[float64]() {
		for _, c := range o.messages {
			t.Run(c.name, func(t *testing.T) { checkMessages(t, c) })
		}
	}
}

func checkMessages(t *testing.T, c messageCase[float64]) {
	err := testdevices.Local(t.Context(), 4, func(ctx context.Context, r dist.Proc) error {
		count := commtest.NewCounter(r.Comm)
		counted, err := dist.NewProc(ctx, count.Comm, r.Device)
		if err != nil {
			return err
		}
		x, err := dist.NewSpace(ctx, counted, dist.Layout{}, 17, 6)
		if err != nil {
			return err
		}
		op, err := c.make(ctx, x)
		if err != nil {
			return err
		}
		src, err := dist.New[float64](op.Domain())
		if err != nil {
			return err
		}
		dst, err := dist.New[float64](op.Range())
		if err != nil {
			return err
		}
		count.Reset()
		if err := op.Forward(ctx, dst, src); err != nil {
			return err
		}
		if count.Sent() != c.sent(r.Rank()) || count.Received() != c.sent(r.Rank()) || count.Collectives() != c.collectives {
			return fmt.Errorf("forward: %v, want %d messages each way and %d collectives", count, c.sent(r.Rank()), c.collectives)
		}
		count.Reset()
		if err := op.Adjoint(ctx, src, dst); err != nil {
			return err
		}
		if count.Sent() != c.sent(r.Rank()) || count.Received() != c.sent(r.Rank()) || count.Collectives() != 0 {
			return fmt.Errorf("adjoint: %v, want %d messages each way", count, c.sent(r.Rank()))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
