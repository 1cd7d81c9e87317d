package solve_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/solve"
)

// broken is A that gives v somewhere on the last rank from application k on, in
// one of its directions.
func broken(a linop.Operator[float64], adjoint bool, k int, v float64) (linop.Operator[float64], error) {
	n := 0
	spoil := func(y dist.Array[float64], is bool) error {
		if n++; !is || n < k || y.Space().Comm().Rank() != y.Space().Comm().Size()-1 {
			return nil
		}
		for y.NumParts() > 0 {
			y = y.Part(0)
		}
		return y.Local().Slice(0, 1).CopyIn([]float64{v})
	}
	return linop.Func("test: functions", a.Domain(), a.Range(),
		func(ctx context.Context, dst, src dist.Array[float64]) error {
			if err := a.Forward(ctx, dst, src); err != nil {
				return err
			}
			return spoil(dst, !adjoint)
		}, func(ctx context.Context, dst, src dist.Array[float64]) error {
			if err := a.Adjoint(ctx, dst, src); err != nil {
				return err
			}
			return spoil(dst, adjoint)
		})
}

// NaN and Inf end a run with Diverged, on all ranks, and leave the last good x.
func TestNotFinite(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		for _, at := range []int{0, 1, 2, 3, 5, 6} {
			for _, adjoint := range []bool{false, true} {
				on(t, 3, func(ctx context.Context, r dist.Proc) error {
					return each(ctx, r, 5, func(m maker[float64], p problem[float64], x dist.Array[float64]) error {
						if adjoint && (!m.ls || at == 0) {
							return nil
						}
						var err error
						if at == 0 && r.Rank() == 1 { // in b
							b := p.B
							for b.NumParts() > 0 {
								b = b.Part(0)
							}
							if err := b.Local().Slice(2, 3).CopyIn([]float64{v}); err != nil {
								return err
							}
						} else if at > 0 {
							if p.A, err = broken(p.A, adjoint, at, v); err != nil {
								return err
							}
						}
						res, err := ends(ctx, m, p, x, solve.Config{MaxIter: 100, Diverge: 1e6}, solve.Diverged)
						if err != nil || !strings.Contains(res.Why, "iteration ") || !strings.Contains(res.Why, "NaN or infinite") {
							return fmt.Errorf("%g at %d, adjoint %t: why %q: %v", v, at, adjoint, res.Why, err)
						}
						return nil
					})
				})
			}
		}
	}
}
