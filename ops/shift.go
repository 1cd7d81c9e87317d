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

// ShiftOptions are the options of Shift.
type ShiftOptions struct {
	Shift    float64               // how far samples move to the back, in units of Sampling
	Each     func(i []int) float64 // more for the line at indices i, of which that along the axis has no meaning; nil means none
	Sampling float64               // distance between samples
	Size     int                   // samples of the transform, with zeros behind those of the axis; 0 means no zeros
}

// ShiftDefaults returns the options of a shift by that many samples.
func ShiftDefaults(shift float64) ShiftOptions { return ShiftOptions{Shift: shift, Sampling: 1} }

// Validate reports everything that is wrong with o.
func (o ShiftOptions) Validate() error {
	errs := []error{checkSampling(o.Sampling)}
	if math.IsNaN(o.Shift) || math.IsInf(o.Shift, 0) {
		errs = append(errs, fmt.Errorf("shift is %g, must be finite", o.Shift))
	}
	if o.Size < 0 {
		errs = append(errs, fmt.Errorf("size is %d, must not be negative", o.Size))
	}
	return errors.Join(errs...)
}

// Shift moves samples along an axis by any distance s, which need not be whole samples:
// y = Fᴴ·exp(-2πi·f·s)·F·x with the Fourier transform F and its frequencies f. What leaves
// at one end comes back at the other one, unless zeros behind the axis take it in.
// Where the axis is split, it is moved as FFT does.
func Shift[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int, o ShiftOptions) (linop.Operator[T], error) {
	if scalar.Of[T]() == scalar.Float32 || scalar.Of[T]() == scalar.Complex64 {
		return shift[complex64, T](ctx, x, axis, o)
	}
	return shift[complex128, T](ctx, x, axis, o)
}

func shift[C, T scalar.Scalar](ctx context.Context, x *dist.Space, axis int, o ShiftOptions) (linop.Operator[T], error) {
	const name = "ops: shift"
	a, _, err := axisOf(x, axis)
	err = errors.Join(err, o.Validate())
	if err := agree(ctx, name, x, err, "axis ", axis, " shift ", o.Shift, " sampling ", o.Sampling, " size ", o.Size); err != nil {
		return nil, err
	}
	transform, f, err := spectrum[C, T](ctx, x, a, o.Size, o.Sampling)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	phase := func(k int, s float64) C { return scalar.From[C](cmplx.Rect(1, -2*math.Pi*f[k]*s)) }
	var turn linop.Operator[C]
	if o.Each == nil {
		d := make([]C, len(f))
		for k := range d {
			d[k] = phase(k, o.Shift)
		}
		turn, err = DiagonalAlong(ctx, transform.Range(), a, d)
	} else {
		var d dist.Array[C]
		d, err = dist.FromFunc(ctx, transform.Range(), func(i []int) C {
			k := i[a]
			i[a] = 0
			s := o.Shift + o.Each(i)
			i[a] = k
			return phase(k, s)
		})
		if err = dist.Agree(ctx, x.Comm(), name, err); err == nil {
			turn, err = Diagonal(d)
		}
	}
	if err != nil {
		return nil, err
	}
	turned, err := linop.Compose(turn, transform)
	if err != nil {
		return nil, err
	}
	return linop.Compose(linop.H(transform), turned)
}

// spectrum returns the transform of an axis whose adjoint is its inverse, and its
// frequencies: RealFFT if T is real, otherwise FFT. C is the complex type of T. The
// result lies as the transform leaves it.
func spectrum[C, T scalar.Scalar](ctx context.Context, x *dist.Space, axis, samples int, sampling float64) (linop.Map[T, C], []float64, error) {
	if samples == 0 {
		samples = x.Shape().Dim(axis)
	}
	o := FFTOptions{Norm: FFTNormOrtho, Sizes: []int{samples}, Transposed: true}
	if !scalar.Of[T]().IsComplex() {
		f, err := RealFFT[C, T](ctx, x, axis, o)
		return f, RealFrequencies(samples, sampling), err
	}
	f, err := FFT[C](ctx, x, axis, o)
	if err != nil {
		return nil, nil, err
	}
	return f.(linop.Map[T, C]), Frequencies(samples, sampling, false), nil
}
