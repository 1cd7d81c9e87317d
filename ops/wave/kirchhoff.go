package wave

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

// KirchhoffOptions describes an acquisition and how its data follow from an image of
// reflectivity. Data have the order source, receiver, time.
type KirchhoffOptions struct {
	Times              TravelTimes // from a point to all image points
	Sources, Receivers []Point
	Samples            int       // per trace
	Interval           float64   // between samples, in seconds
	Wavelet            []float64 // emitted at the sources; nil means a spike
	Centre             int       // the sample of Wavelet at time zero
	Weights            Weights   // nil means 1
	Threads            int       // for the tables; 0 means one per processor
}

// Weights gives amplitudes along the way in factors of source and receiver: the
// weight of a pair at an image point is Σₖ s[k]·r[k], k = 0, 1, times Aperture.
type Weights interface {
	// Source and Receiver fill the two factors of a point at all nodes.
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
		for i, p := range list.points {
			if !p.finite() {
				bad("%s %d at %v is nowhere", list.name, i, p)
			}
		}
	}
	if len(k.Receivers) == 0 {
		bad("no receivers given")
	}
	if k.Samples < 2 {
		bad("%d samples per trace, must be at least 2", k.Samples)
	}
	if !(k.Interval > 0) || math.IsInf(k.Interval, 0) {
		bad("sample interval is %g s, must be positive and finite", k.Interval)
	}
	if k.Wavelet != nil && (k.Centre < 0 || k.Centre >= len(k.Wavelet)) {
		bad("the centre of the wavelet is sample %d of %d", k.Centre, len(k.Wavelet))
	}
	return errors.Join(errs...)
}

// kirchhoff spreads an image along travel times.
type kirchhoff[T scalar.Scalar, F Float] struct {
	linop.Spaces
	k device.Kirchhoff[T, F]
	t device.TravelTables[F]
}

// Kirchhoff returns the operator of Kirchhoff modelling with image and data
// replicated, which is meant for one rank, r.Alone(): each image point sends its reflectivity to each trace, at the time the wave takes
// from the source to the point to the receiver,
//
//	y[s, r, t] = w(t) * Σᵢ aₛᵣᵢ·x[i]·δ(t - tₛᵢ - tᵣᵢ)
//
// with linear interpolation between samples; the wavelet is convolved at the
// end. The adjoint is Kirchhoff migration. Tables take (sources + receivers) ×
// image points, not one per pair. It is collective and sends nothing when
// applied: KirchhoffBySource and KirchhoffByModel spread sources or the image over
// ranks.
func Kirchhoff[T scalar.Scalar](ctx context.Context, r dist.Proc, k KirchhoffOptions) (linop.Operator[T], error) {
	build := buildKirchhoff[T, float64]
	if d := scalar.Of[T](); d == scalar.Float32 || d == scalar.Complex64 {
		build = buildKirchhoff[T, float32]
	}
	return build(ctx, r, k)
}

func buildKirchhoff[T scalar.Scalar, F Float](ctx context.Context, r dist.Proc, k KirchhoffOptions) (linop.Operator[T], error) {
	o := &kirchhoff[T, F]{}
	err := k.Validate()
	if err == nil {
		err = o.tables(ctx, k)
	}
	if err == nil {
		err = o.device(r)
	}
	if err := dist.Agree(ctx, r.Comm, "wave: kirchhoff", err); err != nil {
		return nil, err
	}
	if o.Dom, err = dist.NewSpace(ctx, r, dist.Replicated, k.Times.Grid().Shape()...); err != nil {
		return nil, err
	}
	if o.Rng, err = dist.NewSpace(ctx, r, dist.Replicated, len(k.Sources), len(k.Receivers), k.Samples); err != nil {
		return nil, err
	}
	if k.Wavelet == nil {
		return o, nil
	}
	w := make([]T, len(k.Wavelet))
	for i, v := range k.Wavelet {
		w[i] = scalar.From[T](complex(v, 0))
	}
	y := o.Rng
	if len(w) > k.Samples {
		return nil, fmt.Errorf("wave: kirchhoff: the wavelet has %d samples, traces have %d: cut it", len(w), k.Samples)
	}
	conv, err := ops.Convolve1D(ctx, y, -1, w, k.Centre)
	if err != nil {
		return nil, err
	}
	return linop.Compose(conv, o)
}

