package main

import (
	"context"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops/wave"
	"github.com/golops/golops/scalar"
)

// problem makes an operator and the model to find.
type problem[T scalar.Scalar] func(ctx context.Context, r dist.Proc) (linop.Operator[T], dist.Array[T], error)

// problems are those of perf/peer/py/inversion.py.
var problems = map[string]struct {
	float32 problem[float32]
	float64 problem[float64]
}{
	"lsm": {migration[float32], migration[float64]},
	"mdc": {deconvolution[complex64, float32], deconvolution[complex128, float64]},
}

// migration is that of PyLops-MPI's tutorial on a larger grid.
func migration[T scalar.Scalar](ctx context.Context, r dist.Proc) (op linop.Operator[T], refl dist.Array[T], err error) {
	const nx, nz, d, nt, nr, ns = 201, 150, 4, 651, 51, 16
	g := wave.Grid{X: wave.Axis{N: nx, Step: d}, Z: wave.Axis{N: nz, Step: d}}
	times, err := wave.NewConstant(g, 1000)
	if err != nil {
		return op, refl, err
	}
	t := make([]float64, 41)
	for i := range t {
		t[i] = 0.004 * float64(i)
	}
	w, err := wave.Ricker(t, 20)
	if err != nil {
		return op, refl, err
	}
	k := wave.KirchhoffOptions{Times: times, Samples: nt, Interval: 0.004, Wavelet: w.W, Centre: w.Centre}
	line := func(n int, z float64) (p []wave.Point) {
		lo, hi := 10.0*d, float64(nx-10)*d
		for i := range n {
			p = append(p, wave.Point{X: lo + (hi-lo)*float64(i)/float64(n-1), Z: z})
		}
		return p
	}
	k.Sources, k.Receivers = line(ns, 10), line(nr, 20)
	if op, err = wave.KirchhoffBySource[T](ctx, r, k); err != nil {
		return op, refl, err
	}
	refl, err = dist.FromFunc(ctx, op.Domain(), func(i []int) T {
		switch i[1] {
		case nz / 2:
			return -1
		case 5 * nz / 6:
			return scalar.From[T](0.5)
		}
		return 0
	})
	return op, refl, err
}

// deconvolution has 128 frequencies of 128 × 128, 16 virtual sources and 257 samples.
// No rank holds all of anything: the kernel is split by frequencies, wavefields are split
// by virtual sources.
func deconvolution[C, R scalar.Scalar](ctx context.Context, r dist.Proc) (op linop.Operator[R], model dist.Array[R], err error) {
	const nf, n, nv, nt = 128, 128, 16, 257
	x, err := dist.NewSpace(ctx, r, dist.Split(2), nt, n, nv)
	if err != nil {
		return op, model, err
	}
	s, err := x.Like(dist.Split(0), nf, n, n)
	if err != nil {
		return op, model, err
	}
	g, err := dist.FromFunc(ctx, s, func(i []int) C {
		at := (i[0]*n+i[1])*n + i[2]
		return scalar.From[C](complex(value(at, 4), value(at, 5)))
	})
	if err != nil {
		return op, model, err
	}
	if op, err = wave.MDC[C, R](ctx, g, x, wave.MDCOptions{Prescaled: true, TwoSided: true}); err != nil {
		return op, model, err
	}
	model, err = dist.FromFunc(ctx, x, func(i []int) R {
		return scalar.From[R](complex(value((i[0]*n+i[1])*nv+i[2], 1), 0))
	})
	return op, model, err
}

// value is element i of array number seed, between -1/2 and 1/2. inversion.py has the
// same formula.
func value(i, seed int) float64 { return float64((i*7919+seed*104729)%1009)/1009 - 0.5 }
