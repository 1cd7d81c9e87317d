package seismic

import (
	"github.com/golops/golops/report"
)

// Section is a picture of samples × crosslines.
func Section(title string, v []float64, crosslines int, interval float64, m report.ColorMap) report.Picture {
	return report.Picture{
		Title: title, Map: m,
		Data: report.Grid{Rows: len(v) / crosslines, Cols: crosslines, At: func(i, k int) float64 { return v[i*crosslines+k] }},
		X:    report.Axis{Label: "crossline"}, Y: report.Axis{Label: "time", Unit: "s", Step: interval}, Aspect: 0.8,
	}
}

// Traces is a Section of seismic data.
func Traces(title string, v []float64, crosslines int, interval float64) report.Picture {
	p := Section(title, v, crosslines, interval, report.Gray)
	p.Scale.Symmetric = true
	return p
}

// Trace returns the curve of one crossline of a section, of value against sample.
func Trace(name string, v []float64, crosslines, at int) report.Curve {
	c := report.Curve{Name: name}
	for i := at; i < len(v); i += crosslines {
		c.Y = append(c.Y, v[i])
	}
	return c
}
