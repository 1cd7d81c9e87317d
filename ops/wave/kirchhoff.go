package wave

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/trace"
)

// KirchhoffOptions describes a survey and how its data follow from an image of
// reflectivity.
type KirchhoffOptions struct {
	Times              TravelTimes // from a point to all nodes of the image's grid
	Sources, Receivers []Point     // of the whole survey, the same on all ranks
	Samples            int         // per trace
	Interval           float64     // between samples, in seconds
	Wavelet            []float64   // emitted at the sources; nil means a spike
	Centre             int         // the sample of Wavelet at time zero
	Weights            Weights     // nil means 1 everywhere
}

// Weights gives the amplitudes along rays as factors of source and receiver. The
// weight of a pair at an image point is Σₖ s[k]·r[k], k = 0, 1, times Aperture.
// Goroutines share a Weights.
type Weights interface {
	// Source and Receiver fill the two factors of a point at all nodes of the
	// grid. times are the travel times from the point to the nodes.
	Source(s *[2][]float64, p Point, times []float64) error
	Receiver(r *[2][]float64, p Point, times []float64) error
	// Aperture returns the factor of a pair at each depth, nil for 1.
	Aperture(source, receiver Point) ([]float64, error)
}

// Validate reports everything that is wrong with k.
func (k KirchhoffOptions) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if k.Times == nil {
		bad("no travel times given")
	}
	for _, list := range []struct {
		name   string
		points []Point
	}{{"source", k.Sources}, {"receiver", k.Receivers}} {
		if len(list.points) == 0 {
			bad("no %ss given", list.name)
		}
		for i, p := range list.points {
			if !p.finite() {
				bad("%s %d is at %v, must be finite", list.name, i, p)
			}
		}
	}
	if k.Samples < 2 {
		bad("%d samples per trace, must be at least 2", k.Samples)
	}
	if !(k.Interval > 0) || math.IsInf(k.Interval, 0) {
		bad("sample interval is %g s, must be positive and finite", k.Interval)
	}
	switch {
	case k.Wavelet == nil && k.Centre != 0:
		bad("the centre of the wavelet is sample %d, and no wavelet is given", k.Centre)
	case k.Wavelet != nil && (k.Centre < 0 || k.Centre >= len(k.Wavelet)):
		bad("the centre of the wavelet is sample %d of %d", k.Centre, len(k.Wavelet))
	case len(k.Wavelet) > k.Samples:
		bad("the wavelet has %d samples, traces have %d: cut it", len(k.Wavelet), k.Samples)
	}
	return errors.Join(errs...)
}

// String describes the survey in one line, by which ranks compare theirs.
func (k KirchhoffOptions) String() string {
	ends := func(p []Point) string {
		if len(p) == 0 {
			return ""
		}
		return fmt.Sprintf(" from %v to %v", p[0], p[len(p)-1])
	}
	s := fmt.Sprintf("%d sources%s, %d receivers%s, %d samples of %g s", len(k.Sources), ends(k.Sources), len(k.Receivers), ends(k.Receivers), k.Samples, k.Interval)
	if k.Times != nil {
		s += fmt.Sprintf(", a grid of %v", k.Times.Grid().Shape())
	}
	return s
}

// kirchhoff spreads an image along travel times.
type kirchhoff[T scalar.Scalar, F Float] struct {
	linop.Spaces
	t                 device.TravelTables[F]
	sumData, sumImage bool // over the ranks
	ranks             dist.AxisGroup
}

