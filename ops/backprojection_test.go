package ops_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(backProjectionTest[float32], backProjectionTest[float64], backProjectionTest[complex64], backProjectionTest[complex128])

func backProjectionTest[T scalar.Scalar]() operatorTest[T] {
	scan := func(o ops.ProjectorOptions, w ops.RampWindow) newOp[T] {
		return func(ctx ctxt, x space) (op[T], error) {
			l := dist.Split(0)
			if x.Replicated() {
				l = dist.Replicated
			}
			return on(x, dist.Replicated, []int{6, 7}, func(image space) (op[T], error) {
				return on(x, l, []int{len(o.Angles), 9}, func(data space) (op[T], error) {
					return ops.FilteredBackProjection[T](ctx, image, data, o, w)
				})
			})
		}
	}
	parallel := ops.ProjectorDefaults([]float64{0, 0.3, math.Pi / 4, 1.2, math.Pi / 2, 2.2, 3, -1})
	bad := func(name string, change func(o *ops.ProjectorOptions), want ...string) badCase[T] {
		o := fanScan(8)
		change(&o)
		return badCase[T]{name, func(ctx ctxt, x space, _ int) (op[T], error) { return scan(o, 0)(ctx, x) }, append(want, "filtered back-projection")}
	}
	return operatorTest[T]{
		forms: []form[T]{
			{name: "filtered back-projection", make: scan(parallel, ops.RampPlain)},
			{name: "filtered back-projection of a fan", make: scan(fanScan(8), ops.RampHann)},
		},
		ownTest:  "TestFilteredBackProjection",
		messages: []messageCase[T]{{"filtered back-projection", scan(parallel, ops.RampPlain), sentNone, 1}},
		nowhere: func(ctx ctxt) (op[T], error) {
			return ops.FilteredBackProjection[T](ctx, nil, nil, parallel, ops.RampPlain)
		},
		bad: []badCase[T]{
			bad("back-projection pixel", func(o *ops.ProjectorOptions) { o.Pixel = 0 }, "Pixel is 0"),
			bad("back-projection source", func(o *ops.ProjectorOptions) { o.Source = 3 }, "Source is 3", "outside of the image"),
			{"back-projection window", func(ctx ctxt, x space, _ int) (op[T], error) { return scan(parallel, 9)(ctx, x) }, []string{"window is 9", "filtered back-projection"}},
			{"back-projection of a split image", func(ctx ctxt, x space, _ int) (op[T], error) {
				return ops.FilteredBackProjection[T](ctx, x, x, ops.ProjectorDefaults(make([]float64, 7)), 0)
			}, []string{"image is split"}},
			{"back-projection on rank 1", func(ctx ctxt, x space, me int) (op[T], error) {
				return scan(parallel, ops.RampWindow(onRank1(me, 0, 1)))(ctx, x)
			}, []string{"rank 1"}},
		},
	}
}

// A disc has the right value, whatever the units are, where the axis is, in which order
// views come, where some are missing, and how views are split.
func TestFilteredBackProjection(t *testing.T) {
	const views = 120
	o := ops.ProjectorOptions{Angles: make([]float64, views), Pixel: 0.2, Spacing: 0.15, Shift: 0.07}
	for i := range o.Angles {
		o.Angles[(7*i)%views] = math.Pi * (float64(i)/views - 3)
	}
	uneven, fan := o, o
	uneven.Angles = append([]float64{}, o.Angles...)
	for i := range uneven.Angles {
		uneven.Angles[i] += 0.01 * math.Sin(4*uneven.Angles[i])
	}
	fan.Source, fan.Detector = 20, 10
	fan.Angles = fanScan(views).Angles
	for name, c := range map[string]struct {
		o   ops.ProjectorOptions
		tol float64
	}{"parallel": {o, 0.01}, "uneven": {uneven, 0.01}, "fan": {fan, 0.02}} {
		for _, ranks := range []int{1, 2, 3, 7} {
			err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
				return errors.Join(findsDisc[float64](ctx, r, c.o, c.tol), findsDisc[float32](ctx, r, c.o, c.tol))
			})
			if err != nil {
				t.Errorf("%s, %d ranks: %v", name, ranks, err)
			}
		}
	}
}

