package ops_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
)

// Operators send what the mathematics needs: one message per neighbour and
// direction for a stencil, nothing along an axis that is whole.
func TestMessages(t *testing.T) {
	const ranks = 4
	ends := func(me int) int { // neighbours in a row
		if me == 0 || me == ranks-1 {
			return 1
		}
		return 2
	}
	none := func(int) int { return 0 }
	type make func(ctx context.Context, x *dist.Space) (linop.Operator[float64], error)
	for name, c := range map[string]struct {
		make        make
		sent        func(me int) int // messages of Forward, and of Adjoint
		collectives int              // of Forward; Adjoint has none
	}{
		"first derivative": {func(ctx context.Context, x *dist.Space) (linop.Operator[float64], error) {
			return ops.FirstDerivative[float64](ctx, x, 0, ops.DerivativeOptions{Sampling: 1, Kind: ops.DerivativeCentered5, Edge: true})
		}, ends, 0},
		"second derivative": {func(ctx context.Context, x *dist.Space) (linop.Operator[float64], error) {
			return ops.SecondDerivative[float64](ctx, x, 0, ops.DerivativeDefaults())
		}, ends, 0},
		"laplacian": {func(ctx context.Context, x *dist.Space) (linop.Operator[float64], error) {
			return ops.Laplacian[float64](ctx, x, ops.LaplacianOptions{})
		}, ends, 0},
		"gradient": {func(ctx context.Context, x *dist.Space) (linop.Operator[float64], error) {
			return ops.Gradient[float64](ctx, x, ops.GradientOptions{})
		}, ends, 0},
		"convolve": {func(ctx context.Context, x *dist.Space) (linop.Operator[float64], error) {
			return ops.Convolve1D(ctx, x, 0, []float64{1, 2, 3}, 1)
		}, ends, 0},
		"halo": {func(ctx context.Context, x *dist.Space) (linop.Operator[float64], error) {
			return ops.Halo[float64](ctx, x, ops.HaloOptions{Front: []int{1, 0}, Back: []int{2, 0}})
		}, ends, 0},
		"along a whole axis": {func(ctx context.Context, x *dist.Space) (linop.Operator[float64], error) {
			return ops.FirstDerivative[float64](ctx, x, 1, ops.DerivativeDefaults())
		}, none, 0},
		"identity": {func(_ context.Context, x *dist.Space) (linop.Operator[float64], error) {
			return ops.Identity[float64](x)
		}, none, 0},
		"transpose": {func(ctx context.Context, x *dist.Space) (linop.Operator[float64], error) {
			return ops.Transpose[float64](ctx, x, 1, 0)
		}, none, 0},
		"pad": {func(ctx context.Context, x *dist.Space) (linop.Operator[float64], error) {
			return ops.Pad[float64](ctx, x, []int{3, 1}, []int{2, 0})
		}, none, 0},
		"restriction": {func(ctx context.Context, x *dist.Space) (linop.Operator[float64], error) {
			return ops.Restriction[float64](ctx, x, 0, []int{1, 2, 9, 15})
		}, none, 0},
		"sum": {func(ctx context.Context, x *dist.Space) (linop.Operator[float64], error) {
			return ops.Sum[float64](ctx, x, 0)
		}, none, 1},
	} {
		t.Run(name, func(t *testing.T) {
			err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
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
		})
	}
}
