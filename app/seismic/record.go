package seismic

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// Record returns traces and their wavelet. Traces come from the file or, without one,
// from model, which is given a wavelet, and noise is added. The wavelet is the given one,
// of Wavelet.Read, or an estimate if that is nil. It is collective.
func Record[T scalar.Scalar](ctx context.Context, r *app.Rank, v *Volume[T], in Input, interval, noise float64, w Wavelet, given []float64, model func(wavelet []float64) (dist.Array[T], error)) (d dist.Array[T], wavelet []float64, err error) {
	if in.Path != "" {
		d, err = v.Read(ctx, r, in)
	} else {
		of := given
		if of == nil {
			if of, err = w.ricker(interval); err != nil {
				return d, nil, err
			}
		}
		if d, err = model(of); err == nil {
			err = AddNoise(ctx, v, d, noise)
		}
	}
	if err != nil {
		return d, nil, err
	}
	n, err := dist.Norm(ctx, d, 2)
	if err != nil {
		return d, nil, err
	}
	if n == 0 {
		what := "modelled data"
		if in.Path != "" {
			what = app.Shown(in.Path)
		}
		return d, nil, &app.ConfigError{Err: fmt.Errorf("%s: all samples are zero", what)}
	}
	if given != nil {
		return d, given, nil
	}
	if wavelet, err = EstimateWavelet(ctx, d, w.Half); err != nil {
		return d, nil, err
	}
	for i := range wavelet {
		wavelet[i] *= w.Peak
	}
	return d, wavelet, nil
}

// SaveWavelet returns the wavelet as an array to be saved.
func SaveWavelet(ctx context.Context, w *golops.World, wavelet []float64) (app.Array, error) {
	s, err := dist.NewSpace(ctx, w.Proc(), dist.Replicated, len(wavelet))
	if err != nil {
		return app.Array{}, err
	}
	a, err := dist.FromBlock(ctx, s, wavelet)
	return app.Save("wavelet.npy", golops.FromArray(w, a)), err
}

// Samples returns the wavelet times a factor as elements of T.
func Samples[T scalar.Scalar](wavelet []float64, by float64) []T {
	out := make([]T, len(wavelet))
	for i, v := range wavelet {
		out[i] = scalar.From[T](complex(by*v, 0))
	}
	return out
}

// EachTrace returns an array whose traces are those of a, changed by f. Time is the
// first axis and whole on each rank. It is collective.
func EachTrace[T scalar.Scalar](ctx context.Context, a dist.Array[T], f func(trace []float64)) (dist.Array[T], error) {
	s := a.Space()
	host, err := a.Host()
	nt := s.Shape().Dim(0)
	if err == nil && s.LocalShape().Dim(0) != nt && s.LocalShape().Size() > 0 {
		err = errors.New("the time axis is split")
	}
	if err := dist.Agree(ctx, s.Comm(), "seismic: traces", err); err != nil {
		return dist.Array[T]{}, err
	}
	out, trace, n := make([]T, len(host)), make([]float64, nt), len(host)/nt
	for i := range n {
		for t := range trace {
			trace[t] = real(scalar.Complex(host[t*n+i]))
		}
		f(trace)
		for t, v := range trace {
			out[t*n+i] = scalar.From[T](complex(v, 0))
		}
	}
	return dist.FromBlock(ctx, s, out)
}

// Each applies f to every sample of a trace, for EachTrace.
func Each(f func(float64) float64) func(trace []float64) {
	return func(trace []float64) {
		for i, v := range trace {
			trace[i] = f(v)
		}
	}
}

// Smooth replaces every sample by the mean of the n around it, of fewer at the ends, for
// EachTrace.
func Smooth(n int) func(trace []float64) {
	var sums []float64
	return func(trace []float64) {
		sums = append(sums[:0], 0)
		for _, v := range trace {
			sums = append(sums, sums[len(sums)-1]+v)
		}
		for i := range trace {
			half := min(n/2, i, len(trace)-1-i)
			trace[i] = (sums[i+half+1] - sums[i-half]) / float64(2*half+1)
		}
	}
}
