package ops

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// FFTNorm is the factor of a Fourier transform over N samples, and of its adjoint.
type FFTNorm uint8

// The factors of Fourier transforms.
const (
	FFTNormNone     FFTNorm = iota // 1
	FFTNormOrtho                   // 1/√N: the adjoint of a complex transform is its inverse
	FFTNormOneOverN                // 1/N
)

func (n FFTNorm) String() string {
	if n > FFTNormOneOverN {
		return fmt.Sprintf("FFTNorm(%d)", uint8(n))
	}
	return [...]string{"none", "ortho", "1/n"}[n]
}

// factor returns that of n samples.
func (n FFTNorm) factor(samples int) float64 {
	switch n {
	case FFTNormOrtho:
		return 1 / math.Sqrt(float64(samples))
	case FFTNormOneOverN:
		return 1 / float64(samples)
	}
	return 1
}

// FFTOptions are the options of Fourier transforms.
type FFTOptions struct {
	// Sizes are the samples of each transformed axis, with zeros behind its own. nil
	// means no zeros.
	Sizes []int
	Norm  FFTNorm
	// ShiftBefore are the transformed axes of x whose origin is in the middle, at
	// sample n/2, and not at sample 0. ShiftAfter are those of the result.
	ShiftBefore, ShiftAfter []int
	// Transposed leaves the result in the layout of the last transform where x has
	// split axes. That saves the way back to the layout of x.
	Transposed bool
}

// FFTDefaults returns the options of transforms whose adjoint is the inverse.
func FFTDefaults() FFTOptions { return FFTOptions{Norm: FFTNormOrtho} }

// Validate reports everything that is wrong with o, but for what depends on x.
func (o FFTOptions) Validate() error {
	var errs []error
	for _, n := range o.Sizes {
		if n < 1 {
			errs = append(errs, fmt.Errorf("size %d of %v must be at least 1", n, o.Sizes))
		}
	}
	if o.Norm > FFTNormOneOverN {
		errs = append(errs, fmt.Errorf("norm is %d: have FFTNormNone, FFTNormOrtho, FFTNormOneOverN", o.Norm))
	}
	return errors.Join(errs...)
}

// FFT is the discrete Fourier transform along an axis of N samples,
// y[k] = c·Σⱼ exp(-2πi·jk/N)·x[j], with the factor c of the norm. The adjoint is
// x[j] = c·Σₖ exp(2πi·jk/N)·y[k]. It needs a complex C.
//
// Where the axis is split, ranks move the array so that the axis is whole, in one
// message from each rank to each other, and back. A complex array of one axis moves three
// times and stays split, whatever the ranks hold of it. If its samples do not divide by the square
// of the number of ranks, neighbours exchange a few before and after. Where no divisor lets each
// rank have at most twice its part, as with a prime number of samples, the array goes to one rank
// and back. So do real, padded and shifted ones.
func FFT[C scalar.Scalar](ctx context.Context, x *dist.Space, axis int, o FFTOptions) (linop.Operator[C], error) {
	return newFFT[C](ctx, "ops: FFT", x, []int{axis}, o)
}

// FFT2D is FFT along two axes.
func FFT2D[C scalar.Scalar](ctx context.Context, x *dist.Space, axes [2]int, o FFTOptions) (linop.Operator[C], error) {
	return newFFT[C](ctx, "ops: FFT2D", x, axes[:], o)
}

// FFTND is FFT along any number of axes. Where several are split, the array moves once
// for each that cannot become whole together with another.
func FFTND[C scalar.Scalar](ctx context.Context, x *dist.Space, axes []int, o FFTOptions) (linop.Operator[C], error) {
	return newFFT[C](ctx, "ops: FFTND", x, axes, o)
}

// RealFFT is FFT of a real x, whose type R must be the real type of C. The result has
// coefficients 0 to N/2; the others are their conjugates. Coefficients that have
// such a counterpart are multiplied by √2. So the adjoint is c²·N times the inverse.
// The map is linear over the real numbers.
func RealFFT[C, R scalar.Scalar](ctx context.Context, x *dist.Space, axis int, o FFTOptions) (linop.Map[R, C], error) {
	return newRealFFT[C, R](ctx, "ops: RealFFT", x, []int{axis}, o)
}

