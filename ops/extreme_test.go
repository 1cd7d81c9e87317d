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
	type op = linop.Operator[float64]
	type space = *dist.Space
	same24 := func(_, _ float64) float64 { return 24 }
	for _, c := range []struct {
		name string
		make func(ctx context.Context, x space, v int) (op, error)
		want func(v, ranks float64) float64 // the size of the range; nil if any will do
	}{
		{"resize", func(ctx context.Context, x space, v int) (op, error) { return ops.Resize[float64](ctx, x, 0, v) }, func(v, _ float64) float64 { return v }},
		{"resize axis", func(ctx context.Context, x space, v int) (op, error) { return ops.Resize[float64](ctx, x, v, 3) }, nil},
		{"pad before", func(ctx context.Context, x space, v int) (op, error) {
			return ops.Pad[float64](ctx, x, []int{v}, []int{0})
		}, func(v, _ float64) float64 { return 24 + v }},
		{"pad after", func(ctx context.Context, x space, v int) (op, error) {
			return ops.Pad[float64](ctx, x, []int{0}, []int{v})
		}, func(v, _ float64) float64 { return 24 + v }},
		{"pad both", func(ctx context.Context, x space, v int) (op, error) {
			return ops.Pad[float64](ctx, x, []int{v}, []int{v})
		}, func(v, _ float64) float64 { return 24 + 2*v }},
		{"smoothing", func(ctx context.Context, x space, v int) (op, error) {
			return ops.Smoothing1D[float64](ctx, x, 0, v)
		}, same24},
		{"smoothing axis", func(ctx context.Context, x space, v int) (op, error) {
			return ops.Smoothing1D[float64](ctx, x, v, 3)
		}, nil},
		{"smoothing of very many", func(ctx context.Context, x space, v int) (op, error) {
			y, err := x.Like(dist.Layout{}, 1<<50)
			if err != nil {
				return nil, err
			}
			if v == 1<<10 {
				v = 5 // it is possible, but takes long
			}
			return ops.Smoothing1D[float64](ctx, y, 0, v)
		}, nil},
		{"roll", func(ctx context.Context, x space, v int) (op, error) { return ops.Roll[float64](ctx, x, 0, v) }, same24},
		{"roll of very many", func(ctx context.Context, x space, v int) (op, error) {
			y, err := x.Like(dist.Layout{}, math.MaxInt)
			if err != nil {
				return nil, err
			}
			return ops.Roll[float64](ctx, y, 0, v)
		}, func(_, _ float64) float64 { return math.MaxInt }},
		{"flip axis", func(ctx context.Context, x space, v int) (op, error) { return ops.Flip[float64](ctx, x, v) }, nil},
		{"symmetrize axis", func(ctx context.Context, x space, v int) (op, error) { return ops.Symmetrize[float64](ctx, x, v) }, nil},
		{"symmetrize", func(ctx context.Context, x space, v int) (op, error) {
			y, err := x.Like(dist.Layout{}, max(v, 0))
			if err != nil {
				return nil, err
			}
			return ops.Symmetrize[float64](ctx, y, 0)
		}, func(v, _ float64) float64 { return max(2*v-1, 0) }},
		{"convolve offset", func(ctx context.Context, x space, v int) (op, error) {
			return ops.Convolve1D(ctx, x, 0, []float64{1, 2, 3}, v)
		}, same24},
		{"filters from", func(ctx context.Context, x space, v int) (op, error) {
			return ops.NonStationaryConvolve1D(ctx, x, 0, [][]float64{{1, 2, 1}, {1, 3, 1}}, []int{v, 10})
		}, same24},
		{"filters to", func(ctx context.Context, x space, v int) (op, error) {
			return ops.NonStationaryConvolve1D(ctx, x, 0, [][]float64{{1, 2, 1}, {1, 3, 1}}, []int{-10, v})
		}, same24},
		{"filters far", func(ctx context.Context, x space, v int) (op, error) {
			return ops.NonStationaryConvolve1D(ctx, x, 0, [][]float64{{1, 2, 1}, {1, 3, 1}}, []int{-v, v})
		}, same24},
		{"filters of very many", func(ctx context.Context, x space, v int) (op, error) {
			y, err := x.Like(dist.Layout{}, 1<<50)
			if err != nil {
				return nil, err
			}
			return ops.NonStationaryConvolve1D(ctx, y, 0, [][]float64{{1, 2, 1}, {1, 3, 1}}, []int{0, v})
		}, nil},
		{"matrix rows", func(ctx context.Context, x space, v int) (op, error) {
			return ops.MatrixMult(ctx, x, v, []float64{})
		}, func(v, _ float64) float64 { return v }},
		{"restriction", func(ctx context.Context, x space, v int) (op, error) {
			return ops.Restriction[float64](ctx, x, 0, []int{0, v})
		}, func(_, _ float64) float64 { return 2 }},
		{"transpose", func(ctx context.Context, x space, v int) (op, error) { return ops.Transpose[float64](ctx, x, v) }, same24},
		{"sum axis", func(ctx context.Context, x space, v int) (op, error) { return ops.Sum[float64](ctx, x, v) }, nil},
		{"derivative axis", func(ctx context.Context, x space, v int) (op, error) {
			return ops.FirstDerivative[float64](ctx, x, v, ops.DerivativeDefaults())
		}, nil},
		{"derivative kind", func(ctx context.Context, x space, v int) (op, error) {
			return ops.FirstDerivative[float64](ctx, x, 0, ops.DerivativeOptions{Sampling: 1, Kind: ops.DerivativeKind(v)})
		}, same24},
		{"laplacian axis", func(ctx context.Context, x space, v int) (op, error) {
			return ops.Laplacian[float64](ctx, x, ops.LaplacianOptions{Axes: []int{v}})
		}, nil},
		{"gradient kind", func(ctx context.Context, x space, v int) (op, error) {
			return ops.Gradient[float64](ctx, x, ops.GradientOptions{Kind: ops.DerivativeKind(v)})
		}, nil},
		{"integration axis", func(ctx context.Context, x space, v int) (op, error) {
			return ops.CausalIntegration[float64](ctx, x, v, ops.IntegrationDefaults())
		}, nil},
		{"integration of very many", func(ctx context.Context, x space, v int) (op, error) {
			y, err := x.Like(dist.Layout{}, max(v, 0))
			if err != nil {
				return nil, err
			}
			return ops.CausalIntegration[float64](ctx, y, 0, ops.IntegrationDefaults())
		}, func(v, _ float64) float64 { return max(v, 0) }},
		{"regression order", func(ctx context.Context, x space, v int) (op, error) {
			return ops.Regression[float64](ctx, x, make([]float64, 24), v)
		}, same24},
		{"regression of nothing", func(ctx context.Context, x space, v int) (op, error) {
			y, err := x.Like(dist.Layout{}, 0)
			if err != nil {
				return nil, err
			}
			return ops.Regression[float64](ctx, y, nil, v)
		}, func(_, _ float64) float64 { return 0 }},
		{"spread traces", spreadOf(func(v int) (int, int) { return v, 3 }), func(v, _ float64) float64 { return 3 * v }},
		{"spread samples", spreadOf(func(v int) (int, int) { return 3, v }), func(v, _ float64) float64 { return 3 * v }},
		{"spread both", spreadOf(func(v int) (int, int) { return v, v }), func(v, _ float64) float64 { return v * v }},
		{"spread nothing", spreadOf(func(v int) (int, int) { return v, 0 }), func(_, _ float64) float64 { return 0 }},
		{"spread far", func(ctx context.Context, x space, v int) (op, error) {
			m, err := x.Like(dist.Split(0), 4, 3)
			if err != nil {
				return nil, err
			}
			return ops.Spread[float64](ctx, m, 3, 7, func(int, int, int) (int, float64, bool) { return v, 0.5, true })
		}, func(_, _ float64) float64 { return 21 }},
		{"halo front", func(ctx context.Context, x space, v int) (op, error) {
			return ops.Halo[float64](ctx, x, ops.HaloOptions{Front: []int{v}})
		}, nil},
		{"halo back", func(ctx context.Context, x space, v int) (op, error) {
			return ops.Halo[float64](ctx, x, ops.HaloOptions{Back: []int{v}})
		}, nil},
		{"halo front beyond", func(ctx context.Context, x space, v int) (op, error) {
			return ops.Halo[float64](ctx, x, ops.HaloOptions{Front: []int{v}, Edges: true})
		}, func(v, ranks float64) float64 { return 24 + ranks*v }},
		{"halo beyond", func(ctx context.Context, x space, v int) (op, error) {
			return ops.Halo[float64](ctx, x, ops.HaloOptions{Front: []int{v}, Back: []int{v}, Edges: true})
		}, func(v, ranks float64) float64 { return 24 + 2*ranks*v }},
		{"power", func(ctx context.Context, x space, v int) (op, error) {
			i, err := ops.Identity[float64](x)
			if err != nil {
				return nil, err
			}
			return linop.Power(i, min(v, 5))
		}, same24},
		{"stacks", func(ctx context.Context, x space, v int) (op, error) {
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
		{"stacked", func(ctx context.Context, x space, v int) (op, error) {
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
	} {
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
}

func spreadOf(size func(v int) (nx, nt int)) func(context.Context, *dist.Space, int) (linop.Operator[float64], error) {
	return func(ctx context.Context, x *dist.Space, v int) (linop.Operator[float64], error) {
		m, err := x.Like(dist.Split(0), 2, 1)
		if err != nil {
			return nil, err
		}
		nx, nt := size(v)
		return ops.Spread[float64](ctx, m, nx, nt, func(x0, t0, ix int) (int, float64, bool) { return t0, 0.25, ix < 5 })
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
