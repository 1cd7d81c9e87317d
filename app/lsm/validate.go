package lsm

import (
	"math"

	"github.com/golops/golops/app"
)

// Validate reports everything that can be seen to be wrong without the files.
func (c Config) Validate() error {
	var f app.Faults
	if c.Velocity.File == "" && (c.Grid.NX < 2 || c.Grid.NZ < 2 || c.Grid.NY < 0) {
		f.Add("grid is %d × %d (nx × nz), ny %d: needs at least 2 × 2", c.Grid.NX, c.Grid.NZ, c.Grid.NY)
	}
	f.Positive("grid.dx", c.Grid.DX)
	f.Positive("grid.dz", c.Grid.DZ)
	if c.Grid.NY > 0 {
		f.Positive("grid.dy", c.Grid.DY)
	}
	if c.Example() && c.Grid.NY > 0 {
		f.Add("the built-in example has two dimensions: give a velocity for ny %d", c.Grid.NY)
	}
	if c.Velocity.File == "" && c.Velocity.Constant < 0 || math.IsNaN(c.Velocity.Constant) || math.IsInf(c.Velocity.Constant, 0) {
		f.Add("velocity.constant is %g, must be positive, or 0 for the built-in model", c.Velocity.Constant)
	}
	if c.Data.File != "" && c.Example() {
		f.Add("data come from %s, but no velocity is given: name velocity.file or velocity.constant", c.Data.File)
	}
	if c.Velocity.File != "" && c.Velocity.Constant != 0 {
		f.Add("velocity has both a file, %s, and a constant, %g: give one", c.Velocity.File, c.Velocity.Constant)
	}
	if c.Velocity.Smooth < 0 {
		f.Add("velocity.smooth is %d, must not be negative", c.Velocity.Smooth)
	}
	if c.Acquisition.Geometry == "" {
		for _, l := range []struct {
			name string
			Line
		}{{"sources", c.Acquisition.Sources}, {"receivers", c.Acquisition.Receivers}} {
			f.AtLeast("acquisition."+l.name+".number", l.Number, 1)
			if l.Last < l.First || math.IsNaN(l.First+l.Last+l.Depth) || l.Depth < 0 {
				f.Add("acquisition.%s go from %g to %g at depth %g: must go to larger x at a depth that is not negative", l.name, l.First, l.Last, l.Depth)
			}
		}
	}
	f.AtLeast("time.samples", c.Time.Samples, 2)
	f.Positive("time.interval", c.Time.Interval)
	if c.Wavelet.File == "" {
		f.Positive("wavelet.frequency", c.Wavelet.Frequency)
		if c.Wavelet.Half < 1 || c.Wavelet.Half > (c.Time.Samples-1)/2 {
			f.Add("wavelet.half is %d: the wavelet, of 2·half+1 samples, must have at least 3 and at most the %d of a trace", c.Wavelet.Half, c.Time.Samples)
		}
		if c.Time.Interval > 0 && c.Wavelet.Frequency >= 0.5/c.Time.Interval {
			f.Add("wavelet.frequency is %g Hz, samples of %g s hold less than %g Hz%s", c.Wavelet.Frequency, c.Time.Interval, 0.5/c.Time.Interval, milliseconds(c.Time.Interval))
		}
	}
	if c.Data.Noise < 0 || math.IsNaN(c.Data.Noise) || math.IsInf(c.Data.Noise, 0) {
		f.Add("data.noise is %g, must not be negative", c.Data.Noise)
	}
	if c.Data.File != "" && c.Data.Noise != 0 {
		f.Add("data.noise is %g, but data come from %s", c.Data.Noise, c.Data.File)
	}
	f.OneOf("operator.times", c.Operator.Times, "auto", "straight", "eikonal", "tables")
	if o := c.Operator; o.Times == "tables" && (o.Sources == "" || o.Receiver == "") || o.Times != "tables" && (o.Sources != "" || o.Receiver != "") {
		f.Add("operator.times is %s, source_times %q and receiver_times %q: tables need both files, and nothing else does", o.Times, o.Sources, o.Receiver)
	}
	f.OneOf("operator.split", c.Operator.Split, "sources", "model")
	f.OneOf("operator.type", c.Operator.Type, "float32", "float64")
	if c.Operator.Times == "straight" && c.Velocity.Constant == 0 {
		f.Add("operator.times is straight, which needs velocity.constant")
	}
	if c.limits() && !c.Operator.Dynamic {
		f.Add("operator.aperture is %g and operator.angle %g: limits need operator.dynamic: leave them out, or set it to true", c.Operator.Aperture, c.Operator.Angle)
	}
	if c.Operator.Aperture < 0 || c.Operator.Angle < 0 || c.Operator.Angle > 90 || math.IsNaN(c.Operator.Aperture+c.Operator.Angle) {
		f.Add("operator.aperture is %g and operator.angle %g: must not be negative, and the angle at most 90 degrees", c.Operator.Aperture, c.Operator.Angle)
	}
	f.Solver(c.Solver)
	f.Base(c)
	return f.Err()
}
