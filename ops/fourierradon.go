package ops

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/cmplx"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// FourierRadonOptions are the options of FourierRadon2D and FourierRadon3D.
type FourierRadonOptions struct {
	Sampling    float64     // time between samples
	Kinds       []RadonKind // RadonLinear or RadonParabolic for each direction; nil means linear
	Size        int         // samples of the transform, with zeros behind those of the time axis; 0 means no zeros
	First, Last int         // only coefficients First to Last-1 are not zero; a Last of 0 means all
}

// FourierRadonDefaults returns the options of a linear transform per time sample.
func FourierRadonDefaults() FourierRadonOptions { return FourierRadonOptions{Sampling: 1} }

// FourierRadon2D is the Radon transform of a model of axes slope and time, computed for
// each frequency f of time:
//
//	Y[h, f] = Σₚ exp(-2πi·f·p·h)·X[p, f]
//
// with h² instead of h for parabolas. Unlike Radon2D it interpolates between samples
// exactly, and what leaves at one end of time comes back at the other one, unless zeros
// take it in. Model and data are split alike. In between, ranks move them so that
// each holds some frequencies, and nothing else is sent: no rank holds the whole
// matrix.
func FourierRadon2D[T scalar.Scalar](ctx context.Context, x *dist.Space, h RadonAxis, o FourierRadonOptions) (linop.Operator[T], error) {
	return fourierRadonOf[T](ctx, x, []RadonAxis{h}, o)
}

// FourierRadon3D is FourierRadon2D with two directions of offsets: the model has the
// axes slope along the first, slope along the second, and time. Products p·h add up.
func FourierRadon3D[T scalar.Scalar](ctx context.Context, x *dist.Space, h [2]RadonAxis, o FourierRadonOptions) (linop.Operator[T], error) {
	return fourierRadonOf[T](ctx, x, h[:], o)
}

func fourierRadonOf[T scalar.Scalar](ctx context.Context, x *dist.Space, axes []RadonAxis, o FourierRadonOptions) (linop.Operator[T], error) {
	if scalar.Of[T]() == scalar.Float32 || scalar.Of[T]() == scalar.Complex64 {
		return fourierRadon[complex64, T](ctx, x, axes, o)
	}
	return fourierRadon[complex128, T](ctx, x, axes, o)
}

func fourierRadon[C, T scalar.Scalar](ctx context.Context, x *dist.Space, axes []RadonAxis, o FourierRadonOptions) (linop.Operator[T], error) {
	const name = "ops: Fourier Radon transform"
	var y *dist.Space
	err := o.check(x, axes)
	if err == nil {
		y, err = dataOf(x, axes)
	}
	if err := agree(ctx, name, x, err, axes, o); err != nil {
		return nil, err
	}
	last := len(axes)
	model, f, err := spectrum[C, T](ctx, x, last, o.Size, o.Sampling)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	data, _, err := spectrum[C, T](ctx, y, last, o.Size, o.Sampling)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	there, flat, err := byFrequency[C](ctx, model.Range())
	if err != nil {
		return nil, err
	}
	back, flatData, err := byFrequency[C](ctx, data.Range())
	if err != nil {
		return nil, err
	}
	g, err := x.Like(dist.Split(0), len(f), flatData.Shape().Dim(1), flat.Shape().Dim(1))
	var waves dist.Array[C]
	if err == nil {
		waves, err = dist.FromFunc(ctx, g, func(i []int) C {
			k := i[0]
			if scalar.Of[T]().IsComplex() { // coefficients of complex samples have counterparts
				k = min(k, len(f)-k)
			}
			if k < o.First || o.Last > 0 && k >= o.Last {
				return 0
			}
			return scalar.From[C](o.wave(axes, f[i[0]], i[1], i[2]))
		})
	}
	if err := dist.Agree(ctx, x.Comm(), name, err); err != nil {
		return nil, err
	}
	product, err := Fredholm1[C](ctx, waves, flat, ProductOptions{})
	if err != nil {
		return nil, err
	}
	if product, err = linop.Reshape(product, there.Range(), back.Range()); err != nil {
		return nil, err
	}
	inner, err := chain(there, product, linop.H(back))
	if err != nil {
		return nil, err
	}
	forward, err := linop.Compose(inner, model)
	if err != nil {
		return nil, err
	}
	return linop.Compose(linop.H(data), forward)
}

func (o FourierRadonOptions) check(x *dist.Space, axes []RadonAxis) error {
	nt, err := RadonOptions{Sampling: o.Sampling}.check(x, axes...)
	errs := []error{err}
	if o.Kinds != nil && len(o.Kinds) != len(axes) {
		errs = append(errs, fmt.Errorf("%d kinds for %d directions of offsets", len(o.Kinds), len(axes)))
	}
	for _, k := range o.Kinds {
		if k > RadonParabolic {
			errs = append(errs, fmt.Errorf("kind is %d: have RadonLinear, RadonParabolic", k))
		}
	}
	if o.Size != 0 && o.Size < nt {
		errs = append(errs, fmt.Errorf("size is %d: give at least the %d time samples, or 0 for these", o.Size, nt))
	}
	if o.First < 0 || o.Last < 0 || o.Last > 0 && o.First > o.Last {
		errs = append(errs, fmt.Errorf("coefficients %d to %d: must not be negative nor end before they begin", o.First, o.Last))
	}
	return errors.Join(errs...)
}

// dataOf returns the space of the data, split as the model.
func dataOf(x *dist.Space, axes []RadonAxis) (*dist.Space, error) {
	dims := x.Shape().Dims()
	for a, h := range axes {
		dims[a] = len(h.Offsets)
	}
	l := x.Layout()
	for g, a := range l.Axes {
		if a != len(axes) {
			l.Counts[g] = nil // extents differ
		}
	}
	return x.Like(l, dims...)
}

// byFrequency brings the last axis of s to the front and splits it over all ranks. flat
// is the result with one axis behind it.
func byFrequency[C scalar.Scalar](ctx context.Context, s *dist.Space) (move linop.Operator[C], flat *dist.Space, err error) {
	n := s.Shape().NDim()
	order, behind := []int{n - 1}, 1
	for a := range n - 1 {
		order, behind = append(order, a), behind*s.Shape().Dim(a)
	}
	turn, err := Transpose[C](ctx, s, order...)
	if err != nil {
		return nil, nil, err
	}
	dims := turn.Range().Shape().Dims()
	to, err := s.Like(dist.Split(0), dims...)
	if err == nil {
		flat, err = s.Like(dist.Split(0), dims[0], behind)
	}
	if err == nil {
		move, err = linop.Redistribute[C](turn.Range(), to)
	}
	if err == nil {
		move, err = linop.Compose(move, turn)
	}
	return move, flat, dist.Agree(ctx, s.Comm(), "ops: Fourier Radon transform", err)
}

// wave returns the factor from slopes p to offsets h, both counted over all directions,
// at frequency f.
func (o FourierRadonOptions) wave(axes []RadonAxis, f float64, h, p int) complex128 {
	time := 0.0
	for a := len(axes) - 1; a >= 0; a-- {
		at := axes[a].Offsets[h%len(axes[a].Offsets)]
		if o.Kinds != nil && o.Kinds[a] == RadonParabolic {
			at *= at
		}
		time += at * axes[a].Slopes[p%len(axes[a].Slopes)]
		h, p = h/len(axes[a].Offsets), p/len(axes[a].Slopes)
	}
	return cmplx.Rect(1, -2*math.Pi*f*time)
}
