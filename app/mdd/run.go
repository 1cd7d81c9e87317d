package mdd

import (
	"context"
	"math"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops/wave"
	"github.com/golops/golops/report"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// session is the state of a run on one rank. C is the complex type of R.
type session[C, R scalar.Scalar] struct {
	*Job
	r                  *app.Rank
	g                  dist.Array[C]
	op                 linop.Operator[R] // of all virtual sources
	d, adj, inv, truth dist.Array[R]
}

func run[C, R scalar.Scalar](ctx context.Context, j *Job, r *app.Rank) (res *app.Results, err error) {
	s := &session[C, R]{Job: j, r: r}
	for _, stage := range []struct {
		name string
		f    func() error
	}{
		{"kernel", func() error {
			if s.g, err = s.kernel(ctx); err == nil {
				s.op, err = s.operator(ctx, j.Virtual)
			}
			return err
		}},
		{"data", func() error { return s.record(ctx) }},
		{"cross-correlation", func() error { s.adj, err = linop.Apply(ctx, linop.H(s.op), s.d); return err }},
	} {
		r.Stage(stage.name, func() { golops.Check(stage.f()) })
	}
	if s.inv, err = dist.New[R](s.op.Domain()); err != nil {
		return nil, err
	}
	if err := s.solve(ctx); err != nil {
		return nil, err
	}
	res = &app.Results{Arrays: []app.Array{app.Save("inverse.npy", s.vec(s.inv)), app.Save("adjoint.npy", s.vec(s.adj))}, Pictures: s.pictures}
	like := math.NaN()
	if s.example != nil {
		res.Arrays = append(res.Arrays, app.Save("model.npy", s.vec(s.truth)), app.Save("data.npy", s.vec(s.d)))
		like = app.Correlation(s.vec(s.inv), s.vec(s.truth))
	}
	res.Numbers = []app.Number{{Name: "model correlation", Key: "correlation", Value: like, Format: "%.3f"}}
	return res, err
}

// vec returns an array for the front door.
func (s *session[C, R]) vec(a dist.Array[R]) golops.Vec[R] { return golops.FromArray(s.r.World, a) }

// operator returns that of so many virtual sources. The model is split by virtual sources
// where there are enough, otherwise by receivers.
func (s *session[C, R]) operator(ctx context.Context, virtual int) (linop.Operator[R], error) {
	c, axis := s.Config, 1
	if c.Operator.Together && virtual >= s.r.Size() {
		axis = 2
	}
	x, err := dist.NewSpace(ctx, s.r.Proc(), dist.Split(axis), s.Samples, s.Receivers, virtual)
	if err != nil {
		return nil, err
	}
	return wave.MDC[C, R](ctx, s.g, x, wave.MDCOptions{Interval: c.Time.Interval, Spacing: c.Operator.Spacing, TwoSided: c.Time.TwoSided})
}

// record reads data, or models those of the example.
func (s *session[C, R]) record(ctx context.Context) (err error) {
	if s.example == nil {
		s.d, err = load[R](ctx, s.r, s.data, s.op.Range(), s.Samples-s.data.dims[0])
		return err
	}
	if s.truth, err = traces[R](ctx, s.op.Domain(), s.Samples-s.example.Samples, s.example.model); err != nil {
		return err
	}
	s.d, err = linop.Apply(ctx, s.op, s.truth)
	return err
}

// solve inverts all virtual sources at once, or one after the other.
func (s *session[C, R]) solve(ctx context.Context) error {
	if s.Config.Operator.Together {
		return s.invert(ctx, s.op, s.d, s.inv, s.Virtual)
	}
	op, err := s.operator(ctx, 1)
	if err != nil {
		return err
	}
	d, err := dist.New[R](op.Range())
	if err != nil {
		return err
	}
	x, err := dist.New[R](op.Domain())
	if err != nil {
		return err
	}
	for v := 0; v < s.Virtual && !s.r.Stopped(); v++ {
		dist.Zero(x)
		if err := dist.Agree(ctx, s.r.Proc().Comm, "data", column(s.d, d, v, s.Virtual, false)); err != nil {
			return err
		}
		if err := s.invert(ctx, op, d, x, 1); err != nil {
			return err
		}
		if err := dist.Agree(ctx, s.r.Proc().Comm, "model", column(s.inv, x, v, s.Virtual, true)); err != nil {
			return err
		}
	}
	return nil
}

// column copies one virtual source of n out of all, or back.
func column[R scalar.Scalar](all, one dist.Array[R], v, n int, back bool) error {
	a, err := all.Host()
	if err != nil {
		return err
	}
	o, err := one.Host()
	if err != nil {
		return err
	}
	for i := range o {
		if back {
			a[i*n+v] = o[i]
		} else {
			o[i] = a[i*n+v]
		}
	}
	if back {
		return all.Local().CopyIn(a)
	}
	return one.Local().CopyIn(o)
}

// invert solves for x, which has so many virtual sources.
func (s *session[C, R]) invert(ctx context.Context, op linop.Operator[R], d, x dist.Array[R], virtual int) error {
	s.r.Live = func(x []float64) report.Picture {
		return s.picture("Deconvolution so far", "receiver", x, s.Receivers, virtual, virtual/2)
	}
	c := s.Config.Solver
	m := app.Method[R, R](c.Method)
	if c.Method == "fista" { // from the largest cross-correlation on, the weight leaves nothing
		largest, err := dist.Norm(ctx, s.adj, math.Inf(1))
		if err != nil {
			return err
		}
		m = &solve.FISTA[R, R]{Shrinkage: solve.Shrinkage[R]{Eps: c.Weight * largest, Threshold: solve.Soft}}
	}
	app.Invert(s.r, c.Solver, m, golops.FromMap(s.r.World, op), s.vec(d), s.vec(x))
	return nil
}
