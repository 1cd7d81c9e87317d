package mdd

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"

	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

// block returns this rank's samples of a wavefield in space s, whose times begin with
// ahead zeros that the file does not have. It reads nothing else from the file.
func block[T scalar.Scalar](ctx context.Context, w wavefield, s *dist.Space, ahead int) ([]T, error) {
	b := s.Box(s.Comm().Rank())
	out := make([]T, s.LocalShape().Size())
	lo, hi := []int{max(b.Lo[0]-ahead, 0), b.Lo[1], b.Lo[2]}, []int{max(b.Hi[0]-ahead, 0), b.Hi[1], b.Hi[2]}
	row := (hi[1] - lo[1]) * (hi[2] - lo[2])
	mine := out[len(out)-(hi[0]-lo[0])*row:]
	if len(mine) == 0 {
		return out, nil
	}
	if !w.segy {
		v, err := data.ReadBlock[T](ctx, w.file, lo[:w.axes], hi[:w.axes])
		copy(mine, v)
		return out, err
	}
	f, err := data.OpenSEGY(w.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	trace := make([]float32, w.dims[0])
	for i := range row {
		source, station := lo[1]+i/(hi[2]-lo[2]), lo[2]+i%(hi[2]-lo[2])
		if err := f.Trace(source*w.dims[2]+station, trace); err != nil {
			return nil, err
		}
		for t := range hi[0] - lo[0] {
			mine[t*row+i] = scalar.From[T](complex(float64(trace[lo[0]+t]), 0))
		}
	}
	return out, nil
}

// load reads a wavefield. What is wrong with the file on any rank is an
// *app.ConfigError on all.
func load[T scalar.Scalar](ctx context.Context, r *app.Rank, w wavefield, s *dist.Space, ahead int) (a dist.Array[T], err error) {
	v, err := block[T](ctx, w, s, ahead)
	for i, x := range v {
		if z := scalar.Complex(x); (cmplx.IsNaN(z) || cmplx.IsInf(z)) && err == nil {
			err = fmt.Errorf("%s: element %d of the block of this rank is %v: replace what is no number", app.Shown(w.file), i, x)
		}
	}
	r.Unusable(w.file, err)
	if a, err = dist.FromBlock(ctx, s, v); err != nil {
		return a, err
	}
	if all, err := dist.Norm(ctx, a, math.Inf(1)); err != nil || all != 0 {
		return a, err
	}
	return a, &app.ConfigError{Err: fmt.Errorf("%s is zero everywhere: there is nothing to deconvolve", app.Shown(w.file))}
}

// traces returns an array of samples along the first axis, which begin with ahead zeros.
func traces[T scalar.Scalar](ctx context.Context, s *dist.Space, ahead int, fill func(dst []float64, i, k int)) (dist.Array[T], error) {
	b := s.Box(s.Comm().Rank())
	out := make([]T, s.LocalShape().Size())
	trace := make([]float64, s.Shape().Dim(0)-ahead)
	row := (b.Hi[1] - b.Lo[1]) * (b.Hi[2] - b.Lo[2])
	for n := range row {
		clear(trace)
		fill(trace, b.Lo[1]+n/(b.Hi[2]-b.Lo[2]), b.Lo[2]+n%(b.Hi[2]-b.Lo[2]))
		for t, v := range trace {
			if at := t + ahead - b.Lo[0]; at >= 0 && at < b.Hi[0]-b.Lo[0] {
				out[at*row+n] = scalar.From[T](complex(v, 0))
			}
		}
	}
	return dist.FromBlock(ctx, s, out)
}

// kernel returns the frequencies of the kernel, spread over a grid of ranks: frequencies,
// and rows of each matrix.
func (s *session[C, R]) kernel(ctx context.Context) (g dist.Array[C], err error) {
	n := s.Config.Operator.FrequencyRanks
	if n == 0 {
		n = s.r.Size()
	}
	if s.r.Size()%n != 0 {
		return g, &app.ConfigError{Err: fmt.Errorf("operator.frequency_ranks is %d, which does not divide the %d ranks", n, s.r.Size())}
	}
	to, err := dist.NewSpace(ctx, s.r.Proc(), dist.Layout{Grid: []int{n, s.r.Size() / n}, Axes: []int{0, 1}}, s.Frequencies, s.Sources, s.Receivers)
	if err != nil {
		return g, err
	}
	s.r.Work(to.LocalShape().Dim(0), "frequencies")
	if s.spectral {
		return load[C](ctx, s.r, s.Job.kernel, to, 0)
	}
	from, err := dist.NewSpace(ctx, s.r.Proc(), dist.Split(1), s.Samples, s.Sources, s.Receivers)
	if err != nil {
		return g, err
	}
	var samples dist.Array[R]
	if s.example != nil {
		samples, err = traces[R](ctx, from, s.Samples-s.example.Samples, s.example.kernel)
	} else {
		samples, err = load[R](ctx, s.r, s.Job.kernel, from, s.Samples-s.Job.kernel.dims[0])
	}
	if err != nil {
		return g, err
	}
	f, err := ops.RealFFT[C, R](ctx, from, 0, ops.FFTOptions{Norm: ops.FFTNormNone})
	if err != nil {
		return g, err
	}
	all, err := linop.Apply(ctx, f, samples)
	if err != nil {
		return g, err
	}
	// RealFFT has √2 in what stands for two frequencies; a kernel has not.
	c := make([]C, all.Space().Shape().Dim(0))
	for i := range c {
		if c[i] = scalar.From[C](complex(math.Sqrt(0.5), 0)); i == 0 || 2*i == s.Samples {
			c[i] = 1
		}
	}
	scale, err := ops.DiagonalAlong(ctx, all.Space(), 0, c)
	if err != nil {
		return g, err
	}
	cut, err := ops.Resize[C](ctx, all.Space(), 0, s.Frequencies)
	if err != nil {
		return g, err
	}
	both, err := linop.Compose(cut, scale)
	if err != nil {
		return g, err
	}
	if g, err = linop.Apply(ctx, both, all); err != nil {
		return g, err
	}
	return dist.Redistribute(ctx, g, to)
}
