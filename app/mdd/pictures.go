package mdd

import (
	"fmt"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/report"
)

// pictures compares the deconvolution with the cross-correlation, of the virtual source in
// the middle. It is collective.
func (s *session[C, R]) pictures() []app.Picture {
	n, v := s.virtual, s.virtual/2
	of := fmt.Sprintf("virtual source %d of %d", v+1, n)
	says := fmt.Sprintf("The deconvolution leaves %.3g of the data unexplained.", s.r.Reduction())
	images := report.Panels{Scaling: report.Normalized}
	add := func(title string, x golops.Vec[R]) {
		images.Pictures = append(images.Pictures, s.picture(title, "receiver", app.Gather(x), s.receivers, n, v))
	}
	if s.Kernel.File == "" {
		says = fmt.Sprintf("The correlation with the true wavefield is %.3f for the cross-correlation and %.3f for the deconvolution.", app.Correlation(s.adj, s.truth), app.Correlation(s.inv, s.truth))
		add("True wavefield", s.truth)
	}
	add("Cross-correlation", s.adj)
	add("Deconvolution", s.inv)
	recorded := s.picture("Data", "source", app.Gather(s.d), s.sources, n, v)
	return []app.Picture{
		{File: "images.png", Title: "Wavefield of " + of, Caption: "Each panel is divided by its own largest amplitudes. " + says, PNG: images.PNG},
		{File: "data.png", Title: "Data of " + of, Caption: "What the sources make of it.", PNG: recorded.PNG},
	}
}

// picture shows samples × stations of one of n virtual sources, and of two sides of time
// zero a quarter of the first and half of the second.
func (j *job) picture(title, label string, v []float64, stations, n, at int) report.Picture {
	first, rows, dt, zero := 0, j.samples, j.Time.Interval, 0
	if j.Time.TwoSided {
		zero = j.samples / 2
		first, rows = zero-zero/4, zero/4+zero/2
	}
	return report.Picture{
		Title: title, Map: report.Gray, Scale: report.Scale{Symmetric: true}, Aspect: 1.2,
		Data: report.Grid{Rows: rows, Cols: stations, At: func(t, i int) float64 { return v[((first+t)*stations+i)*n+at] }},
		X:    report.Axis{Label: label, Origin: 1}, Y: report.Axis{Label: "time", Unit: "s", Origin: float64(first-zero) * dt, Step: dt},
	}
}
