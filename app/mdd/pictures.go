package mdd

import (
	"fmt"

	"github.com/golops/golops/app"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/report"
)

// pictures compares the deconvolution with the cross-correlation, of the virtual source in
// the middle. It is collective.
func (s *session[C, R]) pictures() []app.Picture {
	n, v := s.Virtual, s.Virtual/2
	caption := fmt.Sprintf("Each panel is divided by its own largest amplitudes. The deconvolution leaves %.3g of the data unexplained.", s.r.Reduction())
	all := []dist.Array[R]{s.adj, s.inv}
	titles := []string{"Cross-correlation", "Deconvolution"}
	if s.example != nil {
		var like [2]float64
		for i, a := range all {
			like[i] = app.Correlation(s.vec(a), s.vec(s.truth))
		}
		caption = fmt.Sprintf("Each panel is divided by its own largest amplitudes. The correlation with the true wavefield is %.3f for the cross-correlation and %.3f for the deconvolution.", like[0], like[1])
		all, titles = append([]dist.Array[R]{s.truth}, all...), append([]string{"True wavefield"}, titles...)
	}
	images := report.Panels{Scaling: report.Normalized}
	for i, a := range all {
		x := app.Gather(s.vec(a))
		images.Pictures = append(images.Pictures, s.picture(titles[i], "receiver", x, s.Receivers, n, v))
	}
	d := app.Gather(s.vec(s.d))
	of := fmt.Sprintf("virtual source %d of %d", v+1, n)
	return []app.Picture{
		{File: "images.png", Title: "Wavefield of " + of, Caption: caption, PNG: images.PNG},
		{File: "data.png", Title: "Data of " + of, Caption: "What the sources make of it.", PNG: s.picture("Data", "source", d, s.Sources, n, v).PNG},
	}
}

// picture shows samples × stations of one of n virtual sources, and of two sides of time
// zero a quarter of the first and half of the second.
func (j *Job) picture(title, label string, v []float64, stations, n, at int) report.Picture {
	first, rows, dt, zero := 0, j.Samples, j.Config.Time.Interval, 0
	if j.Config.Time.TwoSided {
		zero = j.Samples / 2
		first, rows = zero-zero/4, zero/4+zero/2
	}
	return report.Picture{
		Title: title, Map: report.Gray, Scale: report.Scale{Symmetric: true}, Aspect: 1.2,
		Data: report.Grid{Rows: rows, Cols: stations, At: func(t, i int) float64 { return v[((first+t)*stations+i)*n+at] }},
		X:    report.Axis{Label: label, Origin: 1}, Y: report.Axis{Label: "time", Unit: "s", Origin: float64(first-zero) * dt, Step: dt},
	}
}
