package reflectivity

import (
	"errors"
	"math"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/app/seismic"
	"github.com/golops/golops/ops/wave"
	"github.com/golops/golops/report"
	"github.com/golops/golops/solve"
)

// session is the state of a run on one rank. Models are reflection coefficients, and what
// is known before the inversion is what least squares find.
type session[T golops.Scalar] struct {
	*job
	*seismic.Run[T]
	alpha   float64 // step of the methods
	largest float64 // weight above which all spikes are zero
	weight  float64 // that was chosen, relative to largest
	trials  []solve.Trial
}

// run returns the work of one rank.
func run[T golops.Scalar](j *job) func(r *app.Rank) *app.Results {
	return func(r *app.Rank) *app.Results {
		s := &session[T]{job: j, Run: seismic.NewRun[T](r, j.survey, j.survey.File.Shape)}
		s.Map = report.Seismic
		r.Stage("data", func() {
			if s.Modelled() {
				s.Truth = s.Models.Func(s.coefficient)
			}
			s.Record(s.modelling)
		})
		r.Stage("least squares", s.leastSquares)
		r.Stage("weight", s.chooseWeight)
		s.X = s.Models.Space.Zero()
		s.Live("Spikes so far")
		s.invert()
		before, after := s.Compare(app.Correlation[T])
		return s.Results("reflectivity", "least-squares", s.pictures,
			app.Number{Name: "weight", Key: "weight", Value: s.weight, Format: "%.4f"},
			app.Number{Name: "spikes per trace", Key: "spikes", Value: s.X.NormP(0) * float64(s.Samples()) / float64(s.Models.Space.Size()), Format: "%.1f"},
			app.Number{Name: "correlation of least squares", Key: "correlation_least_squares", Value: before, Format: "%.3f"},
			app.Number{Name: "correlation with the truth", Key: "correlation", Value: after, Format: "%.3f"})
	}
}

// coefficient returns the reflection coefficient of the built-in example at a point.
func (s *session[T]) coefficient(i []int) float64 {
	if i[2] == 0 {
		return 0
	}
	z := func(k int) float64 { return seismic.Earth(i[0], i[1], k, s.File.Shape).Impedance() }
	a, b := z(i[2]-1), z(i[2])
	return (b - a) / (b + a)
}

// modelling returns the operator from spikes to traces.
func (s *session[T]) modelling(w []T) golops.Operator[T] {
	return golops.Convolve1D(s.Models.Space, 0, w, len(w)/2)
}

// leastSquares finds what the methods need to know of the operator, and the baseline.
func (s *session[T]) leastSquares() {
	if s.largest = s.A.H().Apply(s.D).NormP(math.Inf(1)); s.largest == 0 {
		golops.Check(&app.ConfigError{Err: errors.New("the wavelet explains nothing of the data: check its units and that it belongs to them")})
	}
	s.alpha = 1 / wave.Gain(s.Wave)
	s.Before = golops.CGLS(s.A, s.D, golops.Config{MaxIter: 30, RelTol: 1e-2}).X
}

// invert finds the spikes by the method that the configuration names.
func (s *session[T]) invert() {
	o := golops.Shrinkage[T]{Eps: s.weight * s.largest, Alpha: s.alpha}
	switch s.Solver.Method {
	case "fista":
		app.Invert(s.Rank, s.Solver, &solve.FISTA[T, T]{Shrinkage: o}, s.A, s.D, s.X)
	case "ista":
		app.Invert(s.Rank, s.Solver, &solve.ISTA[T, T]{Shrinkage: o}, s.A, s.D, s.X)
	case "proximal-gradient":
		f, g := golops.L2Operator(s.A, s.D, 1), golops.L1(s.Models.Space, o.Eps)
		m := &solve.ProximalGradient[T]{F: f, G: g, Weight: 1, Tau: s.alpha, Momentum: golops.FISTAMomentum}
		app.Minimise(s.Rank, s.Solver, m, golops.Op[T, T]{}, s.X)
	}
}

// pictures draws the middle inline, its middle trace, and the choice of the weight.
func (s *session[T]) pictures() []app.Picture {
	panels := s.Compared("Least squares", "Sparse spikes", "Truth")
	sections, curves := s.Draw(append([]seismic.Panel[T]{{Title: "Data", Of: s.D}}, panels...))
	for i := range sections {
		sections[i].Scale.Clip = 99.5
	}
	curves = curves[min(1, len(curves)):] // without data
	list := []app.Picture{
		{File: "sections.png", Title: "Reflection coefficients", Caption: "The middle inline: the data, what least squares make of them, and sparse spikes.", PNG: report.Panels{Pictures: sections, Scaling: report.Normalized, Columns: 2}.PNG},
		{File: "traces.png", Title: "One trace", Caption: "Least squares leave the wavelet in; sparse spikes stand where layers meet.", PNG: s.Middle("Crossline", "reflection coefficient", curves).PNG},
	}
	if len(s.trials) > 0 {
		list = append(list, s.curve())
	}
	return list
}