// RealFFT2D is RealFFT along two axes, of which the second has half of the coefficients.
func RealFFT2D[C, R scalar.Scalar](ctx context.Context, x *dist.Space, axes [2]int, o FFTOptions) (linop.Map[R, C], error) {
	return newRealFFT[C, R](ctx, "ops: RealFFT2D", x, axes[:], o)
}

// RealFFTND is RealFFT along any number of axes, of which the last has half of the
// coefficients.
func RealFFTND[C, R scalar.Scalar](ctx context.Context, x *dist.Space, axes []int, o FFTOptions) (linop.Map[R, C], error) {
	return newRealFFT[C, R](ctx, "ops: RealFFTND", x, axes, o)
}

// Frequencies returns the frequency of each coefficient of a transform over n samples,
// in the order of the result: 0, 1, ..., -2, -1 times 1/(n·sampling). If shifted, those
// are first that ShiftAfter puts first.
func Frequencies(n int, sampling float64, shifted bool) []float64 {
	f := make([]float64, max(n, 0))
	for k := range f {
		at := k
		if shifted {
			at = (k + n/2) % n
		}
		if f[at] = float64(k) / (float64(n) * sampling); 2*k >= n+n%2 {
			f[at] = float64(k-n) / (float64(n) * sampling)
		}
	}
	return f
}

// RealFrequencies is Frequencies for the n/2+1 coefficients of real samples.
func RealFrequencies(n int, sampling float64) []float64 {
	f := make([]float64, max(n, 0)/2+1)
	for k := range f {
		f[k] = float64(k) / (float64(n) * sampling)
	}
	return f
}

func newFFT[C scalar.Scalar](ctx context.Context, what string, x *dist.Space, axes []int, o FFTOptions) (linop.Operator[C], error) {
	var err error
	if !scalar.Of[C]().IsComplex() {
		err = fmt.Errorf("the element type is %v: take complex numbers, or %s", scalar.Of[C](), "RealFFT")
	}
	return buildFFT(ctx, what, x, axes, o, false, err, func(s *fourierStage, c float64) (*fourierCore[C, C], error) {
		t := s.transform()
		factor := scalar.From[C](complex(c, 0))
		scale := func(a array.Array[C]) {
			if c != 1 {
				array.Axpby(factor, a, 0, a)
			}
		}
		core := &fourierCore[C, C]{
			forward: func(dst, src array.Array[C]) error {
				err := array.FFT(dst, src, t, false)
				scale(dst)
				return err
			},
			adjoint: func(dst, src, _ array.Array[C]) error {
				err := array.FFT(dst, src, t, true)
				scale(dst)
				return err
			},
		}
		return core, planFFT[C](x, t)
	})
}

func newRealFFT[C, R scalar.Scalar](ctx context.Context, what string, x *dist.Space, axes []int, o FFTOptions) (linop.Map[R, C], error) {
	var err error
	if c, r := scalar.Of[C](), scalar.Of[R](); !c.IsComplex() || r.IsComplex() || c.Size() != 2*r.Size() {
		err = fmt.Errorf("coefficients of %v are not %v", r, c)
	}
	return buildFFT(ctx, what, x, axes, o, true, err, func(s *fourierStage, c float64) (*fourierCore[C, R], error) {
		t := s.transform()
		last := t.Axes[len(t.Axes)-1]
		n, dims := s.wide.Shape().Dim(last), s.out.LocalShape()
		outer, _, inner := dims.Around(last)
		there, back := make([]C, n/2+1), make([]C, n/2+1)
		for k := range there {
			f, b := c, c
			if k > 0 && 2*k < n {
				f, b = c*math.Sqrt2, c/math.Sqrt2
			}
			there[k], back[k] = scalar.From[C](complex(f, 0)), scalar.From[C](complex(b, 0))
		}
		forward, err := array.FromHost(x.Device(), shape.Of(len(there)), there)
		if err != nil {
			return nil, err
		}
		adjoint, err := array.FromHost(x.Device(), shape.Of(len(back)), back)
		if err != nil {
			return nil, err
		}
		core := &fourierCore[C, R]{
			forward: func(dst array.Array[C], src array.Array[R]) error {
				err := array.RFFT(dst, src, t)
				if dst.Len() > 0 {
					array.MulAxis(dst, forward, dst, outer, inner, false)
				}
				return err
			},
			adjoint: func(dst array.Array[R], src, room array.Array[C]) error {
				if src.Len() > 0 {
					array.MulAxis(room, adjoint, src, outer, inner, false)
				}
				return array.IRFFT(dst, room, t)
			},
		}
		return core, planFFT[C](x, t)
	})
}

