package lsm

import (
	"context"
	"fmt"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/ops/wave"
	"github.com/golops/golops/report"
	"github.com/golops/golops/scalar"
)

// pictureData is what pictures show, on rank 0.
type pictureData struct {
	adjoint, inverse []float64
	gather           []float64 // of the middle source, receivers × samples
	source           int
}

// pictures draws what a run was about. It is collective.
func (s *session[T]) pictures() []app.Picture {
	p := pictureData{source: len(s.Sources) / 2, adjoint: app.Gather(s.vec(s.adj)), inverse: app.Gather(s.vec(s.inv))}
	golops.Check(s.shot(s.r.Context(), &p))
	if s.r.Rank() != 0 {
		return nil
	}
	velocity := s.picture("Velocity and acquisition", s.Velocity)
	velocity.Map, velocity.Scale, velocity.Bar = report.Velocity, report.Scale{}, report.Bar{Label: "velocity", Unit: "m/s"}
	velocity.Points = []report.Points{markers("receivers", s.Receivers, report.Triangle), markers("sources", s.Sources, report.Star)}
	images := report.Panels{Pictures: []report.Picture{s.picture("Adjoint", p.adjoint), s.picture("Inverse", p.inverse)}, Scaling: report.Normalized}
	if s.Reflectivity != nil {
		images.Pictures = append([]report.Picture{s.picture("True reflectivity", s.Reflectivity)}, images.Pictures...)
	}
	return []app.Picture{
		{File: "images.png", Title: "Images", Caption: s.imagesCaption(p, s.r.Iterations(), s.r.Reduction()), PNG: images.PNG},
		{File: "velocity.png", Title: "Velocity and acquisition", Caption: s.velocityCaption(), PNG: velocity.PNG},
		{File: "gather.png", Title: "Data", Caption: fmt.Sprintf("%s data of source %d at all receivers.", s.origin(), p.source+1), PNG: s.gatherPicture(p).PNG},
	}
}

// shot sends one gather to rank 0, from the ranks that have its traces.
func (s *session[T]) shot(ctx context.Context, p *pictureData) error {
	d, n := s.d, s.Config.Time.Samples
	mine := make([]T, len(s.Receivers)*n)
	host, err := d.Host()
	if err == nil {
		if b := d.Space().Box(s.r.Rank()); d.Space().Primary() && b.Lo[0] <= p.source && p.source < b.Hi[0] {
			receivers := b.Hi[1] - b.Lo[1]
			copy(mine[b.Lo[1]*n:b.Hi[1]*n], host[(p.source-b.Lo[0])*receivers*n:])
		}
	}
	if err := dist.Agree(ctx, s.r.Proc().Comm, "gather", err); err != nil {
		return err
	}
	b := comm.Of(mine)
	if err := s.r.Proc().Reduce(ctx, b, b, comm.Sum, 0); err != nil { // the others have zeros
		return err
	}
	for _, v := range mine {
		p.gather = append(p.gather, real(scalar.Complex(v)))
	}
	return nil
}

// picture shows a model, depth downwards: all of it in two dimensions, the middle plane
// in three.
func (j *Job) picture(title string, v []float64) report.Picture {
	nx, nz, first := j.Grid.X.N, j.Grid.Z.N, 0
	if j.Grid.Dims() == 3 {
		first = j.Grid.Index(j.Grid.Y.N/2, 0, 0)
	}
	return report.Picture{
		Title: title, Data: report.Grid{Rows: nz, Cols: nx, At: func(iz, ix int) float64 { return v[first+ix*nz+iz] }},
		X:   report.Axis{Label: "x", Unit: "m", Origin: j.Grid.X.Origin, Step: j.Grid.X.Step},
		Y:   report.Axis{Label: "depth", Unit: "m", Origin: j.Grid.Z.Origin, Step: j.Grid.Z.Step},
		Map: report.Gray, Scale: report.Scale{Symmetric: true},
	}
}

// gatherPicture shows one gather. Receivers count from 1, as sources do.
func (j *Job) gatherPicture(p pictureData) report.Picture {
	n := j.Config.Time.Samples
	g := report.ShotGather(report.Grid{Rows: len(j.Receivers), Cols: n, At: func(r, t int) float64 { return p.gather[r*n+t] }}, j.Config.Time.Interval)
	g.X.Origin = 1
	g.Title = fmt.Sprintf("Shot gather of source %d of %d", p.source+1, len(j.Sources))
	return g
}

func markers(name string, points []wave.Point, m report.Marker) report.Points {
	p := report.Points{Name: name, Marker: m}
	for _, at := range points {
		p.X, p.Y = append(p.X, at.X), append(p.Y, at.Z)
	}
	return p
}
