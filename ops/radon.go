package ops

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// RadonKind is the curve along which a Radon transform adds up.
type RadonKind uint8

// The curves, from sample t₀ at offset 0 to sample t at offset h. Offsets are counted in
// their steps Δh, times in samples Δt, and slopes p in Δt/Δh, as PyLops does.
const (
	RadonLinear     RadonKind = iota // t = t₀ + p·h
	RadonParabolic                   // t = t₀ + p·h²
	RadonHyperbolic                  // t² = t₀² + (h/p)²
)

// RadonAxis is one direction of offsets and the slopes along it.
type RadonAxis struct {
	Offsets []float64 // in equal steps, at least two
	Slopes  []float64 // time per offset
}

// RadonOptions are the options of Radon2D and Radon3D.
type RadonOptions struct {
	Sampling    float64 // time between samples
	Kind        RadonKind
	Centered    bool // the middle of the offsets counts as offset 0
	Interpolate bool // a time between two samples goes to both; otherwise to the one before
}

// RadonDefaults returns the options of a linear transform around the middle of the
// offsets, per time sample, with interpolation.
func RadonDefaults() RadonOptions {
	return RadonOptions{Sampling: 1, Centered: true, Interpolate: true}
}

// Radon2D spreads each sample of a model, of axes slope and time, along a curve over
// offsets and times:
//
//	y[h, t(h; t₀, p)] += x[p, t₀]
//
// Its adjoint adds up the data along these curves. The first axis of the model may be
// split. The data are replicated: forward adds them up over ranks. It is a case of Spread.
func Radon2D[T scalar.Scalar](ctx context.Context, x *dist.Space, h RadonAxis, o RadonOptions) (linop.Operator[T], error) {
	const name = "ops: Radon transform"
	nt, err := o.check(x, h)
	if err == nil {
		err = checkTable(x, len(h.Offsets))
	}
	if err := agree(ctx, name, x, err, h, o); err != nil {
		return nil, err
	}
	at, slopes := h.inSteps(o)
	return Spread[T](ctx, x, len(at), nt, func(p, t0, i int) (int, float64, bool) {
		return o.sample(float64(t0), nt, [2]float64{at[i]}, [2]float64{slopes[p]}, 1)
	})
}

// Radon3D is Radon2D with two directions of offsets: the model has the axes slope along
// the first, slope along the second, and time, the data those of offsets and time. Times
// of linear and parabolic curves add up, and squares of hyperbolic ones.
func Radon3D[T scalar.Scalar](ctx context.Context, x *dist.Space, h [2]RadonAxis, o RadonOptions) (linop.Operator[T], error) {
	const name = "ops: Radon transform"
	nt, err := o.check(x, h[:]...)
	var flat *dist.Space
	if err == nil {
		err = checkTable(x, len(h[0].Offsets), len(h[1].Offsets))
	}
	if err == nil {
		flat, err = flatSlopes(x)
	}
	if err := agree(ctx, name, x, err, h, o); err != nil {
		return nil, err
	}
	at0, slopes0 := h[0].inSteps(o)
	at1, slopes1 := h[1].inSteps(o)
	n, np := len(at1), len(slopes1)
	spread, err := Spread[T](ctx, flat, len(at0)*n, nt, func(p, t0, i int) (int, float64, bool) {
		return o.sample(float64(t0), nt, [2]float64{at0[i/n], at1[i%n]}, [2]float64{slopes0[p/np], slopes1[p%np]}, 2)
	})
	if err != nil {
		return nil, err
	}
	y, err := x.Like(dist.Replicated, len(at0), n, nt)
	if err != nil {
		return nil, err
	}
	return linop.Reshape(spread, x, y)
}

// flatSlopes returns the space of a model with one axis of all pairs of slopes.
func flatSlopes(x *dist.Space) (*dist.Space, error) {
	for a := 1; a < 3; a++ {
		if g, _ := x.SplitBy(a); g != dist.NoAxis {
			return nil, fmt.Errorf("axis %d of the model is split: Redistribute to the first", a)
		}
	}
	n := x.Shape().Dim(1)
	l := x.Layout()
	for _, counts := range l.Counts {
		for p := range counts {
			counts[p] *= n
		}
	}
	return x.Like(l, x.Shape().Dim(0)*n, x.Shape().Dim(2))
}

