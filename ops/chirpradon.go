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

// ChirpRadonOptions are the options of ChirpRadon2D and ChirpRadon3D.
type ChirpRadonOptions struct {
	// MaxSlopes is for each axis but time the largest slope, in time samples per trace. Slopes go
	// from minus this one, in as many equal steps as there are traces.
	MaxSlopes []float64
	// Inverse asks for the inverse, up to what the slopes do not reach: the adjoint times |f|
	// for each direction.
	Inverse bool
}

// ChirpRadon2D is the linear Radon transform of data of axes trace and time into as many
// slopes, computed for each frequency f of time, in cycles per sample:
//
//	Y[k, f] = Σⱼ exp(2πi·f·pₖ·xⱼ)·X[j, f], xⱼ = j - ⌈n/2⌉, pₖ = 2·xₖ·MaxSlopes[0]/n
//
// The forward transform adds up along lines, which is the adjoint in Radon2D. Since 2·xⱼ·xₖ = xⱼ² +
// xₖ² - (xₖ-xⱼ)², the sum is a convolution with a chirp: a transform of 2n samples there and back
// in place of a matrix for each frequency, which FourierRadon2D has. Slopes and data are split
// alike; ranks move them as FFT does.
func ChirpRadon2D[T scalar.Scalar](ctx context.Context, x *dist.Space, o ChirpRadonOptions) (linop.Operator[T], error) {
	return chirpRadonOf[T](ctx, x, 1, o)
}

// ChirpRadon3D is ChirpRadon2D with two directions: data have the axes trace along the
// first, trace along the second, and time. Products p·x add up.
func ChirpRadon3D[T scalar.Scalar](ctx context.Context, x *dist.Space, o ChirpRadonOptions) (linop.Operator[T], error) {
	return chirpRadonOf[T](ctx, x, 2, o)
}

func chirpRadonOf[T scalar.Scalar](ctx context.Context, x *dist.Space, directions int, o ChirpRadonOptions) (linop.Operator[T], error) {
	if scalar.Of[T]() == scalar.Float32 || scalar.Of[T]() == scalar.Complex64 {
		return chirpRadon[complex64, T](ctx, x, directions, o)
	}
	return chirpRadon[complex128, T](ctx, x, directions, o)
}

func chirpRadon[C, T scalar.Scalar](ctx context.Context, x *dist.Space, directions int, o ChirpRadonOptions) (linop.Operator[T], error) {
	const name = "ops: chirp Radon transform"
	if err := agree(ctx, name, x, o.check(x, directions), o); err != nil {
		return nil, err
	}
	spectra, f, err := spectrum[C, T](ctx, x, directions, 0, 1)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c := chirps{n: x.Shape().Dims()[:directions], rates: make([]float64, directions)}
	for a, n := range c.n {
		c.axes, c.sizes = append(c.axes, a), append(c.sizes, 2*n)
		c.rates[a] = 2 * o.MaxSlopes[a] / float64(n)
	}
	y := spectra.Range()
	modulate, err := diagonalOf[C](ctx, y, func(i []int) complex128 { return cmplx.Conj(c.at(f[i[directions]], i, c.middle)) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	pad, err := FFTND[C](ctx, y, c.axes, FFTOptions{Norm: FFTNormOrtho, Sizes: c.sizes, Transposed: true})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	filter, err := chirpFilter[C](ctx, pad.Range(), c, f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	steps := []linop.Operator[C]{modulate, pad, filter, linop.H(pad), modulate}
	if o.Inverse {
		weight, err := diagonalOf[C](ctx, y, func(i []int) complex128 {
			w := 1.0
			for _, rate := range c.rates {
				w *= rate * math.Abs(f[i[directions]])
			}
			return complex(w, 0)
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		steps = append(steps, weight)
	}
	inner, err := chain(steps...)
	if err != nil {
		return nil, err
	}
	if o.Inverse {
		inner = linop.H(inner)
	}
	forward, err := linop.Compose(inner, spectra)
	if err != nil {
		return nil, err
	}
	return linop.Compose(linop.H(spectra), forward)
}

func (o ChirpRadonOptions) check(x *dist.Space, directions int) error {
	if x == nil {
		return errors.New("no space given")
	}
	var errs []error
	if x.Parts() != nil || x.Shape().NDim() != directions+1 {
		errs = append(errs, fmt.Errorf("data have shape %v: need %d axes, traces before time", x.Shape(), directions+1))
	} else if x.Shape().Size() == 0 {
		errs = append(errs, fmt.Errorf("data have shape %v: need traces and samples", x.Shape()))
	}
	if len(o.MaxSlopes) != directions {
		errs = append(errs, fmt.Errorf("max slopes %v: give one for each of %d directions", o.MaxSlopes, directions))
	}
	for _, p := range o.MaxSlopes {
		if !(p > 0) || math.IsInf(p, 0) {
			errs = append(errs, fmt.Errorf("max slope is %g: must be above 0 and finite, in time samples per trace", p))
		}
	}
	return errors.Join(errs...)
}

// chirps are exp(-πi·rate·f·x²) along some axes of traces.
type chirps struct {
	n, axes, sizes []int
	rates          []float64
}

// middle returns where trace i of n lies around the middle, around where PyLops has it.
func (c chirps) middle(i, n int) int { return i - (n - n/2) }

// around returns where place i of a filter of 2n samples lies around its first.
func (c chirps) around(i, n int) int {
	if i >= n {
		return i - 2*n
	}
	return i
}

// at returns the product of all chirps at frequency f.
func (c chirps) at(f float64, i []int, place func(i, n int) int) complex128 {
	turns := 0.0
	for a, n := range c.n {
		x := float64(place(i[a], n))
		turns += c.rates[a] * f * x * x / 2
	}
	return cmplx.Rect(1, -2*math.Pi*(turns-math.Round(turns)))
}

// chirpFilter returns the product with the spectra of the chirps, laid out like y.
func chirpFilter[C scalar.Scalar](ctx context.Context, y *dist.Space, c chirps, f []float64) (linop.Operator[C], error) {
	k, err := dist.FromFunc(ctx, y, func(i []int) C { return scalar.From[C](c.at(f[i[len(c.n)]], i, c.around)) })
	var d dist.Array[C]
	if err == nil {
		d, err = dist.New[C](y)
	}
	if err := dist.Agree(ctx, y.Comm(), "ops: chirp Radon transform", err); err != nil {
		return nil, err
	}
	transform, err := FFTND[C](ctx, y, c.axes, FFTOptions{Norm: FFTNormNone})
	if err != nil {
		return nil, err
	}
	if err := transform.Forward(ctx, d, k); err != nil {
		return nil, err
	}
	return Diagonal(d)
}

// diagonalOf returns the product with numbers that a function has for each element of y.
func diagonalOf[C scalar.Scalar](ctx context.Context, y *dist.Space, at func(i []int) complex128) (linop.Operator[C], error) {
	d, err := dist.FromFunc(ctx, y, func(i []int) C { return scalar.From[C](at(i)) })
	if err := dist.Agree(ctx, y.Comm(), "ops: chirp Radon transform", err); err != nil {
		return nil, err
	}
	return Diagonal(d)
}
