package main

import (
	"context"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/ops/wave"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// The volume of the problems poststack and reflectivity. Time is the first axis here and
// the last one in Python: each library has the order that suits its operators.
const nt, ny, nx = 64, 256, 128

// volume returns the space, split along y, the logarithm of an impedance of dipping
// layers, and a smooth background.
func volume[T scalar.Scalar](ctx context.Context, r dist.Proc) (m, back dist.Array[T], err error) {
	x, err := dist.NewSpace(ctx, r, dist.Split(1), nt, ny, nx)
	if err != nil {
		return m, back, err
	}
	depth := func(i []int) int { return 8*i[0] + 2*i[1] + i[2] }
	if m, err = dist.FromFunc(ctx, x, func(i []int) T {
		return scalar.From[T](complex(math.Log(float64(2000+300*(depth(i)/100))), 0))
	}); err != nil {
		return m, back, err
	}
	back, err = dist.FromFunc(ctx, x, func(i []int) T {
		return scalar.From[T](complex(math.Log(float64(1850+3*depth(i))), 0))
	})
	return m, back, err
}

// ricker41 returns the wavelet of PyLops-MPI's tutorial.
func ricker41[T scalar.Scalar]() ([]T, error) {
	t := make([]float64, 21)
	for i := range t {
		t[i] = 0.004 * float64(i)
	}
	w, err := wave.Ricker(t, 15)
	h := make([]T, len(w.W))
	for i, v := range w.W {
		h[i] = scalar.From[T](complex(v, 0))
	}
	return h, err
}

// poststack is the third inversion of PyLops-MPI's tutorial: impedance, smooth in all
// directions.
func poststack[T scalar.Scalar](ctx context.Context, r dist.Proc) (t task[T], err error) {
	const eps = 100
	m, back, err := volume[T](ctx, r)
	if err != nil {
		return t, err
	}
	h, err := ricker41[T]()
	if err != nil {
		return t, err
	}
	a, err := ops.PoststackLinearModelling(ctx, m.Space(), [][]T{h}, ops.DerivativeCentered)
	if err != nil {
		return t, err
	}
	l, err := ops.Laplacian[T](ctx, m.Space(), ops.LaplacianOptions{Axes: []int{0, 1, 2}})
	if err != nil {
		return t, err
	}
	d, err := linop.Apply(ctx, a, m)
	if err != nil {
		return t, err
	}
	p, err := solve.Regularize(solve.Problem[T, T]{A: a, B: d}, solve.Term[T, T]{R: l, Weight: math.Sqrt(eps)})
	return task[T]{op: p.A, model: m, data: p.B, start: back}, err
}

// reflectivity is that of PyLops-MPI's tutorial on the same volume: sparse spikes.
func reflectivity[T scalar.Scalar](ctx context.Context, r dist.Proc) (t task[T], err error) {
	m, _, err := volume[T](ctx, r)
	if err != nil {
		return t, err
	}
	h, err := ricker41[T]()
	if err != nil {
		return t, err
	}
	derivative, err := ops.FirstDerivative[T](ctx, m.Space(), 0, ops.DerivativeDefaults())
	if err != nil {
		return t, err
	}
	spikes, err := linop.Apply(ctx, derivative, m)
	if err != nil {
		return t, err
	}
	op, err := ops.Convolve1D(ctx, m.Space(), 0, h, len(h)/2)
	if err != nil {
		return t, err
	}
	if t, err = newTask(ctx, op, spikes); err != nil {
		return t, err
	}
	t.method = &solve.FISTA[T, T]{Shrinkage: solve.Shrinkage[T]{Eps: 1e-2, Alpha: 0.02}} // PyLops' eps is twice ours
	return t, nil
}
