package ops

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// ProjectorOptions say where the rays of a tomograph are. All lengths have the same
// unit. The origin is the middle of the image, x points along its rows and y against
// its columns. In the view of angle θ the detectors lie on a line in the direction
// (cos θ, sin θ).
type ProjectorOptions struct {
	Angles   []float64 // of all views, in radians
	Pixel    float64   // side of a pixel
	Spacing  float64   // between the middles of two detectors
	Shift    float64   // of the detectors along their line; 0 if the origin is in front of their middle
	Source   float64   // from the origin to the source; 0 means parallel rays
	Detector float64   // from the origin to the line of detectors, away from the source
}

// ProjectorDefaults returns parallel rays, one pixel apart. Lengths are in pixels.
func ProjectorDefaults(angles []float64) ProjectorOptions {
	return ProjectorOptions{Angles: angles, Pixel: 1, Spacing: 1}
}

// Projector integrates an image of two axes along straight rays. y has two axes,
// views × detectors:
//
//	y[v, d] = ∫ x(source + t·direction) dt
//
// by Joseph's method: a ray visits row after row, or column after column if it is
// nearer to a row, and takes the image there, linear between two pixels. Rays are
// parallel, or a fan from one source to a flat detector.
//
// The image is replicated and y may be split by views. Forward sends nothing. The
// adjoint, which is back-projection without a filter, adds the image up over ranks.
//
// Source: Joseph, An improved algorithm for reprojecting rays through pixel images,
// 1982.
func Projector[T scalar.Scalar](ctx context.Context, x, y *dist.Space, o ProjectorOptions) (linop.Operator[T], error) {
	const name = "ops: projector"
	if x == nil || y == nil {
		return nil, errors.New(name + ": no space given: it needs one of the image and one of the data")
	}
	if err := agreeOnRays(ctx, name, x, y, o); err != nil {
		return nil, err
	}
	group, err := y.AxisGroup(ctx, 0)
	if err != nil {
		return nil, err
	}
	b := y.Box(y.Comm().Rank())
	rays := o.rays(x.Shape().Dim(0), x.Shape().Dim(1), o.Angles[b.Lo[0]:b.Hi[0]], y.Shape().Dim(1))
	return linop.Func(name, x, y, func(_ context.Context, dst, src dist.Array[T]) error {
		return array.Project(dst.Local(), src.Local(), rays)
	}, func(ctx context.Context, dst, src dist.Array[T]) error {
		if err := array.BackProject(dst.Local(), src.Local(), rays); err != nil {
			return err
		}
		return dist.SumOver(ctx, group, dst.Local(), dist.LabelAdjoint)
	})
}

// agreeOnRays reports what is wrong with rays through an image x to data y.
func agreeOnRays(ctx context.Context, name string, x, y *dist.Space, o ProjectorOptions) error {
	err := errors.Join(checkImage(x, y), checkViews(y, len(o.Angles)), o.validate(x.Shape().Dims()))
	return dist.Agree(ctx, x.Comm(), name, err, x.Shape(), " ", y.Shape(), " ", o)
}

// checkImage reports an image that rays cannot cross.
func checkImage(x, y *dist.Space) error {
	switch {
	case x.Comm() != y.Comm() || x.Device() != y.Device():
		return errors.New("the image and the data are on different ranks or devices")
	case x.Parts() != nil || x.Shape().NDim() != 2:
		return fmt.Errorf("the image has shape %v: need two axes", x.Shape())
	case !x.Replicated():
		return errors.New("the image is split: give one that every rank holds whole (dist.Replicated)")
	}
	return nil
}

// checkViews reports data that are not views × detectors, each view whole on its rank.
func checkViews(y *dist.Space, angles int) error {
	switch {
	case y.Parts() != nil || y.Shape().NDim() != 2:
		return fmt.Errorf("the data have shape %v: need views and detectors", y.Shape())
	case y.Shape().Dim(0) != angles:
		return fmt.Errorf("%d angles for %d views", angles, y.Shape().Dim(0))
	}
	if g, _ := y.SplitBy(1); g != dist.NoAxis {
		return errors.New("the data are split along detectors: split them by views, or not at all")
	}
	return nil
}