// planFFT plans the transforms of t on the device of x.
func planFFT[C scalar.Scalar](x *dist.Space, t *device.DFT) error {
	k, err := device.KernelsFor[C](x.Device())
	if err != nil {
		return err
	}
	return device.PlanFFT(k, t)
}

// buildFFT returns the operator whose first transform is core, which has the factor c.
func buildFFT[C, D scalar.Scalar](ctx context.Context, what string, x *dist.Space, axes []int, o FFTOptions, half bool, err error,
	core func(s *fourierStage, c float64) (*fourierCore[C, D], error)) (linop.Map[D, C], error) {
	if x == nil || x.Parts() != nil {
		return nil, fmt.Errorf("%s: no space given, or a stack", what)
	}
	errs := []error{err, o.Validate()}
	samples, resolveErr := o.resolve(x, &axes)
	var f *fourier[C, D]
	if err = errors.Join(append(errs, resolveErr)...); err == nil {
		f, err = newSplitFFT[C, D](x, samples, o, half)
	}
	if err == nil && f == nil {
		var stages []fourierStage
		if stages, err = fourierStages(x, axes, samples, o, half); err == nil {
			f, err = newFourier(x, stages, o, core)
		}
	}
	if err = dist.Agree(ctx, x.Comm(), what, err, axes, o); err != nil {
		return nil, err
	}
	a, err := linop.Func(what, x, f.y, f.Forward, f.Adjoint)
	return fourierMap[D, C]{a, f}, err
}

// newSplitFFT returns the transform of an array of one axis that stays split, or nil.
func newSplitFFT[C, D scalar.Scalar](x *dist.Space, samples []int, o FFTOptions, half bool) (*fourier[C, D], error) {
	if half {
		return nil, nil
	}
	s, err := newSplitLine(x, samples, o)
	if s == nil || err != nil {
		return nil, err
	}
	f, err := newLineFFT[C](s, o.Norm.factor(s.n))
	same, _ := any(f).(*fourier[C, D])
	return same, err
}

// fourierMap is a transform as callers see it.
type fourierMap[D, C scalar.Scalar] struct {
	linop.Map[D, C]
	f *fourier[C, D]
}

// SetAdjoint implements linop.Directed.
func (m fourierMap[D, C]) SetAdjoint(adjoint bool) {
	for _, d := range m.f.before.moves {
		d.SetAdjoint(adjoint)
	}
	for _, d := range m.f.after.moves {
		d.SetAdjoint(adjoint)
	}
}

// resolve counts axes from the front and returns the samples of each.
func (o *FFTOptions) resolve(x *dist.Space, axes *[]int) (samples []int, err error) {
	front := func(list []int) []int {
		list = slices.Clone(list)
		for i, a := range list {
			b, _, e := axisOf(x, a)
			if list[i] = b; e != nil {
				err = errors.Join(err, e)
			} else if slices.Contains(list[:i], b) {
				err = errors.Join(err, fmt.Errorf("axis %d is given twice", a))
			}
		}
		return list
	}
	given := *axes
	*axes, o.ShiftBefore, o.ShiftAfter = front(given), front(o.ShiftBefore), front(o.ShiftAfter)
	switch {
	case err != nil:
		return nil, err
	case len(given) == 0:
		return nil, errors.New("no axes to transform")
	case o.Sizes != nil && len(o.Sizes) != len(given):
		return nil, fmt.Errorf("sizes %v for axes %v: give one for each axis", o.Sizes, given)
	}
	for _, a := range slices.Concat(o.ShiftBefore, o.ShiftAfter) {
		if !slices.Contains(*axes, a) {
			return nil, fmt.Errorf("axis %d is shifted and not transformed: the transform is along %v", a, given)
		}
	}
	for i, a := range *axes {
		n := x.Shape().Dim(a)
		samples = append(samples, n)
		if n == 0 {
			return nil, fmt.Errorf("axis %d has no samples", given[i])
		}
		if o.Sizes == nil {
			continue
		}
		if samples[i] = o.Sizes[i]; o.Sizes[i] < n {
			return nil, fmt.Errorf("size %d of axis %d is less than its %d samples: give at least %d, or take fewer samples by Restriction or Resize", o.Sizes[i], given[i], n, n)
		}
	}
	return samples, nil
}
