package perf

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/golops/golops/report"
)

// PlotFormats are what Plot can write.
var PlotFormats = report.ChartFormats

// Plot draws bus bandwidth and time over size, side by side, one curve for
// each table. Where one rank makes the bus bandwidth 0 throughout, it shows
// the algorithm bandwidth.
func Plot(w io.Writer, format string, m Machine, tables []Table) error {
	cs := curves(tables)
	if len(cs) == 0 {
		return errors.New("perf: plot: no measurement has a size above 0, there is nothing to show")
	}
	common, each := names(cs)
	band, times := sizeChart("bus bandwidth (GB/s)"), sizeChart("time of one iteration (µs)")
	hasBus := slices.ContainsFunc(cs, func(c curve) bool { return slices.Max(c.bus) > 0 })
	if !hasBus {
		band.Title = "algorithm bandwidth (GB/s)"
	}
	for i, c := range cs {
		y := c.bus
		if !hasBus {
			y = c.alg
		}
		name := each[i]
		if n := slices.Index(each, name); n < i { // curves of one name would look alike
			name = fmt.Sprintf("%s (%d)", name, i+1)
		}
		band.Curves = append(band.Curves, report.Curve{Name: name, X: c.sizes, Y: y})
		times.Curves = append(times.Curves, report.Curve{Name: name, X: c.sizes, Y: c.micros})
	}
	return report.Charts{Title: common, Note: m.short(), Charts: []report.Chart{band, times}}.Write(w, format)
}

// sizeChart returns an empty chart over size.
func sizeChart(title string) report.Chart {
	return report.Chart{Title: title, X: "size", Power: FormatSize}
}

// short describes the machine below the title of a picture.
func (m Machine) short() string {
	return fmt.Sprintf("%s, CPUs %d, GOMAXPROCS %d, %s", m.CPU, m.CPUs, m.GOMAXPROCS, m.Go)
}
