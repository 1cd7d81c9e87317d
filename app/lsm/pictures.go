package lsm

import (
	"errors"
	"fmt"
	"io"

	"github.com/golops/golops/ops/wave"
	"github.com/golops/golops/report"
)

// pictures draws what a run was about and writes the page that shows it all.
func (s *session[T]) pictures(p pictureData, res *Result, add func(name string) string) error {
	x := report.Axis{Label: "x", Unit: "m", Origin: s.Grid.X.Origin, Step: s.Grid.X.Step}
	z := report.Axis{Label: "depth", Unit: "m", Origin: s.Grid.Z.Origin, Step: s.Grid.Z.Step}
	image := func(title string, v []float64) report.Picture {
		return report.Picture{Title: title, Data: s.section(v), X: x, Y: z, Map: report.Gray, Scale: report.Scale{Symmetric: true}}
	}
	velocity := report.Picture{
		Title: "Velocity and acquisition", Data: s.section(s.Velocity), X: x, Y: z, Map: report.Velocity,
		Bar:    report.Bar{Label: "velocity", Unit: "m/s"},
		Points: []report.Points{markers("receivers", s.Receivers, report.Triangle), markers("sources", s.Sources, report.Star)},
	}
	images := report.Panels{Pictures: []report.Picture{image("Adjoint", p.adjoint), image("Inverse", p.inverse)}, Scaling: report.Normalized}
	if s.Reflectivity != nil {
		images.Pictures = append([]report.Picture{image("True reflectivity", s.Reflectivity)}, images.Pictures...)
	}
	gather := s.gatherPicture(p)
	var resid []float64
	for _, n := range res.history {
		resid = append(resid, n.Resid/res.history[0].Resid)
	}
	curve := report.ResidualCurve(resid)
	curve.Y = "residual relative to the data"
	var figures []report.Figure
	var errs []error // a picture that cannot be drawn leaves the others
	for _, f := range []struct {
		name, title, caption string
		png                  func(io.Writer) error
	}{
		{"images.png", "Images", s.imagesCaption(p, res), images.PNG},
		{"velocity.png", "Velocity and acquisition", s.velocityCaption(), velocity.PNG},
		{"gather.png", "Data", fmt.Sprintf("%s data of source %d at all receivers.", s.origin(), p.source+1), gather.PNG},
		{"residuals.png", "Convergence", "How much of the data is left unexplained after each iteration.", curve.PNG},
	} {
		fig, err := report.NewFigure(f.title, f.caption, f.png)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, report.Save(add(f.name), func(w io.Writer) error { _, err := w.Write(fig.Image); return err }))
		figures = append(figures, fig)
	}
	return errors.Join(append(errs, s.page(res, figures, add))...)
}

// gatherPicture shows one gather. Receivers count from 1, as sources do.
func (j *Job) gatherPicture(p pictureData) report.Picture {
	n := j.Config.Time.Samples
	g := report.ShotGather(report.Grid{Rows: len(j.Receivers), Cols: n, At: func(r, t int) float64 { return p.gather[r*n+t] }}, j.Config.Time.Interval)
	g.X.Origin = 1
	g.Title = fmt.Sprintf("Shot gather of source %d of %d", p.source+1, len(j.Sources))
	return g
}

// section returns a model as a picture shows it, depth downwards: all of it in
// two dimensions, the middle plane in three.
func (s *session[T]) section(v []float64) report.Grid {
	nx, nz, first := s.Grid.X.N, s.Grid.Z.N, 0
	if s.Grid.Dims() == 3 {
		first = s.Grid.Index(s.Grid.Y.N/2, 0, 0)
	}
	return report.Grid{Rows: nz, Cols: nx, At: func(iz, ix int) float64 { return v[first+ix*nz+iz] }}
}

func markers(name string, points []wave.Point, m report.Marker) report.Points {
	p := report.Points{Name: name, Marker: m}
	for _, at := range points {
		p.X, p.Y = append(p.X, at.X), append(p.Y, at.Z)
	}
	return p
}
