package ops_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(fanTest[float32], fanTest[float64], fanTest[complex64], fanTest[complex128])

// fanScan is views in even steps over a whole turn.
func fanScan(views int) ops.ProjectorOptions {
	o := ops.ProjectorOptions{Angles: make([]float64, views), Pixel: 1, Spacing: 1.5, Shift: 0.3, Source: 12, Detector: 4}
	for i := range o.Angles {
		o.Angles[i] = 2 * math.Pi * float64(i) / float64(views)
	}
	return o
}

func fanTest[T scalar.Scalar]() operatorTest[T] {
	sorted := func(o ops.ProjectorOptions, dims ...int) newOp[T] {
		return func(ctx ctxt, x space) (op[T], error) {
			l := dist.Split(0)
			if x.Replicated() {
				l = dist.Replicated
			}
			return on(x, l, dims, func(y space) (op[T], error) { return ops.FanToParallel[T](ctx, y, o) })
		}
	}
	bad := func(name string, change func(o *ops.ProjectorOptions), want ...string) badCase[T] {
		o := fanScan(7)
		change(&o)
		return badCase[T]{name, func(ctx ctxt, x space, _ int) (op[T], error) { return sorted(o, 7, 5)(ctx, x) }, want}
	}
	near := fanScan(8)
	near.Source, near.Shift = 2, -2 // beyond which there are rays
	return operatorTest[T]{
		forms: []form[T]{
			{"fan to parallel", sorted(fanScan(8), 8, 9), sortedRay[T](fanScan(8))},
			{"fan to parallel, near", sorted(near, 8, 6), sortedRay[T](near)},
			{"fan to parallel, one view", sorted(fanScan(1), 1, 1), sortedRay[T](fanScan(1))},
		},
		nowhere: func(ctx ctxt) (op[T], error) { return ops.FanToParallel[T](ctx, nil, fanScan(8)) },
		bad: []badCase[T]{
			bad("fan of parallel rays", func(o *ops.ProjectorOptions) { o.Source, o.Detector = 0, 0 }, "Source is 0", "parallel already"),
			bad("fan source", func(o *ops.ProjectorOptions) { o.Source = math.NaN() }, "Source is NaN"),
			bad("fan spacing", func(o *ops.ProjectorOptions) { o.Spacing = -1 }, "Spacing is -1"),
			bad("fan angles", func(o *ops.ProjectorOptions) { o.Angles = o.Angles[:4] }, "4 angles for 7 views"),
			bad("fan angle", func(o *ops.ProjectorOptions) { o.Angles[3] = math.Inf(1) }, "angle 3 is +Inf"),
			{"fan without detectors", func(ctx ctxt, x space, _ int) (op[T], error) {
				return sorted(fanScan(7), 7, 0)(ctx, x)
			}, []string{"[7 0]", "nothing"}},
			{"fan of split detectors", func(ctx ctxt, x space, _ int) (op[T], error) {
				return on(x, dist.Split(1), []int{8, 9}, func(y space) (op[T], error) { return ops.FanToParallel[T](ctx, y, fanScan(8)) })
			}, []string{"split along detectors"}},
		},
	}
}

// sortedRay is a parallel ray, written down plainly for a fan over a whole turn.
func sortedRay[T scalar.Scalar](o ops.ProjectorOptions) func(x func(i ...int) T, dims, i []int) T {
	return func(x func(i ...int) T, dims, i []int) T {
		views, detectors := dims[0], dims[1]
		s := (float64(i[1]) - float64(detectors-1)/2) * o.Spacing * o.Source / (o.Source + o.Detector)
		angle := math.Pi * float64(i[0]) / float64(views)
		for range 2 {
			gamma := math.Asin(s / o.Source)
			d := (math.Tan(gamma)*(o.Source+o.Detector)-o.Shift)/o.Spacing + float64(detectors-1)/2
			if d >= 0 && d <= float64(detectors-1) {
				view := (angle + gamma) / (2 * math.Pi) * float64(views)
				at := func(v, d float64) T {
					return x(((int(v)%views)+views)%views, min(int(d), detectors-1))
				}
				part := func(w float64, x T) T { return scalar.From[T](complex(w, 0)) * x }
				v, w, c := math.Floor(view), view-math.Floor(view), d-math.Floor(d)
				return part((1-w)*(1-c), at(v, d)) + part((1-w)*c, at(v, d+1)) + part(w*(1-c), at(v+1, d)) + part(w*c, at(v+1, d+1))
			}
			angle, s = angle+math.Pi, -s
		}
		return 0
	}
}

