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

// Parallel returns the scan with parallel rays that FanToParallel makes of a fan: as
// many views in even steps over half a turn, and detectors as far apart as the rays of
// the fan are at the origin.
func (o ProjectorOptions) Parallel() ProjectorOptions {
	p := ProjectorDefaults(make([]float64, len(o.Angles)))
	for i := range p.Angles {
		p.Angles[i] = math.Pi * float64(i) / float64(len(p.Angles))
	}
	p.Pixel, p.Spacing = o.Pixel, o.Spacing*o.Source/(o.Source+o.Detector)
	return p
}

// FanToParallel sorts the rays of a fan into those of parallel views, which are those
// of o.Parallel(). x and y are both views × detectors. The ray of angle θ at distance s
// from the origin is part of the view β of the fan, at the place d of its detectors:
//
//	β = θ + γ,  d = tan γ·(Source + Detector),  sin γ = s/Source
//
// and of the view θ + π + γ' with sin γ' = -s/Source, if the first one is missing.
// Values are linear between two detectors and between two views. A ray that was not
// measured is zero.
//
// Data may be split by views. They move so that each rank has all views of some
// detectors, and back: two messages from each rank to each other.
//
// Source: Kak and Slaney, Principles of Computerized Tomographic Imaging, 1988,
// section 3.4.3.
func FanToParallel[T scalar.Scalar](ctx context.Context, x *dist.Space, o ProjectorOptions) (linop.Operator[T], error) {
	const name = "ops: fan to parallel rays"
	if x == nil {
		return nil, errors.New(name + ": no space given")
	}
	err := errors.Join(checkViews(x, len(o.Angles)), o.validate(nil))
	switch {
	case err != nil:
	case o.Source == 0:
		err = errors.New("the rays are parallel already: Source is 0")
	case x.Size() == 0:
		err = fmt.Errorf("the data have shape %v: there is nothing in them", x.Shape())
	}
	if err := dist.Agree(ctx, x.Comm(), name, err, x.Shape(), " ", o); err != nil {
		return nil, err
	}
	views, detectors := x.Shape().Dim(0), x.Shape().Dim(1)
	rays := o.sortedRays(detectors)
	places := make([]float64, 0, 2*detectors) // both rays of each detector
	for _, both := range rays {
		places = append(places, both[0].place, both[1].place)
	}
	take, err := Interp[T](ctx, x, 1, places, InterpOptions{})
	if err != nil {
		return nil, err
	}
	pairs, err := x.Like(x.Layout(), views, detectors, 2)
	if err != nil {
		return nil, err
	}
	if take, err = linop.Reshape(take, x, pairs); err != nil {
		return nil, err
	}
	turn, err := turnViews[T](ctx, name, pairs, newRing(o.Angles, 2*math.Pi), o.Parallel().Angles, rays)
	if err != nil {
		return nil, err
	}
	back, err := linop.Redistribute[T](turn.Range(), x)
	var sort linop.Operator[T]
	if err == nil {
		sort, err = chain(take, turn, back)
	}
	return sort, dist.Agree(ctx, x.Comm(), name, err) // memory may be short on one rank
}

// fanRay is a ray of a fan: its angle to the ray through the origin, and the place on
// the line of detectors that it hits.
type fanRay struct {
	gamma, place float64
	hits         bool // a detector
}

// sortedRays returns the rays of the fan, along both directions, that are at the place of
// each parallel ray.
func (o ProjectorOptions) sortedRays(detectors int) [][2]fanRay {
	middle, spacing := float64(detectors-1)/2, o.Parallel().Spacing
	rays := make([][2]fanRay, detectors)
	for d := range rays {
		for side, s := range [2]float64{1, -1} {
			at := s * (float64(d) - middle) * spacing / o.Source
			if math.Abs(at) >= 1 {
				continue
			}
			r := &rays[d][side]
			r.gamma = math.Asin(at)
			place := (math.Tan(r.gamma)*(o.Source+o.Detector)-o.Shift)/o.Spacing + middle
			if r.hits = place >= 0 && place <= 2*middle; r.hits {
				r.place = place
			}
		}
	}
	return rays
}

// turnViews returns the operator from both rays of each detector, in views of the fan, to
// the parallel views of these angles. Ranks have some detectors and all views of them.
func turnViews[T scalar.Scalar](ctx context.Context, name string, pairs *dist.Space, fan *ring, angles []float64, rays [][2]fanRay) (linop.Operator[T], error) {
	l := dist.Split(1)
	if pairs.Replicated() {
		l = dist.Replicated
	}
	dims := pairs.Shape().Dims()
	from, err := pairs.Like(l, dims...)
	if err != nil {
		return nil, err
	}
	to, err := pairs.Like(l, dims[:2]...)
	if err != nil {
		return nil, err
	}
	const perRay = 128 // bytes that the matrix takes, about
	if err := dist.Agree(ctx, to.Comm(), name, device.CheckHostMemory(to.LocalShape().Size(), perRay)); err != nil {
		return nil, err
	}
	b := to.Box(to.Comm().Rank())
	mine := rays[b.Lo[1]:b.Hi[1]]
	forward := device.Sparse[T]{First: []int{0}}
	for _, angle := range angles {
		for d, both := range mine {
			for side, ray := range both {
				views, w, found := fan.between(angle + float64(side)*math.Pi + ray.gamma)
				if !ray.hits || !found {
					continue
				}
				for k, c := range [2]float64{1 - w, w} {
					forward.At = append(forward.At, (views[k]*len(mine)+d)*2+side)
					forward.W = append(forward.W, scalar.From[T](complex(c, 0)))
				}
				break
			}
			forward.First = append(forward.First, len(forward.At))
		}
	}
	adjoint := transposedSparse(forward, from.LocalShape().Size())
	return linop.Func(name, from, to, func(_ context.Context, dst, src dist.Array[T]) error {
		array.Gather(dst.Local(), src.Local(), &forward)
		return nil
	}, func(_ context.Context, dst, src dist.Array[T]) error {
		array.Gather(dst.Local(), src.Local(), &adjoint)
		return nil
	})
}
