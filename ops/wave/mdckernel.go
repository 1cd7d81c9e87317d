package wave

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/cmplx"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

// MDCKernelOptions are the options of MDCKernel. The zero value is of wavefields from time
// zero on, with all frequencies.
type MDCKernelOptions struct {
	TwoSided    bool // the wavefields that MDC convolves have negative times, too
	Frequencies int  // that are kept, from zero on; 0 means all
}

// Samples returns how many samples the wavefields of MDC have for a kernel of n samples
// from time zero on.
func (o MDCKernelOptions) Samples(n int) int {
	if o.TwoSided {
		return 2*n - 1
	}
	return n
}

// MDCKernel makes the kernel that MDC takes of its n samples from time zero on, with the
// axes time, source and receiver:
//
//	y[f, s, r] = Σₜ exp(-2πi·f·(t+t₀)/nt)·x[t, s, r],  f = 0, 1, ..., Frequencies-1
//
// nt is the number of samples that wavefields have. It is n, and t₀ = 0, for wavefields
// from time zero on. TwoSided wavefields have nt = 2n-1 samples, with time zero in the
// middle, at t₀ = n-1. That is numpy.fft.rfft of the kernel with t₀ zeros in front. C must
// be the complex type of R. The map is linear over the real numbers.
//
// Where time is split, ranks move the kernel as ops.RealFFT does.
func MDCKernel[C, R scalar.Scalar](ctx context.Context, x *dist.Space, o MDCKernelOptions) (linop.Map[R, C], error) {
	const what = "wave: MDC kernel"
	if x == nil {
		return nil, errors.New(what + ": no space given")
	}
	err := o.check(x)
	if err := dist.Agree(ctx, x.Comm(), what, err, x.Shape(), o); err != nil {
		return nil, err
	}
	n := x.Shape().Dim(0)
	nt := o.Samples(n)
	f, err := ops.RealFFT[C, R](ctx, x, 0, ops.FFTOptions{Sizes: []int{nt}})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	c := make([]C, nt/2+1)
	for k := range c {
		turn := cmplx.Rect(1, -2*math.Pi*float64(k*(nt-n)%nt)/float64(nt))
		if k > 0 && 2*k != nt {
			turn /= math.Sqrt2 // RealFFT has √2 in what stands for two frequencies
		}
		c[k] = scalar.From[C](turn)
	}
	scale, err := ops.DiagonalAlong(ctx, f.Range(), 0, c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	keep := len(c)
	if o.Frequencies > 0 {
		keep = o.Frequencies
	}
	cut, err := ops.Resize[C](ctx, f.Range(), 0, keep)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	scaled, err := linop.Compose(scale, f)
	if err != nil {
		return nil, err
	}
	return linop.Compose(cut, scaled)
}

// check reports samples that make no kernel.
func (o MDCKernelOptions) check(x *dist.Space) error {
	if x.Parts() != nil || x.Shape().NDim() != 3 {
		return fmt.Errorf("samples of shape %v: they need three axes: time, sources and receivers", x.Shape())
	}
	n := x.Shape().Dim(0)
	if n == 0 || n > math.MaxInt/4 {
		return fmt.Errorf("samples of shape %v: the number of times must be positive, and not more than can be transformed", x.Shape())
	}
	if most := o.Samples(n)/2 + 1; o.Frequencies < 0 || o.Frequencies > most {
		return fmt.Errorf("%d frequencies: there are %d, or give 0 for all", o.Frequencies, most)
	}
	return nil
}