// Sorted rays of a fan are the projections along parallel rays, where views cover a whole
// turn, and where they cover half a turn and the angle of the fan. Views are split
// unevenly.
func TestFanToParallel(t *testing.T) {
	for name, turn := range map[string]float64{"whole turn": 2 * math.Pi, "short scan": math.Pi + 2*math.Atan(50./150)} {
		o := ops.ProjectorOptions{Angles: make([]float64, 180), Pixel: 1, Spacing: 1, Shift: 0.3, Source: 90, Detector: 60}
		for i := range o.Angles {
			o.Angles[(7*i)%180] = turn * float64(i) / 180 // in any order
		}
		for _, ranks := range []int{1, 2, 3, 7} {
			err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error { return sortsLikeProjector(ctx, r, o) })
			if err != nil {
				t.Errorf("%s, %d ranks: %v", name, ranks, err)
			}
		}
	}
}

func sortsLikeProjector(ctx context.Context, r dist.Proc, o ops.ProjectorOptions) error {
	x, err := dist.NewSpace(ctx, r, dist.Replicated, 40, 40)
	if err != nil {
		return err
	}
	blob, err := dist.FromFunc(ctx, x, func(i []int) float64 {
		return math.Exp(-(math.Pow(float64(i[0])-25, 2) + math.Pow(float64(i[1])-16, 2)) / 18)
	})
	if err != nil {
		return err
	}
	counts := make([]int, r.Size())
	counts[0] = 1
	counts[r.Size()-1] += 179
	y, err := x.Like(dist.Layout{Counts: [][]int{counts}}, 180, 90)
	if err != nil {
		return err
	}
	fan, err := ops.Projector[float64](ctx, x, y, o)
	if err != nil {
		return err
	}
	parallel, err := ops.Projector[float64](ctx, x, y, o.Parallel())
	if err != nil {
		return err
	}
	sort, err := ops.FanToParallel[float64](ctx, y, o)
	if err != nil {
		return err
	}
	sorted, err := linop.Compose(sort, fan)
	if err != nil {
		return err
	}
	off, err := linop.Sub(sorted, parallel)
	if err != nil {
		return err
	}
	var size [2]float64
	for i, a := range []linop.Operator[float64]{off, parallel} {
		y, err := linop.Apply(ctx, a, blob)
		if err != nil {
			return err
		}
		if size[i], err = dist.Norm(ctx, y, 2); err != nil {
			return err
		}
	}
	if !(size[0] < 0.02*size[1]) {
		return fmt.Errorf("they differ by %g of %g", size[0], size[1])
	}
	return nil
}

func BenchmarkFanToParallel(b *testing.B) {
	onTypes(b, plain, benchFanToParallel[float32], benchFanToParallel[float64])
}

func benchFanToParallel[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	o := fanScan(x.Shape().Dim(0))
	o.Source, o.Detector = 1000, 500
	return ops.FanToParallel[T](ctx, x, o)
}

func ExampleFanToParallel() {
	// The ray through the origin of the view at 0° is parallel already. That of the view
	// at 90° lies between both views.
	o := ops.ProjectorOptions{Angles: []float64{0, 2}, Pixel: 1, Spacing: 1, Source: 10, Detector: 10}
	o.Angles[1] = math.Pi
	show([]int{2, 1}, []float64{4, 8}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.FanToParallel[float64](ctx, x, o)
	})
	// Output: [4 6]
}