// validate reports every fault of the geometry for an image of these dimensions, nil if
// there is none.
func (o ProjectorOptions) validate(image []int) error {
	var errs []error
	want := func(name string, v float64, ok bool, what string) {
		if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
			errs = append(errs, fmt.Errorf("%s is %g, must be %s", name, v, what))
		}
	}
	want("Pixel", o.Pixel, o.Pixel > 0, "a positive length")
	want("Spacing", o.Spacing, o.Spacing > 0, "a positive length")
	want("Shift", o.Shift, true, "a length")
	want("Source", o.Source, o.Source >= 0, "a length, or 0 for parallel rays")
	want("Detector", o.Detector, o.Detector >= 0, "a length")
	for i, a := range o.Angles {
		if math.IsNaN(a) || math.IsInf(a, 0) {
			errs = append(errs, fmt.Errorf("angle %d is %g, must be a number", i, a))
			break
		}
	}
	want("Detector", o.Detector, o.Source != 0 || o.Detector == 0, "0, because Source is 0: rays are parallel")
	if len(image) == 2 {
		half := o.Pixel * (math.Hypot(float64(image[0]), float64(image[1]))/2 + 1)
		want("Source", o.Source, o.Source == 0 || o.Source > half, fmt.Sprintf("outside of the image, beyond %g", half))
	}
	return errors.Join(errs...)
}

// point is a place or a direction: row and column.
type point [2]float64

// rays returns the rays of some views through an image of rows × cols pixels.
func (o ProjectorOptions) rays(rows, cols int, angles []float64, detectors int) *device.Rays {
	r := &device.Rays{Rows: rows, Cols: cols, Views: len(angles), Detectors: detectors}
	first := o.Shift/o.Pixel - float64(detectors-1)/2*o.Spacing/o.Pixel
	for view, angle := range angles {
		sin, cos := math.Sincos(angle)
		middle := point{float64(rows-1) / 2, float64(cols-1) / 2}
		along := point{-sin, cos} // in the direction of detectors
		across := point{cos, sin} // of parallel rays, or from the detectors to the source
		f := fan{
			source:   middle.plus(o.Source/o.Pixel, across),
			detector: middle.plus(-o.Detector/o.Pixel, across).plus(first, along),
			step:     point{}.plus(o.Spacing/o.Pixel, along), across: across, parallel: o.Source == 0,
		}
		for d := 0; d < detectors; {
			lo, columns := d, f.alongRows(d)
			for d < detectors && f.alongRows(d) == columns {
				d++
			}
			b := f.bundle(columns)
			b.View, b.Lo, b.Hi, b.Columns, b.Length = view, lo, d, columns, o.Pixel
			r.Bundles = append(r.Bundles, b)
		}
	}
	return r
}

// plus returns p + a·q.
func (p point) plus(a float64, q point) point { return point{p[0] + a*q[0], p[1] + a*q[1]} }

// fan is the rays of one view, in pixels.
type fan struct {
	source         point
	detector, step point // the first one, and to the next
	across         point // direction of parallel rays
	parallel       bool
}

// direction returns that of ray d.
func (f *fan) direction(d int) point {
	if f.parallel {
		return f.across
	}
	return f.detector.plus(float64(d), f.step).plus(-1, f.source)
}

// alongRows reports whether ray d is nearer to a row than to a column.
func (f *fan) alongRows(d int) bool {
	p := f.direction(d)
	return math.Abs(p[1]) >= math.Abs(p[0])
}

// bundle returns the formula of device.Bundle for rays that visit rows, or columns.
func (f *fan) bundle(columns bool) device.Bundle {
	l, c := 0, 1 // the axis of lines, and the one along a line
	if columns {
		l, c = 1, 0
	}
	if f.parallel {
		k := f.across[c] / f.across[l]
		return device.Bundle{
			At: f.detector[c] - (f.detector[l]-f.source[l])*k, Step: f.step[c] - f.step[l]*k, Pivot: f.source[l],
			Num: [2]float64{k, 0}, Den: [2]float64{1, 0},
		}
	}
	first := f.direction(0)
	return device.Bundle{
		At: f.source[c], Pivot: f.source[l],
		Num: [2]float64{first[c], f.step[c]}, Den: [2]float64{first[l], f.step[l]},
	}
}
