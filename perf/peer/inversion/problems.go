package main

import (
	"context"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops/wave"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// task is what a round does: apply op to model and, for data, find it again from start.
type task[T scalar.Scalar] struct {
	op                 linop.Operator[T]
	model, data, start dist.Array[T]
	method             solve.Method[T, T] // nil means CGLS
}

// problem makes a task.
type problem[T scalar.Scalar] func(ctx context.Context, r dist.Proc) (task[T], error)

// newTask returns the task to find the model again from its data, from zeros.
func newTask[T scalar.Scalar](ctx context.Context, op linop.Operator[T], model dist.Array[T]) (t task[T], err error) {
	t = task[T]{op: op, model: model}
	if t.data, err = linop.Apply(ctx, op, model); err == nil {
		t.start, err = dist.New[T](op.Domain())
	}
	return t, err
}

// problems are those of perf/peer/py/inversion.py.
var problems = map[string]struct {
	float32 problem[float32]
	float64 problem[float64]
}{
	"lsm":          {migration[float32], migration[float64]},
	"mdc":          {deconvolution[complex64, float32], deconvolution[complex128, float64]},
	"poststack":    {poststack[float32], poststack[float64]},
	"reflectivity": {reflectivity[float32], reflectivity[float64]},
}

// migration is that of PyLops-MPI's tutorial on a larger grid.
func migration[T scalar.Scalar](ctx context.Context, r dist.Proc) (m task[T], err error) {
	const nx, nz, d, nt, nr, ns = 201, 150, 4, 651, 51, 16
	g := wave.Grid{X: wave.Axis{N: nx, Step: d}, Z: wave.Axis{N: nz, Step: d}}
	times, err := wave.NewConstant(g, 1000)
	if err != nil {
		return m, err
	}
	t := make([]float64, 41)
	for i := range t {
		t[i] = 0.004 * float64(i)
	}
	w, err := wave.Ricker(t, 20)
	if err != nil {
		return m, err
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
	op, err := wave.KirchhoffBySource[T](ctx, r, k)
	if err != nil {
		return m, err
	}
	refl, err := dist.FromFunc(ctx, op.Domain(), func(i []int) T {
		switch i[1] {
		case nz / 2:
			return -1
		case 5 * nz / 6:
			return scalar.From[T](0.5)
		}
		return 0
	})
	if err != nil {
		return m, err
	}
	return newTask(ctx, op, refl)
}

// deconvolution has 128 frequencies of 128 × 128, 16 virtual sources and 257 samples.
// No rank holds all of anything: the kernel is split by frequencies, wavefields are split
// by virtual sources.
func deconvolution[C, R scalar.Scalar](ctx context.Context, r dist.Proc) (m task[R], err error) {
	const nf, n, nv, nt = 128, 128, 16, 257
	x, err := dist.NewSpace(ctx, r, dist.Split(2), nt, n, nv)
	if err != nil {
		return m, err
	}
	s, err := x.Like(dist.Split(0), nf, n, n)
	if err != nil {
		return m, err
	}
	g, err := dist.FromFunc(ctx, s, func(i []int) C {
		at := (i[0]*n+i[1])*n + i[2]
		return scalar.From[C](complex(value(at, 4), value(at, 5)))
	})
	if err != nil {
		return m, err
	}
	op, err := wave.MDC[C, R](ctx, g, x, wave.MDCOptions{Prescaled: true, TwoSided: true})
	if err != nil {
		return m, err
	}
	model, err := dist.FromFunc(ctx, x, func(i []int) R {
		return scalar.From[R](complex(value((i[0]*n+i[1])*nv+i[2], 1), 0))
	})
	if err != nil {
		return m, err
	}
	return newTask(ctx, op, model)
}

// value is element i of array number seed, between -1/2 and 1/2. inversion.py has the
// same formula.
func value(i, seed int) float64 { return float64((i*7919+seed*104729)%1009)/1009 - 0.5 }