// checkTable refuses transforms whose table is larger than the memory of the host.
func checkTable(x *dist.Space, offsets ...int) error {
	const perEntry = 2 * 2 * 16 // bytes of both samples of a time, forward and adjoint
	n := x.LocalShape().Size()
	if err := device.CheckHostMemory(append(offsets, n, perEntry)...); err != nil {
		return fmt.Errorf("the table from %d samples of the model to each of %v offsets: %w; FourierRadon needs less", n, offsets, err)
	}
	return nil
}

// check returns the number of time samples of a model with these axes of slopes.
func (o RadonOptions) check(x *dist.Space, axes ...RadonAxis) (nt int, err error) {
	if _, _, err := axisOf(x, 0); err != nil {
		return 0, err
	}
	if x.Shape().NDim() != len(axes)+1 {
		return 0, fmt.Errorf("the model has shape %v: need %d axes, slopes and time", x.Shape(), len(axes)+1)
	}
	errs := []error{checkSampling(o.Sampling)}
	if o.Kind > RadonHyperbolic {
		errs = append(errs, fmt.Errorf("kind is %d: have RadonLinear, RadonParabolic, RadonHyperbolic", o.Kind))
	}
	for a, h := range axes {
		if n := x.Shape().Dim(a); n != len(h.Slopes) {
			errs = append(errs, fmt.Errorf("%d slopes for axis %d of the model, which has %d", len(h.Slopes), a, n))
		}
		errs = append(errs, h.validate(o.Kind))
	}
	return x.Shape().Dim(len(axes)), errors.Join(errs...)
}

func (h RadonAxis) validate(kind RadonKind) error {
	if len(h.Offsets) < 2 || h.Offsets[0] == h.Offsets[1] {
		return fmt.Errorf("offsets %v: need at least two different ones", h.Offsets)
	}
	for i, v := range append(h.Offsets[:len(h.Offsets):len(h.Offsets)], h.Slopes...) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("number %d of offsets and slopes is %g", i, v)
		}
	}
	for i, p := range h.Slopes {
		if p == 0 && kind == RadonHyperbolic {
			return fmt.Errorf("slope %d of a hyperbola is 0", i)
		}
	}
	return nil
}

// inSteps returns offsets and slopes in steps of the offsets and samples of time.
func (h RadonAxis) inSteps(o RadonOptions) (at, slopes []float64) {
	step := math.Abs(h.Offsets[1] - h.Offsets[0])
	for i, v := range h.Offsets {
		if o.Centered {
			at = append(at, float64(i)-float64(len(h.Offsets)-1)/2)
		} else {
			at = append(at, v/step)
		}
	}
	for _, p := range h.Slopes {
		slopes = append(slopes, p*step/o.Sampling)
	}
	return at, slopes
}

// sample returns where the curve from sample t0 is at these offsets: see SpreadTable.
func (o RadonOptions) sample(t0 float64, nt int, h, p [2]float64, axes int) (t int, w float64, ok bool) {
	at := t0
	if o.Kind == RadonHyperbolic {
		at *= at
	}
	for a := range axes {
		switch o.Kind {
		case RadonLinear:
			at += p[a] * h[a]
		case RadonParabolic:
			at += p[a] * h[a] * h[a]
		case RadonHyperbolic:
			at += (h[a] / p[a]) * (h[a] / p[a])
		}
	}
	if o.Kind == RadonHyperbolic {
		at = math.Sqrt(at)
	}
	end := float64(nt)
	if o.Interpolate {
		end--
	}
	if !(at >= 0 && at < end) {
		return 0, 0, false
	}
	if t = int(at); o.Interpolate {
		w = at - float64(t)
	}
	return t, w, true
}