// Kirchhoff returns the operator of Kirchhoff modelling, with the whole image and
// all data on every rank. It is meant for one rank, r.Alone(): KirchhoffBySource
// and KirchhoffByModel spread the work over ranks. Each image point sends its
// reflectivity to each trace, at the time that the wave takes from the source to
// the point to the receiver,
//
//	y[s, r, t] = w(t) * Σᵢ aₛᵣᵢ·x[i]·δ(t - tₛᵢ - tᵣᵢ)
//
// with linear interpolation between samples. The wavelet w is convolved at the
// end. The adjoint is Kirchhoff migration. Data are sources × receivers × samples,
// the image has the axes of the grid. Tables take (sources + receivers) × image
// points, not one per pair. Making the operator is collective, applying it sends
// nothing.
func Kirchhoff[T scalar.Scalar](ctx context.Context, r dist.Proc, k KirchhoffOptions) (linop.Operator[T], error) {
	return newKirchhoff[T](ctx, r, k, func() split {
		return split{data: dist.Replicated, image: dist.Replicated, parts: slices.Repeat([]part{whole(k)}, r.Size())}
	})
}

// newKirchhoff makes an operator whose work is split over ranks. by is called if k is
// valid.
func newKirchhoff[T scalar.Scalar](ctx context.Context, r dist.Proc, k KirchhoffOptions, by func() split) (linop.Operator[T], error) {
	if err := dist.Agree(ctx, r.Comm, "wave: kirchhoff", k.Validate(), k); err != nil {
		return nil, err
	}
	if d := scalar.Of[T](); d == scalar.Float32 || d == scalar.Complex64 {
		return ofTables[T, float32](ctx, r, k, by())
	}
	return ofTables[T, float64](ctx, r, k, by())
}

func ofTables[T scalar.Scalar, F Float](ctx context.Context, r dist.Proc, k KirchhoffOptions, s split) (linop.Operator[T], error) {
	tables, ranks, done, err := shareTables[F](ctx, r)
	if err != nil {
		return nil, err
	}
	defer done()
	var here []part
	for _, i := range ranks {
		here = append(here, s.parts[i])
	}
	var aperture []F
	if err = tables.fill(ctx, k, here, hostThreads(r.Device)); err == nil {
		aperture, err = apertureOf[F](ctx, k, s.parts[r.Rank()])
	}
	if err := dist.Agree(ctx, r.Comm, "wave: kirchhoff", err); err != nil {
		return nil, err
	}
	o := &kirchhoff[T, F]{t: tables.of(s.parts[r.Rank()], k), sumData: s.sumData, sumImage: s.sumImage}
	o.t.Aperture = aperture
	if o.Dom, err = dist.NewSpace(ctx, r, s.image, k.Times.Grid().Shape()...); err != nil {
		return nil, err
	}
	if o.Rng, err = dist.NewSpace(ctx, r, s.data, len(k.Sources), len(k.Receivers), k.Samples); err != nil {
		return nil, err
	}
	all, err := o.Dom.Like(dist.Layout{}, r.Size())
	if err == nil {
		o.ranks, err = all.AxisGroup(ctx, 0)
	}
	if err != nil {
		return nil, err
	}
	return o, nil
}

// hostThreads returns how many goroutines may fill tables: as many as a device on
// the host has threads, or one per processor for another device.
func hostThreads(d device.Device) int {
	if n := d.Info().Threads; n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

func (o *kirchhoff[T, F]) Forward(ctx context.Context, dst, src dist.Array[T]) error {
	if err := dist.Check("wave: kirchhoff", "forward", &dst, o.Rng, &src, o.Dom); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, "wave: kirchhoff", "forward").End()
	if err := array.Spread(dst.Local(), src.Local(), &o.t); err != nil || !o.sumData {
		return err
	}
	return dist.SumOver(ctx, o.ranks, dst.Local(), dist.LabelForward)
}

func (o *kirchhoff[T, F]) Adjoint(ctx context.Context, dst, src dist.Array[T]) error {
	if err := dist.Check("wave: kirchhoff", "adjoint", &dst, o.Dom, &src, o.Rng); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, "wave: kirchhoff", "adjoint").End()
	if err := array.Stack(dst.Local(), src.Local(), &o.t); err != nil || !o.sumImage {
		return err
	}
	return dist.SumOver(ctx, o.ranks, dst.Local(), dist.LabelAdjoint)
}
