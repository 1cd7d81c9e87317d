package poststack

import (
	"math"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/app/seismic"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/report"
)

// session is the state of a run on one rank. Models are logarithms of impedance.
type session[T golops.Scalar] struct {
	*job
	*seismic.Run[T]
}

// run returns the work of one rank.
func run[T golops.Scalar](j *job) func(r *app.Rank) *app.Results {
	return func(r *app.Rank) *app.Results {
		s := &session[T]{j, seismic.NewRun[T](r, j.survey, j.survey.File.Shape)}
		s.Value, s.Map = math.Exp, report.Velocity
		r.Stage("background", s.start)
		r.Stage("data", func() { s.Record(s.modelling) })
		s.Live("Impedance so far")
		s.invert()
		return s.Results("impedance", "background", s.pictures, s.Errors()...)
	}
}

// start makes the model to start from, and the true one of the example.
func (s *session[T]) start() {
	dims, b := s.File.Shape, s.Background
	if s.Modelled() {
		s.Truth = s.Models.Func(func(i []int) float64 { return math.Log(seismic.Earth(i[0], i[1], i[2], dims).Impedance()) })
	}
	switch {
	case b.First > 0:
		s.Start(s.Models.Func(func(i []int) float64 {
			return math.Log(b.First + (b.Last-b.First)*float64(i[2])/float64(dims[2]-1))
		}), 0)
	case b.File == "":
		s.Start(s.Truth, b.Smooth)
	default:
		s.Start(s.Logarithms(s.background, "an impedance"), b.Smooth)
	}
}

// modelling returns the operator from the logarithm of impedance to traces.
func (s *session[T]) modelling(w []T) golops.Operator[T] {
	half := make([]T, len(w)) // of the change of the logarithm is the reflection coefficient
	for i, v := range w {
		half[i] = v / 2
	}
	return golops.PoststackLinearModelling(s.Models.Space, [][]T{half}, ops.DerivativeCentered)
}

// pictures draws the middle inline, and its middle trace.
func (s *session[T]) pictures() []app.Picture {
	sections, curves := s.Draw(s.Compared("Background", "Inverted impedance", "True impedance"))
	d, nx := s.Inline(s.D), s.File.Shape[1]
	return []app.Picture{
		{File: "sections.png", Title: "Impedance", Caption: "The middle inline before and after the inversion and, of the built-in model, the truth.", PNG: report.Panels{Pictures: sections}.PNG},
		{File: "traces.png", Title: "One trace", Caption: "The inversion adds the layers that the background lacks.", PNG: s.Middle("Crossline", "logarithm of impedance", curves).PNG},
		{File: "data.png", Title: "Data", Caption: "The middle inline of what was given.", PNG: s.Seismogram("Data", d, nx, report.Axis{Label: "crossline"}).PNG},
	}
}
