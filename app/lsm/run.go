package lsm

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops/wave"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
	"github.com/golops/golops/trace"
)

// Observer is called as a run proceeds on one rank, from one goroutine.
type Observer interface {
	Stage(name string)
	Iteration(k, of int, relative float64) // with the residual relative to the data
	Note(text string)                      // about progress
	Warn(text string)                      // about a problem that does not end the run
	Saved(text string)                     // about results that are on disk
}

// Result is the result of a run. It is the same on all ranks, except where noted.
type Result struct {
	Status      string        `json:"status"`
	Iterations  int           `json:"iterations"`
	Resumed     int           `json:"resumed"`
	Reduction   float64       `json:"residual"`    // the last residual relative to the data
	Correlation float64       `json:"correlation"` // of the inverse with the true model; NaN if that is unknown
	Elapsed     time.Duration `json:"-"`
	Version     string        `json:"version"`      // of golops
	Comm        string        `json:"communicator"` // with its version
	Notes       []string      `json:"notes,omitempty"`
	Warnings    []string      `json:"warnings,omitempty"` // of Prepare
	Timings     []Timing      `json:"timings"`            // by rank; on rank 0
	Files       []string      `json:"files"`              // what was written; on rank 0
	Stopped     Stop          `json:"-"`                  // why the run was stopped; zero if it was not
	history     []solve.Norms
}

// Timing is where one rank spent its seconds.
type Timing struct {
	Rank      int     `json:"rank"`
	Device    string  `json:"device"`
	Traces    int     `json:"traces"`
	Tables    float64 `json:"tables_s"`
	Data      float64 `json:"data_s"`
	Adjoint   float64 `json:"adjoint_s"`
	Inversion float64 `json:"inversion_s"`
}

// Run does the job on this rank. It is collective. Results go to a new folder, which
// replaces Config.Out at the end. Older results stay beside it under a numbered name.
// If there is an error and the Result is not nil, there are results, and the error
// says where. A stop ends the inversion after the current iteration, and results are
// written. Before the inversion only the end of ctx stops a run. A *ConfigError is
// one that the user can correct. All ranks return it.
func (j *Job) Run(ctx context.Context, r dist.Proc, c Control) (*Result, error) {
	if c.Observer == nil {
		c.Observer = silent{}
	}
	if j.Config.Operator.Type == "float32" {
		return run[float32](ctx, j, r, c)
	}
	return run[float64](ctx, j, r, c)
}

// session is the state of a run on one rank.
type session[T scalar.Scalar] struct {
	*Job
	r          dist.Proc
	op         linop.Operator[T]
	timing     Timing
	out        *outFolder             // on rank 0
	dir        string                 // where this run writes its results
	checkpoint *data.CheckpointFolder // nil without a folder of checkpoints
	notes      []string               // warnings that came before the inversion
}

func run[T scalar.Scalar](ctx context.Context, j *Job, r dist.Proc, ctl Control) (*Result, error) {
	defer trace.Begin(ctx, "lsm").End()
	start, o := time.Now(), ctl.Observer
	s := &session[T]{Job: j, r: r, timing: Timing{Rank: r.Rank(), Device: fmt.Sprint(r.Device)}}
	for _, w := range j.Warnings {
		o.Warn(w)
	}
	reg := trace.Begin(ctx, "folders")
	err := s.openFolders(ctx, o)
	reg.End()
	if err != nil {
		s.closeFolders()
		return nil, err
	}
	defer s.closeFolders()
	var d, adj, inv dist.Array[T]
	res := &Result{}
	for _, step := range []struct {
		name string
		took *float64
		f    func() error
	}{
		{"travel times", &s.timing.Tables, func() (err error) { s.op, err = s.operator(ctx); return err }},
		{"data", &s.timing.Data, func() (err error) { d, err = s.record(ctx); return err }},
		{"adjoint", &s.timing.Adjoint, func() (err error) { adj, err = s.migrate(ctx, d); return err }},
		{"inversion", &s.timing.Inversion, func() (err error) { inv, err = s.invert(ctx, d, ctl, res); return err }},
	} {
		o.Stage(step.name)
		reg, t := trace.Begin(ctx, step.name), time.Now()
		err := step.f()
		if err == nil {
			err = r.Device.Sync(ctx) // so that the step's time is its own
		}
		reg.End()
		if err != nil {
			return nil, fmt.Errorf("lsm: %s: %w", step.name, err)
		}
		*step.took = time.Since(t).Seconds()
	}
	if err := s.compare(ctx, inv, res); err != nil {
		return nil, err
	}
	timings, err := comm.GatherObjects(ctx, r.Comm, s.timing, 0)
	if err != nil {
		return nil, err
	}
	res.Timings, res.Elapsed = timings, time.Since(start)
	res.Version, res.Comm, res.Warnings = s.Version, r.Comm.String(), s.Warnings
	if res.Stopped.Signal != 0 && res.Iterations == 0 {
		return res, nil // there is no image yet, and an older one stays
	}
	o.Stage("report")
	defer trace.Begin(ctx, "report").End()
	if err := s.write(ctx, d, adj, inv, o, res); err != nil {
		return res, fmt.Errorf("lsm: results: %w", err)
	}
	return res, nil
}

// operator returns the modelling operator, with its work spread over the ranks.
func (s *session[T]) operator(ctx context.Context) (linop.Operator[T], error) {
	c := s.Config
	k := wave.KirchhoffOptions{
		Times: s.times, Sources: s.Sources, Receivers: s.Receivers, Samples: c.Time.Samples, Interval: c.Time.Interval,
		Wavelet: s.Wavelet, Centre: len(s.Wavelet) / 2,
	}
	if c.Operator.Dynamic {
		w, err := s.weights()
		if err := dist.Agree(ctx, s.r.Comm, "weights", err); err != nil {
			return nil, err
		}
		k.Weights = w
	}
	split := wave.KirchhoffBySource[T]
	if c.Operator.Split == "model" {
		split = wave.KirchhoffByModel[T]
	}
	op, err := split(ctx, s.r, k)
	if err == nil {
		s.timing.Traces = op.Range().LocalShape().Size() / c.Time.Samples
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

// compare correlates the inverse with the true model, if that is known.
func (s *session[T]) compare(ctx context.Context, inv dist.Array[T], res *Result) error {
	if s.Reflectivity == nil {
		return nil
	}
	m, err := dist.New[T](s.op.Domain())
	if err != nil {
		return err
	}
	if err := s.fillTrue(m); err != nil {
		return err
	}
	red := dist.NewReduction(m.Space(), 3)
	dot, size, truth := dist.AddDot(red, inv, m), dist.AddNorm2(red, inv), dist.AddNorm2(red, m)
	if err := red.Do(ctx); err != nil {
		return err
	}
	if n := math.Sqrt(size.Float() * truth.Float()); n > 0 {
		res.Correlation = dot.Float() / n
	}
	return nil
}

// Summary returns the result in one line.
func (r *Result) Summary() string {
	s := fmt.Sprintf("%s after %d iterations: residual down to %.3g of the data", r.Status, r.Iterations, r.Reduction)
	if !math.IsNaN(r.Correlation) {
		s += fmt.Sprintf(", model correlation %.3f", r.Correlation)
	}
	return s + fmt.Sprintf(", %.1f s", r.Elapsed.Seconds())
}