// findsDisc compares the image of a disc off the origin, whose projections are known, with
// the disc.
func findsDisc[T scalar.Scalar](ctx context.Context, r dist.Proc, o ops.ProjectorOptions, tol float64) error {
	const radius, value, x0, y0, n, detectors = 2.6, 0.7, 0.8, -0.5, 48, 90
	image, err := dist.NewSpace(ctx, r, dist.Replicated, n, n)
	if err != nil {
		return err
	}
	counts := make([]int, r.Size())
	counts[0] = 1
	counts[r.Size()-1] += len(o.Angles) - 1 // a rank between has none
	views, err := image.Like(dist.Layout{Counts: [][]int{counts}}, len(o.Angles), detectors)
	if err != nil {
		return err
	}
	y, err := dist.FromFunc(ctx, views, func(i []int) T {
		sin, cos := math.Sincos(o.Angles[i[0]])
		s := (float64(i[1])-float64(detectors-1)/2)*o.Spacing + o.Shift
		px, py := s*cos-o.Detector*sin, s*sin+o.Detector*cos // the detector
		dx, dy := sin, -cos
		if o.Source > 0 {
			dx, dy = o.Source*sin-px, -o.Source*cos-py
		}
		off := ((x0-px)*dy - (y0-py)*dx) / math.Hypot(dx, dy) // of the middle of the disc from the ray
		return scalar.From[T](complex(2*value*math.Sqrt(max(0, radius*radius-off*off)), 0))
	})
	if err != nil {
		return err
	}
	a, err := ops.FilteredBackProjection[T](ctx, image, views, o, ops.RampPlain)
	if err != nil {
		return err
	}
	x, err := linop.Apply(ctx, a, y)
	if err != nil {
		return err
	}
	v, err := gather(ctx, x)
	if err != nil {
		return err
	}
	var mean, outside, points, rest float64
	for i, v := range v {
		px, py := (float64(i%n)-float64(n-1)/2)*o.Pixel, (float64(n-1)/2-float64(i/n))*o.Pixel
		v := real(scalar.Complex(v))
		switch d := math.Hypot(px-x0, py-y0); {
		case d < 0.8*radius:
			points, mean = points+1, mean+v
		case d > 1.2*radius && math.Hypot(px, py) < float64(n)/2*o.Pixel:
			rest, outside = rest+1, outside+math.Abs(v)
		}
	}
	mean, outside = mean/points, outside/rest
	if math.Abs(mean-value) > tol*value || outside > 0.05*value {
		return fmt.Errorf("the disc of %v has %g, want %g, and around it there is %g", scalar.Of[T](), mean, value, outside)
	}
	return nil
}

func BenchmarkFilteredBackProjection(b *testing.B) {
	reads := func(x, _, elem int) (forward, adjoint int) { return 180 * x, 180 * x }
	onTypes(b, reads, benchBackProjection[float32], benchBackProjection[float64])
}

func benchBackProjection[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	o := fanScan(184).Parallel()
	return on(x, dist.Replicated, []int{256, 256}, func(image space) (op[T], error) {
		return on(x, dist.Split(0), []int{184, 256}, func(data space) (op[T], error) {
			return ops.FilteredBackProjection[T](ctx, image, data, o, ops.RampHann)
		})
	})
}

func ExampleFilteredBackProjection() {
	// One view from above, in which only the middle column absorbs: π times the filtered
	// data.
	show([]int{1}, []float64{0, 4, 0}, func(ctx ctxt, x space) (op[float64], error) {
		return on(x, dist.Replicated, []int{1, 3}, func(image space) (op[float64], error) {
			return on(x, dist.Split(0), []int{1, 3}, func(data space) (op[float64], error) {
				return ops.FilteredBackProjection[float64](ctx, image, data, ops.ProjectorDefaults([]float64{0}), ops.RampPlain)
			})
		})
	})
	// Output: [-1.273239544735 3.14159265359 -1.273239544735]
}
