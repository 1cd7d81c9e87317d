package ops_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/ops"
)

// Bad input, on all ranks or on rank 1 only, is an error on every rank that says
// what is wrong. A rank that went on alone would wait for ever.
func TestBadInput(t *testing.T) {
	type maker func(ctx context.Context, x *dist.Space, me int) error
	second := func(me, good, bad int) int {
		if me == 1 {
			return bad
		}
		return good
	}
	drop := func(_ any, err error) error { return err }
	for name, c := range map[string]struct {
		make maker
		want []string
	}{
		"axis": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.FirstDerivative[float64](ctx, x, 2, ops.DerivativeDefaults()))
		}, []string{"first derivative", "axis 2", "[7 5]"}},
		"axis on one rank": {func(ctx context.Context, x *dist.Space, me int) error {
			return drop(ops.Flip[float32](ctx, x, second(me, 0, -3)))
		}, []string{"rank 1", "flip", "axis -3"}},
		"another axis on one rank": {func(ctx context.Context, x *dist.Space, me int) error {
			return drop(ops.Flip[float32](ctx, x, second(me, 0, 1)))
		}, []string{"ranks disagree", "rank 1", "axis 1"}},
		"NaN sampling": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.SecondDerivative[float64](ctx, x, 0, ops.DerivativeOptions{Sampling: math.NaN()}))
		}, []string{"second derivative", "sampling is NaN"}},
		"negative sampling": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.Gradient[float64](ctx, x, ops.GradientOptions{Samplings: []float64{1, -2}}))
		}, []string{"gradient", "axis 1", "sampling is -2"}},
		"sampling on one rank": {func(ctx context.Context, x *dist.Space, me int) error {
			return drop(ops.FirstDerivative[float64](ctx, x, 0, ops.DerivativeOptions{Sampling: float64(second(me, 1, 2))}))
		}, []string{"ranks disagree", "rank 1"}},
		"sampling and kind": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.FirstDerivative[float64](ctx, x, 0, ops.DerivativeOptions{Kind: 9}))
		}, []string{"sampling is 0: give the distance between samples", "kind is 9"}},
		"five points of a second derivative": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.SecondDerivative[float64](ctx, x, 0, ops.DerivativeOptions{Sampling: 1, Kind: ops.DerivativeCentered5}))
		}, []string{"the kind is DerivativeCentered5"}},
		"edge of a short axis": {func(ctx context.Context, x *dist.Space, _ int) error {
			y, err := x.Like(dist.Split(0), 1, 2)
			return errors.Join(err, drop(ops.FirstDerivative[float64](ctx, y, 0, ops.DerivativeOptions{Sampling: 1, Edge: true})))
		}, []string{"at least 2 samples", "has 1"}},
		"edge of a forward derivative": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.FirstDerivative[float64](ctx, x, 0, ops.DerivativeOptions{Sampling: 1, Kind: ops.DerivativeForward, Edge: true}))
		}, []string{"Edge is set", "the kind is forward"}},
		"edge of a backward laplacian": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.Laplacian[float64](ctx, x, ops.LaplacianOptions{Kind: ops.DerivativeBackward, Edge: true}))
		}, []string{"Edge is set", "the kind is backward"}},
		"no sampling of a gradient": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.Gradient[float64](ctx, x, ops.GradientOptions{Samplings: []float64{1, 0}}))
		}, []string{"gradient", "axis 1", "sampling is 0: give the distance"}},
		"no sampling of an integral": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.CausalIntegration[float64](ctx, x, 0, ops.IntegrationOptions{}))
		}, []string{"causal integration", "sampling is 0: give the distance"}},
		"laplacian weights": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.Laplacian[float64](ctx, x, ops.LaplacianOptions{Weights: []float64{1}}))
		}, []string{"laplacian", "1 weights", "2 axes"}},
		"NaN weight": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.Laplacian[float64](ctx, x, ops.LaplacianOptions{Weights: []float64{1, math.NaN()}}))
		}, []string{"laplacian", "weight 1 is NaN"}},
		"NaN sampling of a laplacian": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.Laplacian[float64](ctx, x, ops.LaplacianOptions{Samplings: []float64{math.NaN(), 1}}))
		}, []string{"laplacian", "sampling is NaN"}},
		"filter": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.Convolve1D(ctx, x, 0, []float64{1, 2}, 2))
		}, []string{"convolve", "offset is 2", "0 to 1"}},
		"no filter": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.Convolve1D(ctx, x, 0, []float64{}, 0))
		}, []string{"no samples"}},
		"filters": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.NonStationaryConvolve1D(ctx, x, 0, [][]float64{{1, 2}}, []int{0}))
		}, []string{"2 samples", "odd"}},
		"places of filters": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.NonStationaryConvolve1D(ctx, x, 0, [][]float64{{1}, {1}, {1}}, []int{0, 1, 5}))
		}, []string{"equal steps"}},
		"smoothing": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.Smoothing1D[float64](ctx, x, 0, 0))
		}, []string{"smoothing", "length 0"}},
		"restriction": {func(ctx context.Context, x *dist.Space, me int) error {
			return drop(ops.Restriction[float64](ctx, x, 0, []int{0, second(me, 3, 7)}))
		}, []string{"rank 1", "index 1 is 7", "0 to 6"}},
		"negative extent": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.Resize[float64](ctx, x, 0, -1))
		}, []string{"resize", "-1"}},
		"padding": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.Pad[float64](ctx, x, []int{0, -1}, []int{0, 0}))
		}, []string{"pad", "-1", "axis 1"}},
		"transpose": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.Transpose[float64](ctx, x, 1, 1))
		}, []string{"[1 1]", "twice"}},
		"matrix": {func(ctx context.Context, x *dist.Space, me int) error {
			return drop(ops.MatrixMult(ctx, x, 3, make([]float64, second(me, 7, 8))))
		}, []string{"rank 1", "8 numbers", "1 × 7"}},
		"whole matrix": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.MatrixMult(ctx, x, 3, make([]float64, 3*7)))
		}, []string{"21 numbers", "1 × 7", "all 3 rows", "give this rank's rows, 7 numbers"}},
		"part of a matrix": {func(ctx context.Context, x *dist.Space, _ int) error {
			y, err := x.Like(dist.Replicated, 7, 5)
			return errors.Join(err, drop(ops.MatrixMult(ctx, y, 3, make([]float64, 7))))
		}, []string{"7 numbers", "1 of 3 rows", "give all rows, 21 numbers"}},
		"part of a diagonal": {func(ctx context.Context, x *dist.Space, _ int) error {
			n := x.LocalShape().Dim(0)
			return drop(ops.DiagonalAlong(ctx, x, 0, make([]float64, n)))
		}, []string{"for axis 0 of [7 5], must be 7", "give those of all ranks"}},
		"part of a regression": {func(ctx context.Context, x *dist.Space, _ int) error {
			y, err := x.Like(dist.Split(0), 7)
			return errors.Join(err, drop(ops.Regression[float64](ctx, y, make([]float64, y.LocalShape().Size()), 2)))
		}, []string{"of shape [7], must be 7", "give those of all ranks"}},
		"diagonal": {func(ctx context.Context, x *dist.Space, me int) error {
			return drop(ops.DiagonalAlong(ctx, x, 1, make([]float64, second(me, 5, 4))))
		}, []string{"rank 1", "4 numbers", "axis 1"}},
		"integration": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.CausalIntegration[float64](ctx, x, 0, ops.IntegrationOptions{Rule: 7, Sampling: math.Inf(1)}))
		}, []string{"rule is 7", "sampling is +Inf"}},
		"regression": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.Regression[float64](ctx, x, make([]float64, 7), 2))
		}, []string{"regression", "7 samples", "[7 5]"}},
		"NaN sample of a regression": {func(ctx context.Context, x *dist.Space, _ int) error {
			y, err := x.Like(dist.Split(0), 2)
			return errors.Join(err, drop(ops.LinearRegression[float64](ctx, y, []float64{0, math.NaN()})))
		}, []string{"regression", "sample 1 is at NaN"}},
		"spread": {func(ctx context.Context, x *dist.Space, _ int) error {
			return drop(ops.Spread[float64](ctx, x, 3, -4, func(_, _, _ int) (int, float64, bool) { return 0, 0, true }))
		}, []string{"spread", "-4"}},
		"halo": {func(ctx context.Context, x *dist.Space, me int) error {
			return drop(ops.Halo[float64](ctx, x, ops.HaloOptions{Front: []int{second(me, 1, -1), 0}}))
		}, []string{"rank 1", "halo", "-1"}},
		"halo that differs": {func(ctx context.Context, x *dist.Space, me int) error {
			return drop(ops.Halo[float64](ctx, x, ops.HaloOptions{Front: []int{second(me, 1, 2), 0}}))
		}, []string{"ranks disagree", "rank 1"}},
		"a stack": {func(ctx context.Context, x *dist.Space, _ int) error {
			s, err := dist.Stack(x, x)
			return errors.Join(err, drop(ops.Flip[float64](ctx, s, 0)))
		}, []string{"stack"}},
		"no space": {func(ctx context.Context, _ *dist.Space, _ int) error {
			return drop(ops.Roll[float64](ctx, nil, 0, 1))
		}, []string{"no space"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := testdevices.Local(t.Context(), 3, func(ctx context.Context, r dist.Proc) error {
				x, err := dist.NewSpace(ctx, r, dist.Layout{}, 7, 5)
				if err != nil {
					return err
				}
				err = c.make(ctx, x, r.Rank())
				if err == nil {
					t.Errorf("rank %d: got no error", r.Rank())
					return nil
				}
				text := fmt.Sprintf("rank %d: %v", r.Rank(), err) // a rank's own error need not name it
				for _, w := range c.want {
					if !strings.Contains(text, w) {
						t.Errorf("rank %d: error %q does not say %q", r.Rank(), err, w)
					}
				}
				return r.Barrier(ctx) // nobody is left behind
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// Every operator refuses a space that is missing, and every one along an axis an
// axis that is, also if that is so on one rank only.
func TestNoSpaceNoAxis(t *testing.T) {
	type space = *dist.Space
	drop := func(_ any, err error) error { return err }
	table := func(_, _, _ int) (int, float64, bool) { return 0, 0, true }
	never := -1 // of operators without an axis to choose
	for name, c := range map[string]struct {
		make func(ctx context.Context, x space, axis int) error
		good int // an axis that exists
	}{
		"identity": {func(_ context.Context, x space, _ int) error { return drop(ops.Identity[float64](x)) }, never},
		"zero":     {func(_ context.Context, x space, _ int) error { return drop(ops.Zero[float64, float64](x, x)) }, never},
		"real":     {func(_ context.Context, x space, _ int) error { return drop(ops.Real[complex64, float32](x)) }, never},
		"imag":     {func(_ context.Context, x space, _ int) error { return drop(ops.Imag[complex64, float32](x)) }, never},
		"diagonal": {func(_ context.Context, _ space, _ int) error { return drop(ops.Diagonal(dist.Array[float64]{})) }, never},
		"matrix": {func(ctx context.Context, x space, _ int) error {
			return drop(ops.MatrixMult[float64](ctx, x, 1, nil))
		}, never},
		"pad": {func(ctx context.Context, x space, _ int) error { return drop(ops.Pad[float64](ctx, x, nil, nil)) }, never},
		"spread": {func(ctx context.Context, x space, _ int) error {
			return drop(ops.Spread[float64](ctx, x, 1, 1, table))
		}, never},
		"regression": {func(ctx context.Context, x space, _ int) error {
			return drop(ops.Regression[float64](ctx, x, nil, 1))
		}, never},
		"linear regression": {func(ctx context.Context, x space, _ int) error {
			return drop(ops.LinearRegression[float64](ctx, x, nil))
		}, never},
		"gradient": {func(ctx context.Context, x space, _ int) error {
			return drop(ops.Gradient[float64](ctx, x, ops.GradientOptions{}))
		}, never},
		"halo": {func(ctx context.Context, x space, _ int) error {
			return drop(ops.Halo[float64](ctx, x, ops.HaloOptions{}))
		}, never},
		"resize": {func(ctx context.Context, x space, axis int) error {
			return drop(ops.Resize[float64](ctx, x, axis, 2))
		}, 1},
		"diagonal along": {func(ctx context.Context, x space, axis int) error {
			return drop(ops.DiagonalAlong(ctx, x, axis, make([]float64, 5)))
		}, 1},
		"restriction": {func(ctx context.Context, x space, axis int) error {
			return drop(ops.Restriction[float64](ctx, x, axis, []int{0}))
		}, 1},
		"transpose": {func(ctx context.Context, x space, axis int) error {
			return drop(ops.Transpose[float64](ctx, x, axis, 0))
		}, 1},
		"flip": {func(ctx context.Context, x space, axis int) error { return drop(ops.Flip[float64](ctx, x, axis)) }, 1},
		"roll": {func(ctx context.Context, x space, axis int) error { return drop(ops.Roll[float64](ctx, x, axis, 1)) }, 1},
		"symmetrize": {func(ctx context.Context, x space, axis int) error {
			return drop(ops.Symmetrize[float64](ctx, x, axis))
		}, 1},
		"sum": {func(ctx context.Context, x space, axis int) error { return drop(ops.Sum[float64](ctx, x, axis)) }, 1},
		"convolve": {func(ctx context.Context, x space, axis int) error {
			return drop(ops.Convolve1D(ctx, x, axis, []float64{1}, 0))
		}, 1},
		"non-stationary": {func(ctx context.Context, x space, axis int) error {
			return drop(ops.NonStationaryConvolve1D(ctx, x, axis, [][]float64{{1}}, []int{0}))
		}, 1},
		"smoothing": {func(ctx context.Context, x space, axis int) error {
			return drop(ops.Smoothing1D[float64](ctx, x, axis, 3))
		}, 1},
		"smoothing 2d": {func(ctx context.Context, x space, axis int) error {
			return drop(ops.Smoothing2D[float64](ctx, x, [2]int{0, axis}, [2]int{3, 3}))
		}, 1},
		"integration": {func(ctx context.Context, x space, axis int) error {
			return drop(ops.CausalIntegration[float64](ctx, x, axis, ops.IntegrationDefaults()))
		}, 1},
		"first": {func(ctx context.Context, x space, axis int) error {
			return drop(ops.FirstDerivative[float64](ctx, x, axis, ops.DerivativeDefaults()))
		}, 1},
		"second": {func(ctx context.Context, x space, axis int) error {
			return drop(ops.SecondDerivative[float64](ctx, x, axis, ops.DerivativeDefaults()))
		}, 1},
		"laplacian": {func(ctx context.Context, x space, axis int) error {
			return drop(ops.Laplacian[float64](ctx, x, ops.LaplacianOptions{Axes: []int{0, axis}}))
		}, 1},
	} {
		err := testdevices.Local(t.Context(), 3, func(ctx context.Context, r dist.Proc) error {
			x, err := dist.NewSpace(ctx, r, dist.Layout{}, 7, 5)
			if err != nil {
				return err
			}
			if c.make(ctx, nil, 0) == nil {
				return errors.New("got no error without a space")
			}
			if c.good == never {
				return nil
			}
			if err := c.make(ctx, x, c.good); err != nil {
				return fmt.Errorf("an axis that exists: %w", err)
			}
			for _, axis := range [][]int{{9, 9, 9}, {c.good, -7, c.good}} { // of each rank
				if c.make(ctx, x, axis[r.Rank()]) == nil {
					return fmt.Errorf("got no error for axis %v", axis)
				}
			}
			return r.Barrier(ctx)
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
