package main

import (
	"context"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops/wave"
	"github.com/golops/golops/solve"
)

// survey is least-squares migration as in the tutorial of PyLops-MPI: a constant
// velocity, a Ricker wavelet, no weights.
type survey struct{ nx, nz, receivers, sources, samples int }

func migration(v survey, shrink, steps int, peer, limit [3]float64) kase {
	if shrink > 1 {
		v = survey{max(21, v.nx/shrink), max(12, v.nz/shrink), max(2, v.receivers/shrink), max(2, v.sources/shrink), max(100, v.samples/shrink)}
		steps = max(2, steps/shrink)
	}
	name := fmt.Sprintf("LSM %dx%d, %d rec, %d src, nt %d", v.nx, v.nz, v.receivers, v.sources, v.samples)
	return kase{name, func(ctx context.Context, r dist.Proc) ([]step, error) {
		op, err := v.operator(ctx, r)
		if err != nil {
			return nil, err
		}
		refl, err := dist.FromFunc(ctx, op.Domain(), func(i []int) float32 {
			switch i[1] {
			case v.nz / 2:
				return -1
			case 5 * v.nz / 6:
				return 0.5
			}
			return 0
		})
		if err != nil {
			return nil, err
		}
		data, err := linop.Apply(ctx, op, refl)
		if err != nil {
			return nil, err
		}
		y, err := dist.New[float32](op.Range())
		if err != nil {
			return nil, err
		}
		x, err := dist.New[float32](op.Domain())
		if err != nil {
			return nil, err
		}
		w, err := solve.NewWorkspace(solve.Problem[float32, float32]{A: op, B: data}, x, 0)
		m := &solve.CGLS[float32, float32]{}
		return []step{
			{"forward", peer[0], limit[0], 1, reads{}, func(ctx context.Context) error { return op.Forward(ctx, y, refl) }},
			{"adjoint", peer[1], limit[1], 1, reads{}, func(ctx context.Context) error { return op.Adjoint(ctx, x, data) }},
			{fmt.Sprintf("%d CGLS", steps), peer[2], limit[2], 1, reads{}, func(ctx context.Context) error {
				dist.Zero(x)
				return iterate(ctx, m, w, steps)
			}},
		}, err
	}}
}

func (v survey) operator(ctx context.Context, r dist.Proc) (linop.Operator[float32], error) {
	const d, dt = 4, 0.004
	g := wave.Grid{X: wave.Axis{N: v.nx, Step: d}, Z: wave.Axis{N: v.nz, Step: d}}
	times, err := wave.NewConstant(g, 1000)
	if err != nil {
		return nil, err
	}
	t := make([]float64, 41)
	for i := range t {
		t[i] = dt * float64(i)
	}
	w, err := wave.Ricker(t, 20)
	if err != nil {
		return nil, err
	}
	line := func(n int, z float64) (p []wave.Point) {
		lo, hi := 10.0*d, float64(v.nx-10)*d
		for i := range n {
			p = append(p, wave.Point{X: lo + (hi-lo)*float64(i)/float64(n-1), Z: z})
		}
		return p
	}
	return wave.KirchhoffBySource[float32](ctx, r, wave.KirchhoffOptions{
		Times: times, Samples: v.samples, Interval: dt, Wavelet: w.W, Centre: w.Centre,
		Sources: line(v.sources, 10), Receivers: line(v.receivers, 20),
	})
}
