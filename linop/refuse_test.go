package linop_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
)

// Every way to combine operators refuses arrays of other spaces and arrays that
// share memory, also where the operators themselves would not.
func TestRefuses(t *testing.T) {
	for _, ranks := range []int{1, 2} {
		err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
			type op = linop.Operator[complex64]
			s, err := dist.NewSpace(ctx, r, dist.Layout{}, 6, 2)
			if err != nil {
				return err
			}
			across, err := s.Like(dist.Split(1), 6, 2)
			if err != nil {
				return err
			}
			line, err := s.Like(dist.Layout{Counts: [][]int{dist.Balanced(12, ranks)}}, 12)
			if err != nil {
				return err
			}
			mine, err := dist.NewSpace(ctx, r.Alone(), dist.Layout{}, 4)
			if err != nil {
				return err
			}
			a, own := op(careless{linop.Spaces{Dom: s, Rng: s}}), op(careless{linop.Spaces{Dom: mine, Rng: mine}})
			b := op(careless{linop.Spaces{Dom: across, Rng: across}})
			copies := func(_ context.Context, dst, src dist.Array[complex64]) error { dist.Copy(dst, src); return nil }
			stack, err := linop.BlockDiag(own, own)
			if err != nil {
				return err
			}
			for _, c := range []struct {
				name string
				make func() (op, error)
			}{
				{"conjugate", func() (op, error) { return linop.Conj(a) }},
				{"transpose", func() (op, error) { return linop.T(a) }},
				{"sum", func() (op, error) { return linop.Add(a, a) }},
				{"sum moved", func() (op, error) { return linop.Sub(a, b) }},
				{"scaled", func() (op, error) { return linop.Scale(2i, a) }},
				{"product", func() (op, error) { return linop.Compose(a, b) }},
				{"power 0", func() (op, error) { return linop.Power(a, 0) }},
				{"power 3", func() (op, error) { return linop.Power(a, 3) }},
				{"functions", func() (op, error) { return linop.Func("test: functions", s, s, copies, copies) }},
				{"reshape", func() (op, error) { return linop.Reshape(a, line, s) }},
				{"redistribute", func() (op, error) { return linop.Redistribute[complex64](s, across) }},
				{"block diag", func() (op, error) { return linop.BlockDiagRanks(ctx, r, own, stack) }},
				{"vstack", func() (op, error) { return linop.VStackRanks(ctx, r, own, own) }},
				{"hstack", func() (op, error) { return linop.HStackRanks(ctx, r, own, own) }},
				{"block", func() (op, error) { return linop.BlockRanks(ctx, r, [][]op{{own, own}, {own, own}}) }},
				{"stacked diag", func() (op, error) { return linop.BlockDiag(a, b) }},
				{"stacked v", func() (op, error) { return linop.VStack(a, b) }},
				{"stacked h", func() (op, error) { return linop.HStack(a, b) }},
			} {
				o, err := c.make()
				if err == nil {
					err = optest.Refuses(ctx, o)
				}
				if err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("ranks=%d: %v", ranks, err)
		}
	}
}

// careless is an identity that takes any arrays.
type careless struct{ linop.Spaces }

func (careless) Forward(_ context.Context, dst, src dist.Array[complex64]) error {
	dist.Copy(dst, src)
	return nil
}

func (c careless) Adjoint(ctx context.Context, dst, src dist.Array[complex64]) error {
	return c.Forward(ctx, dst, src)
}