// device finds the kernels.
func (o *kirchhoff[T, F]) device(r dist.Proc) error {
	k, err := device.KernelsFor[T](r.Device)
	if err != nil {
		return err
	}
	var ok bool
	if o.k, ok = k.(device.Kirchhoff[T, F]); !ok {
		return fmt.Errorf("kirchhoff kernels for %v on %v: %w", scalar.Of[T](), r.Device, device.ErrUnsupported)
	}
	return nil
}

// tables computes the ways from all sources and receivers, in samples.
func (o *kirchhoff[T, F]) tables(ctx context.Context, k KirchhoffOptions) error {
	g := k.Times.Grid()
	o.t = device.TravelTables[F]{Sources: len(k.Sources), Receivers: len(k.Receivers), Points: g.Nodes(), Samples: k.Samples, Depths: g.Z.N}
	for _, side := range []struct {
		points []Point
		table  *[]F
	}{{k.Sources, &o.t.Src}, {k.Receivers, &o.t.Rec}} {
		// Seconds in 64 bits, so that only the quotient is rounded.
		t, err := TimeTable[float64](ctx, k.Times, side.points, k.Threads)
		if err != nil {
			return err
		}
		if *side.table, err = device.Make[F](len(t)); err != nil {
			return fmt.Errorf("travel times of %d points: %w", len(side.points), err)
		}
		for i, v := range t {
			if math.IsNaN(v) || v < 0 {
				return fmt.Errorf("travel time %g to node %d from %v", v, i%g.Nodes(), side.points[i/g.Nodes()])
			}
			(*side.table)[i] = F(min(v, never) / k.Interval)
		}
	}
	if k.Weights == nil {
		return nil
	}
	return o.weigh(ctx, k, g)
}

// weigh computes the factors of the weights.
func (o *kirchhoff[T, F]) weigh(ctx context.Context, k KirchhoffOptions, g Grid) error {
	n := g.Nodes()
	one := [2][]float64{make([]float64, n), make([]float64, n)}
	times := make([]float64, n)
	for _, side := range []struct {
		points []Point
		to     *[2][]F
		f      func(*[2][]float64, Point, []float64) error
	}{{k.Sources, &o.t.SrcW, k.Weights.Source}, {k.Receivers, &o.t.RecW, k.Weights.Receiver}} {
		for w := range side.to {
			var err error
			if side.to[w], err = device.Make[F](n * len(side.points)); err != nil {
				return fmt.Errorf("weights of %d points: %w", len(side.points), err)
			}
		}
		for i, p := range side.points {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := k.Times.Fill(times, p); err != nil {
				return err
			}
			if err := side.f(&one, p, times); err != nil {
				return err
			}
			for w := range side.to {
				for j, v := range one[w] {
					side.to[w][i*n+j] = F(v)
				}
			}
		}
	}
	for i, s := range k.Sources {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for j, r := range k.Receivers {
			a, err := k.Weights.Aperture(s, r)
			if err != nil {
				return err
			}
			if a == nil {
				continue
			}
			if o.t.Aperture == nil {
				if err := device.CheckHostMemory(len(k.Sources), len(k.Receivers), g.Z.N, 8); err != nil {
					return fmt.Errorf("apertures of %d sources × %d receivers: %w", len(k.Sources), len(k.Receivers), err)
				}
				if o.t.Aperture, err = device.Make[F](len(k.Sources) * len(k.Receivers) * g.Z.N); err != nil {
					return err
				}
				for m := range o.t.Aperture {
					o.t.Aperture[m] = 1
				}
			}
			to := o.t.Aperture[(i*len(k.Receivers)+j)*g.Z.N:][:g.Z.N]
			for m := range to {
				to[m] = F(a[m])
			}
		}
	}
	return nil
}

func (o *kirchhoff[T, F]) Forward(_ context.Context, dst, src dist.Array[T]) error {
	if err := dist.Check("wave: kirchhoff", "forward", &dst, o.Rng, &src, o.Dom); err != nil {
		return err
	}
	o.k.Spread(dst.Local().Mem(), src.Local().Mem(), &o.t)
	return nil
}

func (o *kirchhoff[T, F]) Adjoint(_ context.Context, dst, src dist.Array[T]) error {
	if err := dist.Check("wave: kirchhoff", "adjoint", &dst, o.Dom, &src, o.Rng); err != nil {
		return err
	}
	o.k.Stack(dst.Local().Mem(), src.Local().Mem(), &o.t)
	return nil
}
