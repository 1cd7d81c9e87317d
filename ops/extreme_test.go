package ops_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/ops"
)

// extremeNumbers are what a user's arithmetic may end in.
var extremeNumbers = []int{math.MinInt, -1, 0, 1 << 10, 1 << 40, 1 << 62, math.MaxInt / 2, math.MaxInt/2 + 1, math.MaxInt - 1, math.MaxInt}

// Every constructor, with such a number in each place where it takes an integer,
// returns an error or an operator that fits: never a panic, never a range that is
// smaller than what it stands for.
func TestExtremeNumbers(t *testing.T) {
	for _, o := range operators[float64]() {
		for _, c := range o.extreme {
			checkExtreme(t, c)
		}
	}
	for _, c := range extremeCombinations {
		checkExtreme(t, c)
	}
}

// extremeCombinations are operators that are made of others.
var extremeCombinations = []extremeCase[float64]{
	{"power", func(ctx ctxt, x space, v int) (op[float64], error) {
		i, err := ops.Identity[float64](x)
		if err != nil {
			return nil, err
		}
		return linop.Power(i, min(v, 5))
	}, sizeSame},
	{"stacks", func(ctx ctxt, x space, v int) (op[float64], error) {
		y, err := dist.NewSpace(ctx, x.Proc().Alone(), dist.Layout{}, max(v, 0))
		if err != nil {
			return nil, err
		}
		i, err := ops.Identity[float64](y)
		if err != nil {
			return nil, err
		}
		return linop.BlockDiagRanks(ctx, x.Proc(), i, i, i, i)
	}, func(v, ranks float64) float64 { return 4 * ranks * max(v, 0) }},
	{"stacked", func(ctx ctxt, x space, v int) (op[float64], error) {
		y, err := x.Like(dist.Layout{}, max(v, 0))
		if err != nil {
			return nil, err
		}
		i, err := ops.Identity[float64](y)
		if err != nil {
			return nil, err
		}
		return linop.BlockDiag(i, i, i, i)
	}, func(v, _ float64) float64 { return 4 * max(v, 0) }},
}

func checkExtreme(t *testing.T, c extremeCase[float64]) {
	for _, ranks := range []int{1, 2} {
		err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
			x, err := dist.NewSpace(ctx, r, dist.Layout{}, 24)
			if err != nil {
				return err
			}
			for _, v := range extremeNumbers {
				a, err := c.make(ctx, x, v)
				if err != nil {
					continue
				}
				size := a.Range().Size()
				if size < 0 {
					return fmt.Errorf("%d: the range has %d elements", v, size)
				}
				if c.want != nil && float64(size) != c.want(float64(v), float64(ranks)) {
					return fmt.Errorf("%d: the range has %d elements, want %g", v, size, c.want(float64(v), float64(ranks)))
				}
				if err := works(ctx, a); err != nil {
					return fmt.Errorf("%d: %w", v, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: ranks=%d: %v", c.name, ranks, err)
		}
	}
}

// works applies an operator whose arrays can be made.
func works(ctx context.Context, a linop.Operator[float64]) error {
	for _, s := range []*dist.Space{a.Domain(), a.Range()} {
		if s.Size() > 1<<22 {
			if s.LocalShape().Size() > 1<<34 {
				if _, err := dist.New[float64](s); !errors.Is(err, device.ErrMemory) {
					return fmt.Errorf("an array of %v: got error %v, want one about memory", s, err)
				}
			}
			return nil
		}
	}
	return optest.Dot(ctx, a)
}
