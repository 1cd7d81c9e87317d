package lsm

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
)

// Task returns the job for the kit to run.
func (j *Job) Task() *app.Task {
	elem, do := 8.0, run[float64]
	if j.Config.Operator.Type == "float32" {
		elem, do = 4, run[float32]
	}
	img := elem * float64(j.Grid.Nodes())
	traces := elem * float64(len(j.Sources)) * float64(len(j.Receivers)) * float64(j.Config.Time.Samples)
	results := 2 * img
	if j.Reflectivity != nil {
		results += img + traces
	}
	return &app.Task{
		Config: j.Config, Warnings: j.Warnings, Bytes: results, State: 2*img + traces, // of the state: image, direction and residual
		Run: func(r *app.Rank) *app.Results { return golops.Must(do(r.Context(), j, r)) },
	}
}

// session is the state of a run on one rank.
type session[T scalar.Scalar] struct {
	*Job
	r           *app.Rank
	op          linop.Operator[T]
	d, adj, inv dist.Array[T]
}

func run[T scalar.Scalar](ctx context.Context, j *Job, r *app.Rank) (*app.Results, error) {
	s := &session[T]{Job: j, r: r}
	for _, stage := range []struct {
		name string
		f    func() error
	}{
		{"travel times", func() (err error) { s.op, err = s.operator(ctx); return err }},
		{"data", func() (err error) { s.d, err = s.record(ctx); return err }},
		{"adjoint", func() (err error) { s.adj, err = s.migrate(ctx, s.d); return err }},
	} {
		r.Stage(stage.name, func() { golops.Check(stage.f()) })
	}
	var err error
	if s.inv, err = dist.New[T](s.op.Domain()); err != nil {
		return nil, err
	}
	c := j.Config.Solver
	r.Live = func(x []float64) report.Picture { return s.picture("Inverse so far", x) }
	app.Invert(r, c, app.Method[T, T](c.Method), golops.FromMap(r.World, s.op), s.vec(s.d), s.vec(s.inv))
	res := &app.Results{Arrays: []app.Array{app.Save("inverse.npy", s.vec(s.inv)), app.Save("adjoint.npy", s.vec(s.adj))}, Pictures: s.pictures}
	correlation := math.NaN()
	if s.Reflectivity != nil {
		truth, err := s.truth(ctx)
		if err != nil {
			return nil, err
		}
		correlation = app.Correlation(s.vec(s.inv), s.vec(truth))
		res.Arrays = append(res.Arrays, app.Save("model.npy", s.vec(truth)), app.Save("data.npy", s.vec(s.d)))
	}
	res.Numbers = []app.Number{{Name: "model correlation", Key: "correlation", Value: correlation, Format: "%.3f"}}
	return res, nil
}

// vec returns an array for the front door.
func (s *session[T]) vec(a dist.Array[T]) golops.Vec[T] { return golops.FromArray(s.r.World, a) }

// operator returns the modelling operator, with its work spread over the ranks.
func (s *session[T]) operator(ctx context.Context) (linop.Operator[T], error) {
	c := s.Config
	k := wave.KirchhoffOptions{
		Times: s.times, Sources: s.Sources, Receivers: s.Receivers, Samples: c.Time.Samples, Interval: c.Time.Interval,
		Wavelet: s.Wavelet, Centre: len(s.Wavelet) / 2,
	}
	if c.Operator.Dynamic {
		w, err := s.weights()
		if err := dist.Agree(ctx, s.r.Proc().Comm, "weights", err); err != nil {
			return nil, err
		}
		k.Weights = w
	}
	split := wave.KirchhoffBySource[T]
	if c.Operator.Split == "model" {
		split = wave.KirchhoffByModel[T]
	}
	op, err := split(ctx, s.r.Proc(), k)
	if err == nil {
		s.r.Work(op.Range().LocalShape().Size()/c.Time.Samples, "traces")
	}
	return op, err
}

// weights returns those of the dynamic mode.
func (s *session[T]) weights() (wave.Weights, error) {
	o := s.Config.Operator
	var angle, aperture wave.Taper
	if o.Angle > 0 {
		angle = wave.TaperTo(o.Angle * math.Pi / 180)
	}
	if o.Aperture > 0 {
		aperture = wave.TaperTo(o.Aperture)
	}
	return wave.NewDynamic(s.Grid, s.Velocity, s.Sources, s.Receivers, angle, aperture)
}

// truth returns the true model. It is collective.
func (s *session[T]) truth(ctx context.Context) (dist.Array[T], error) {
	m, err := dist.New[T](s.op.Domain())
	if err == nil {
		err = s.fillTrue(m)
	}
	return m, dist.Agree(ctx, s.r.Proc().Comm, "true model", err)
}
