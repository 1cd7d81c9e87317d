package seismic

import (
	"fmt"
	"math"
	"slices"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/ops/wave"
	"github.com/golops/golops/report"
	"github.com/golops/golops/scalar"
)

// Run is the run of an application on one rank. The application fills it: first Truth and
// Before, then the operator, with Record, and last X.
type Run[T golops.Scalar] struct {
	*Survey
	Rank           *app.Rank
	Traces, Models *Volume[T]

	Value func(float64) float64 // what users see of a number of a model; nil means the number itself
	Map   report.ColorMap       // of models

	Wave   []float64
	A      golops.Operator[T] // from models to traces
	D      golops.Vec[T]
	Truth  golops.Vec[T] // of the built-in example
	Before golops.Vec[T] // what is known without the inversion
	X      golops.Vec[T]
}

// NewRun begins a run, with models of these dimensions. It is collective.
func NewRun[T golops.Scalar](r *app.Rank, s *Survey, models []int) *Run[T] {
	run := &Run[T]{Survey: s, Rank: r, Traces: NewVolume[T](r.World, s.File.Shape, s.Split)}
	run.Models = run.Traces
	if !slices.Equal(models, s.File.Shape) {
		run.Models = NewVolume[T](r.World, models, s.Split)
	}
	r.Work(run.Traces.Space.Dist().LocalShape().Size()/run.Samples(), "traces")
	return run
}

// Modelled reports whether the data are those of the built-in example.
func (s *Run[T]) Modelled() bool { return s.File.Path == "" }

// Samples returns the number of samples of a trace.
func (s *Run[T]) Samples() int { return s.File.Shape[len(s.File.Shape)-1] }

// Logarithms returns those of the model in a file. All its values must be positive; what
// names one, such as "an impedance".
func (s *Run[T]) Logarithms(f data.VolumeFile, what string) golops.Vec[T] {
	v := s.Models.Load(s.Rank, f)
	if lo, _ := v.MinMax(); !(lo > 0) {
		golops.Check(&app.ConfigError{Err: fmt.Errorf("%s has %s of %g: all must be positive", app.Shown(f.Path), what, lo)})
	}
	return v.MapReal(math.Log)
}

// Start makes a model, smoothed over some samples, what the inversion starts from.
func (s *Run[T]) Start(x golops.Vec[T], over int) {
	if s.Before = x; over > 1 {
		s.Before = smooth(x, over)
	}
	s.X = s.Before.Clone()
}

// Record reads the traces, or models them of Truth with noise, and makes the operator with
// the wavelet, which is given or estimated. modelling makes an operator. It is collective.
func (s *Run[T]) Record(modelling func(w []T) golops.Operator[T]) {
	s.Wave = s.given
	if s.Modelled() {
		if s.Wave == nil {
			s.Wave = golops.Must(s.ricker(s.Interval))
		}
		s.D = modelling(samples[T](s.Wave)).Apply(s.Truth)
		s.Traces.AddNoise(s.D, s.Noise)
	} else {
		s.D = s.Traces.Load(s.Rank, s.File)
	}
	if s.D.Norm() == 0 {
		what := "modelled data"
		if !s.Modelled() {
			what = app.Shown(s.File.Path)
		}
		golops.Check(&app.ConfigError{Err: fmt.Errorf("%s: all samples are zero", what)})
	}
	if s.given == nil {
		s.Wave = golops.Must(wave.EstimateWavelet(s.Rank.Context(), s.D.Array(), s.Half))
		scale(s.Wave, s.Peak)
	}
	s.A = modelling(samples[T](s.Wave))
}

// samples returns a wavelet as elements of T.
func samples[T golops.Scalar](wavelet []float64) []T {
	out := make([]T, len(wavelet))
	for i, v := range wavelet {
		out[i] = scalar.From[T](complex(v, 0))
	}
	return out
}

// Results saves what was found under the name image, and what was known before, and
// adds numbers to the misfit of the data. It is collective.
func (s *Run[T]) Results(image, before string, pictures func() []app.Picture, numbers ...app.Number) *app.Results {
	misfit := app.Number{Name: "data misfit", Key: "misfit", Value: app.Distance(s.A.Apply(s.X), s.D), Format: "%.4f"}
	res := &app.Results{Numbers: append([]app.Number{misfit}, numbers...), Pictures: pictures}
	model := func(name string, x golops.Vec[T]) {
		if s.Value != nil {
			x = x.MapReal(s.Value)
		}
		res.Arrays = append(res.Arrays, s.Models.Save(name, x, s.File))
	}
	model(image+".npy", s.X)
	if s.File.Words != nil && s.Models == s.Traces {
		model(image+".segy", s.X)
	}
	model(before+".npy", s.Before)
	if s.Modelled() {
		model("model.npy", s.Truth)
		res.Arrays = append(res.Arrays, s.Traces.Save("data.npy", s.D, s.File))
	}
	w := golops.NewSpace[float64](s.Rank.World, dist.Replicated, len(s.Wave)).Block(s.Wave)
	res.Arrays = append(res.Arrays, app.Save("wavelet.npy", w))
	return res
}

// Compare returns the value of f for what was known before and for what was found,
// against the truth; NaN where that is not known.
func (s *Run[T]) Compare(f func(a, b golops.Vec[T]) float64) (before, after float64) {
	if !s.Modelled() {
		return math.NaN(), math.NaN()
	}
	return f(s.Before, s.Truth), f(s.X, s.Truth)
}

// Errors are those of a background and of the inversion.
func (s *Run[T]) Errors() []app.Number {
	before, after := s.Compare(app.Distance[T])
	return []app.Number{
		{Name: "error of the background", Key: "error_background", Value: before, Format: "%.5f"},
		{Name: "error of the inversion", Key: "error", Value: after, Format: "%.5f"},
	}
}
