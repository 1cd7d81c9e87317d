package seismic

import (
	"fmt"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/report"
)

// Panel is a model or traces under a title.
type Panel[T golops.Scalar] struct {
	Title string
	Of    golops.Vec[T]
}

// Compared returns the models of a run under titles, the truth only if it is known.
func (s *Run[T]) Compared(before, found, truth string) []Panel[T] {
	all := []Panel[T]{{before, s.Before}, {found, s.X}}
	if s.Modelled() {
		all = append(all, Panel[T]{truth, s.Truth})
	}
	return all
}

// Draw returns the pictures of the middle inline on rank 0, through further indices, and
// the curves of its middle trace. It is collective.
func (s *Run[T]) Draw(panels []Panel[T], more ...int) (pictures []report.Picture, curves []report.Curve) {
	nx := s.File.Shape[1]
	for _, p := range panels {
		v := s.Inline(p.Of, more...)
		if v == nil {
			continue
		}
		c := report.Curve{Name: p.Title}
		for i := nx / 2; i < len(v); i += nx {
			c.Y = append(c.Y, v[i])
		}
		pictures, curves = append(pictures, s.Section(p.Title, v)), append(curves, c)
	}
	return pictures, curves
}

// Inline returns samples × crosslines of the middle inline on rank 0, nil elsewhere.
func (s *Run[T]) Inline(x golops.Vec[T], more ...int) []float64 {
	at := map[int]int{len(x.Space().Shape()) - 2: s.File.Shape[0] / 2}
	for i, k := range more {
		at[1+i] = k
	}
	return Part(x, at)
}

// Part returns the elements at an index along some axes, on rank 0, and nil elsewhere. It
// is collective.
func Part[T golops.Scalar](x golops.Vec[T], at map[int]int) []float64 {
	for axis := range x.Space().Shape() {
		if i, cut := at[axis]; cut {
			x = golops.Restriction(x.Space(), axis, []int{i}).Apply(x)
		}
	}
	return app.Gather(x)
}

// Live draws the first property of the middle inline while it is inverted.
func (s *Run[T]) Live(title string) {
	ny, nx, dims := s.File.Shape[0], s.File.Shape[1], s.Models.Space.Shape()
	s.Rank.Live = func(x []float64) report.Picture {
		var section []float64
		for t := range dims[0] {
			section = append(section, x[t*len(x)/dims[0]+ny/2*nx:][:nx]...)
		}
		return s.Section(title, section)
	}
}

// Section is a picture of samples × crosslines of a model.
func (s *Run[T]) Section(title string, v []float64) report.Picture {
	nx, value := s.File.Shape[1], s.Value
	if value == nil {
		value = func(x float64) float64 { return x }
	}
	return report.Picture{
		Title: title, Map: s.Map,
		Data: report.Grid{Rows: len(v) / nx, Cols: nx, At: func(i, k int) float64 { return value(v[i*nx+k]) }},
		X:    report.Axis{Label: "crossline"}, Y: report.Axis{Label: "time", Unit: "s", Step: s.Interval}, Aspect: 0.8,
	}
}

// Seismogram is a picture of samples × traces.
func (s *Run[T]) Seismogram(title string, v []float64, traces int, x report.Axis) report.Picture {
	return report.Picture{
		Title: title, Map: report.Gray, Scale: report.Scale{Symmetric: true},
		Data: report.Grid{Rows: len(v) / traces, Cols: traces, At: func(i, k int) float64 { return v[i*traces+k] }},
		X:    x, Y: report.Axis{Label: "time", Unit: "s", Step: s.Interval}, Aspect: 0.8,
	}
}

// Middle returns a chart of curves of the middle trace. what is shown there.
func (s *Run[T]) Middle(what, y string, curves []report.Curve) report.Curves {
	nx := s.File.Shape[1]
	return report.Curves{Title: fmt.Sprintf("%s %d of %d", what, nx/2+1, nx), X: "sample", Y: y, Linear: true, Curves: curves}
}
