package lsm

import (
	"errors"
	"fmt"

	"github.com/golops/golops/app"
	"github.com/golops/golops/ops/wave"
)

// readGeometry sets sources and receivers, from a file or from lines. The lines of
// the example are used for the model of the example only.
func (j *Job) readGeometry() error {
	c := &j.Config
	if c.Acquisition.Geometry != "" {
		var err error
		if j.Sources, j.Receivers, err = readGeometry(c.Acquisition.Geometry); err != nil {
			return err
		}
		return j.inside()
	}
	d := Default()
	a := &c.Acquisition
	sources := c.Given("acquisition.sources") || a.Sources != d.Acquisition.Sources
	receivers := c.Given("acquisition.receivers") || a.Receivers != d.Acquisition.Receivers
	if c.Data.File != "" && !(sources && receivers) {
		return fmt.Errorf("data come from %s, but nothing says where sources and receivers were: data need --geometry, or acquisition.sources and acquisition.receivers in the configuration", app.Shown(c.Data.File))
	}
	if !c.Example() || c.Grid != d.Grid {
		j.spread(!sources, !receivers)
	}
	j.Sources, j.Receivers = a.Sources.points(), a.Receivers.points()
	return j.inside()
}

// spread places the lines that are not given over the model, as they lie in the
// example, and warns.
func (j *Job) spread(sources, receivers bool) {
	d, g := Default(), j.Grid
	width := d.Grid.DX * float64(d.Grid.NX-1)
	lay := func(kind string, l *Line) {
		x := func(at float64) float64 { return g.X.At(0) + at/width*(g.X.At(g.X.N-1)-g.X.At(0)) }
		l.First, l.Last = x(l.First), x(l.Last)
		l.Depth = min(l.Depth/d.Grid.DZ*g.Z.Step, g.Z.At(g.Z.N-1))
		y := ""
		if g.Dims() == 3 {
			y = ", y = 0"
		}
		j.warn("no geometry is given: %d %s are spread over the model, from x = %.4g to %.4g m%s at a depth of %.4g m", l.Number, kind, l.First, l.Last, y, l.Depth)
	}
	if sources {
		lay("sources", &j.Config.Acquisition.Sources)
	}
	if receivers {
		lay("receivers", &j.Config.Acquisition.Receivers)
	}
}

func (j *Job) warn(format string, args ...any) {
	j.Warnings = append(j.Warnings, fmt.Sprintf(format, args...))
}

// inside says which points are not on the grid.
func (j *Job) inside() error {
	check := func(kind string, points []wave.Point) error {
		for i, p := range points {
			if !j.Grid.Contains(p) {
				return fmt.Errorf("%s %d at %v lies outside the model, which goes to x = %g, z = %g", kind, i+1, p, j.Grid.X.At(j.Grid.X.N-1), j.Grid.Z.At(j.Grid.Z.N-1))
			}
		}
		return nil
	}
	return errors.Join(check("source", j.Sources), check("receiver", j.Receivers))
}
