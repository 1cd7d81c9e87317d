package wave

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// Gain returns a number that is no smaller than the square of the norm of a convolution
// with w: the square of its largest amplitude at any frequency, and 2 % above that of those
// it looks at. One by it is a safe length of steps along a gradient.
func Gain(w []float64) float64 {
	most := 0.0
	for k := range 8*len(w) + 1 {
		re, im := 0.0, 0.0
		for i, v := range w {
			sin, cos := math.Sincos(math.Pi * float64(k*i) / float64(8*len(w)))
			re += v * cos
			im += v * sin
		}
		most = max(most, re*re+im*im)
	}
	return 1.02 * most // between two frequencies it may be a little larger
}

// EstimateWavelet returns the zero-phase wavelet of traces whose reflection coefficients
// are random: their average autocorrelation is then that of the wavelet, so that its
// Fourier transform is the square of the wavelet's. The wavelet has half samples on
// either side of time zero, where it is 1: traces do not tell its size.
//
// Time is the first axis of the traces and whole on each rank. It is collective; ranks
// send 4·half+1 numbers.
func EstimateWavelet[T scalar.Scalar](ctx context.Context, traces dist.Array[T], half int) ([]float64, error) {
	const what = "wave: estimate a wavelet"
	corr, err := autocorrelation(traces, half)
	if err := dist.Agree(ctx, traces.Space().Comm(), what, err, half); err != nil {
		return nil, err
	}
	sums := dist.NewReduction(traces.Space(), len(corr))
	slots := make([]dist.Slot, len(corr))
	for l, c := range corr {
		slots[l] = sums.AddNumber(c)
	}
	if err := sums.Do(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	for l, s := range slots {
		corr[l] = s.Float()
	}
	if !(corr[0] > 0) || math.IsInf(corr[0], 0) {
		return nil, fmt.Errorf("%s: the power of the traces is %g, must be positive and finite", what, corr[0])
	}
	return fromAutocorrelation(corr, half), nil
}

// autocorrelation returns Σ d[t]·d[t+l] over this rank's traces and all times, for lags
// l of up to 4·half: a wavelet of 2·half+1 samples has none beyond 2·half, and the rest
// shows where noise begins.
func autocorrelation[T scalar.Scalar](traces dist.Array[T], half int) ([]float64, error) {
	s := traces.Space()
	if s.Parts() != nil || s.Shape().NDim() == 0 {
		return nil, errors.New("traces have a time axis")
	}
	nt := s.Shape().Dim(0)
	if s.LocalShape().Dim(0) != nt && s.LocalShape().Size() > 0 {
		return nil, errors.New("the time axis is split over ranks: split another one")
	}
	if half < 1 || 2*half+1 > nt {
		return nil, fmt.Errorf("%d samples on either side: must be at least 1, and the wavelet at most as long as the %d samples of a trace", half, nt)
	}
	host, err := traces.Host()
	if err != nil {
		return nil, err
	}
	row := len(host) / nt
	corr := make([]float64, 4*half+1)
	for t := range nt {
		a := host[t*row:][:row]
		for l := range min(len(corr), nt-t) {
			b := host[(t+l)*row:][:row]
			sum := 0.0
			for i, v := range a {
				sum += real(scalar.Complex(v)) * real(scalar.Complex(b[i]))
			}
			corr[l] += sum
		}
	}
	return corr, nil
}

// fromAutocorrelation returns the wavelet with the root of the spectrum of the
// autocorrelation. A window makes the ends of the autocorrelation zero, so that the
// spectrum has no ripples.
func fromAutocorrelation(corr []float64, half int) []float64 {
	n := 8 * len(corr) // samples of the spectrum; more than the wavelet needs
	amplitude := make([]float64, n+1)
	for k := range amplitude {
		sum := corr[0]
		for l := 1; l < len(corr); l++ {
			window := 0.5 + 0.5*math.Cos(math.Pi*float64(l)/float64(len(corr)))
			sum += 2 * window * corr[l] * math.Cos(math.Pi*float64(k*l)/float64(n))
		}
		amplitude[k] = math.Sqrt(max(sum, 0))
	}
	w := make([]float64, 2*half+1)
	for t := 0; t <= half; t++ {
		sum := amplitude[0] + amplitude[n]*math.Cos(math.Pi*float64(t))
		for k := 1; k < n; k++ {
			sum += 2 * amplitude[k] * math.Cos(math.Pi*float64(k*t)/float64(n))
		}
		w[half-t], w[half+t] = sum, sum
	}
	peak := w[half]
	for i := range w {
		w[i] /= peak
	}
	return w
}
