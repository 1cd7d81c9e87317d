package ops

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// FilteredBackProjection makes an image x of the data y of a tomograph, views ×
// detectors. Its domain is y and its range x:
//
//	x = Pᴴ·W·R·y
//
// R filters each view (RampFilter), and P is the Projector. W multiplies each view by
// Spacing/Pixel², for the number of rays that cross a pixel, and by the angle that the
// view stands for: half of the way to its neighbours on both sides. The result is near
// the image that was measured if views are many and cover half a turn. A fan is sorted
// into parallel rays before (FanToParallel).
//
// Where views are split, the image is added up over ranks. The adjoint sends nothing.
//
// Source: Kak and Slaney, Principles of Computerized Tomographic Imaging, 1988,
// chapter 3.
func FilteredBackProjection[T scalar.Scalar](ctx context.Context, x, y *dist.Space, o ProjectorOptions, w RampWindow) (linop.Operator[T], error) {
	const name = "ops: filtered back-projection"
	if x == nil || y == nil {
		return nil, errors.New(name + ": no space given: it needs one of the image and one of the data")
	}
	if err := agreeOnRays(ctx, name, x, y, o); err != nil {
		return nil, err
	}
	var steps []linop.Operator[T]
	if o.Source > 0 {
		sort, err := FanToParallel[T](ctx, y, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		steps, o = append(steps, sort), o.Parallel()
	}
	ramp, err := RampFilter[T](ctx, y, 1, RampOptions{Spacing: o.Spacing, Window: w})
	if err := dist.Agree(ctx, y.Comm(), name, err); err != nil { // memory may be short on one rank
		return nil, err
	}
	weights := make([]T, len(o.Angles))
	for i, angle := range newRing(o.Angles, math.Pi).weights() {
		weights[i] = scalar.From[T](complex(angle*o.Spacing/(o.Pixel*o.Pixel), 0))
	}
	weigh, err := DiagonalAlong(ctx, y, 0, weights)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p, err := Projector[T](ctx, x, y, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return chain(append(steps, ramp, weigh, linop.H(p))...)
}
