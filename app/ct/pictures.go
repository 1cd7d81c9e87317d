package ct

import (
	"fmt"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/report"
)

// pictures draws what was measured and what was found. It is collective.
func pictures[T golops.Scalar](r *app.Rank, s *scan, y, fbp, x golops.Vec[T]) []app.Picture {
	measured, first, found := app.Gather(y), app.Gather(fbp), app.Gather(x)
	if r.Rank() != 0 {
		return nil
	}
	images := report.Panels{Pictures: []report.Picture{s.picture("Filtered back-projection", first), s.picture("Inversion, "+s.Solver.Method, found)}}
	caption := fmt.Sprintf("Filtered back-projection with the filter %s, and %s after %d iterations, from %d views.", s.Image.Filter, s.Solver.Method, r.Iterations(), s.views)
	if s.Data.File == "" {
		n := s.Image.Size
		truth := s.picture("Truth", nil)
		truth.Data.At = func(i, k int) float64 { return ops.SheppLogan(n, i, k) }
		images.Pictures = append([]report.Picture{truth}, images.Pictures...)
		for i := range images.Pictures {
			images.Pictures[i].Scale = report.Scale{Min: -0.1, Max: 0.6} // the skull, at 1, would hide what is in it
		}
		caption = "The head of Shepp and Logan. " + caption
	}
	sinogram := report.Picture{
		Title: "Sinogram", Data: report.Grid{Rows: s.views, Cols: s.detectors, At: func(i, k int) float64 { return measured[i*s.detectors+k] }},
		X: report.Axis{Label: "detector", Step: 1}, Y: report.Axis{Label: "view", Step: 1}, Map: report.Gray,
	}
	return []app.Picture{
		{File: "images.png", Title: "Images", Caption: caption, PNG: images.PNG},
		{File: "sinogram.png", Title: "Sinogram", Caption: fmt.Sprintf("%d views of %d detectors, %s rays.", s.views, s.detectors, s.Geometry.Beam), PNG: sinogram.PNG},
	}
}

// picture shows an image.
func (s *scan) picture(title string, v []float64) report.Picture {
	n, p := s.Image.Size, s.Image.Pixel
	origin := -p * float64(n-1) / 2
	return report.Picture{
		Title: title, Data: report.Grid{Rows: n, Cols: n, At: func(i, k int) float64 { return v[i*n+k] }},
		X: report.Axis{Label: "x", Origin: origin, Step: p}, Y: report.Axis{Label: "y, downwards", Origin: origin, Step: p}, Map: report.Gray, Aspect: 1,
	}
}
