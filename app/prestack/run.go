package prestack

import (
	"math"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/app/seismic"
	"github.com/golops/golops/data"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/report"
	"github.com/golops/golops/scalar"
)

// session is the state of a run on one rank. Models are logarithms of three properties.
type session[T golops.Scalar] struct {
	*job
	*seismic.Run[T]
}

// run returns the work of one rank.
func run[T golops.Scalar](j *job) func(r *app.Rank) *app.Results {
	return func(r *app.Rank) *app.Results {
		s := &session[T]{j, seismic.NewRun[T](r, j.survey, j.dims)}
		s.Value, s.Map = math.Exp, report.Velocity
		r.Stage("background", s.start)
		r.Stage("data", func() { s.Record(s.modelling) })
		s.Live(s.Angles.names()[0] + " so far")
		a, d := s.A, s.D
		if w := s.Regularization.Weight; w > 0 {
			l := golops.Laplacian(s.Models.Space, ops.LaplacianOptions{Axes: []int{0, 2, 3}})
			a, d = golops.VStack(a, l.Scaled(scalar.From[T](complex(w, 0)))), golops.Stack(d, l.Range().Zero())
		}
		app.Invert(r, s.Solver, app.Method[T, T](s.Solver.Method), a, d, s.X)
		return s.Results("properties", "background", s.pictures, s.Errors()...)
	}
}

// start makes the model to start from, and the true one of the example.
func (s *session[T]) start() {
	if s.Modelled() {
		s.Truth = s.Models.Func(func(i []int) float64 {
			rock := seismic.Earth(i[0], i[1], i[3], s.dims)
			p := [3]float64{rock.VP, rock.VS, rock.Density}
			if s.Angles.Kind == "fatti" && i[2] < 2 {
				p[i[2]] *= rock.Density / 1000
			}
			return math.Log(p[i[2]])
		})
	}
	start := s.Truth
	if b := s.Background.File; b != "" {
		start = s.Logarithms(data.VolumeFile{Path: b}, "a property")
	}
	s.Start(start, s.Background.Smooth)
}

// modelling returns the operator from properties to gathers.
func (s *session[T]) modelling(w []T) golops.Operator[T] {
	return golops.PrestackLinearModelling(s.Models.Space, [][]T{w}, s.Angles.options(), ops.DerivativeCentered)
}

// options are the angles as an operator takes them.
func (a Angles) options() ops.AVOOptions {
	o := ops.AVOOptions{VsVp: []float64{a.VsVp}}
	if a.Kind == "fatti" {
		o.Kind = ops.Fatti
	}
	for i := range a.Number {
		o.Angles = append(o.Angles, a.First+(a.Last-a.First)*float64(i)/float64(a.Number-1))
	}
	return o
}

// names of the three properties of the kind.
func (a Angles) names() []string {
	if a.Kind == "fatti" {
		return []string{"P impedance", "S impedance", "Density"}
	}
	return []string{"Vp", "Vs", "Density"}
}

// pictures draws each property along the middle inline, its middle trace, and a gather.
func (s *session[T]) pictures() []app.Picture {
	names, models := s.Angles.names(), s.Compared("background", "inverted", "true")
	panels := report.Panels{Scaling: report.Each, Columns: len(models)}
	var middle report.Curves // of the second property
	for p, name := range names {
		sections, curves := s.Draw(models, p)
		scale := report.ScaleOf(sections...)
		for i := range sections {
			sections[i].Title, sections[i].Scale = name+", "+sections[i].Title, scale
		}
		if panels.Pictures = append(panels.Pictures, sections...); p == 1 {
			middle = s.Middle(name+" at crossline", "logarithm", curves)
		}
	}
	ny, nx, a := s.dims[0], s.dims[1], s.Angles
	gather := seismic.Part(s.D, map[int]int{2: ny / 2, 3: nx / 2})
	axis := report.Axis{Label: "angle", Unit: "degrees", Origin: a.First, Step: (a.Last - a.First) / float64(a.Number-1)}
	return []app.Picture{
		{File: "sections.png", Title: "Properties", Caption: "The middle inline before and after the inversion and, of the built-in model, the truth.", PNG: panels.PNG},
		{File: "traces.png", Title: "One trace", Caption: "The inversion adds the layers that the background lacks.", PNG: middle.PNG},
		{File: "gather.png", Title: "One gather", Caption: "How reflections change with the angle of incidence tells velocities and density apart.", PNG: s.Seismogram("Gather", gather, a.Number, axis).PNG},
	}
}
