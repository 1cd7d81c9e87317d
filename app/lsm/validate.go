package lsm

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

const maxSeconds = 1e9 // between two checkpoints; a time.Duration holds 9e9

// Validate reports everything that can be seen to be wrong without the files.
func (c Config) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	positive := func(name string, v float64) {
		if !(v > 0) || math.IsInf(v, 0) {
			bad("%s is %g, must be positive and finite", name, v)
		}
	}
	if c.Velocity.File == "" && (c.Grid.NX < 2 || c.Grid.NZ < 2 || c.Grid.NY < 0) {
		bad("grid is %d × %d (nx × nz), ny %d: needs at least 2 × 2", c.Grid.NX, c.Grid.NZ, c.Grid.NY)
	}
	positive("grid.dx", c.Grid.DX)
	positive("grid.dz", c.Grid.DZ)
	if c.Grid.NY > 0 {
		positive("grid.dy", c.Grid.DY)
	}
	if c.Example() && c.Grid.NY > 0 {
		bad("the built-in example has two dimensions: give a velocity for ny %d", c.Grid.NY)
	}
	if c.Velocity.File == "" && c.Velocity.Constant < 0 || math.IsNaN(c.Velocity.Constant) || math.IsInf(c.Velocity.Constant, 0) {
		bad("velocity.constant is %g, must be positive, or 0 for the built-in model", c.Velocity.Constant)
	}
	if c.Data.File != "" && c.Example() {
		bad("data come from %s, but no velocity is given: name velocity.file or velocity.constant", c.Data.File)
	}
	if c.Velocity.File != "" && c.Velocity.Constant != 0 {
		bad("velocity has both a file, %s, and a constant, %g: give one", c.Velocity.File, c.Velocity.Constant)
	}
	if c.Velocity.Smooth < 0 {
		bad("velocity.smooth is %d, must not be negative", c.Velocity.Smooth)
	}
	if c.Acquisition.Geometry == "" {
		for _, l := range []struct {
			name string
			Line
		}{{"sources", c.Acquisition.Sources}, {"receivers", c.Acquisition.Receivers}} {
			if l.Number < 1 {
				bad("acquisition.%s.number is %d, must be at least 1", l.name, l.Number)
			}
			if l.Last < l.First || math.IsNaN(l.First+l.Last+l.Depth) || l.Depth < 0 {
				bad("acquisition.%s go from %g to %g at depth %g: must go to larger x at a depth that is not negative", l.name, l.First, l.Last, l.Depth)
			}
		}
	}
	if c.Time.Samples < 2 {
		bad("time.samples is %d, must be at least 2", c.Time.Samples)
	}
	positive("time.interval", c.Time.Interval)
	if c.Wavelet.File == "" {
		positive("wavelet.frequency", c.Wavelet.Frequency)
		if c.Wavelet.Half < 1 || c.Wavelet.Half > (c.Time.Samples-1)/2 {
			bad("wavelet.half is %d: the wavelet, of 2·half+1 samples, must have at least 3 and at most the %d of a trace", c.Wavelet.Half, c.Time.Samples)
		}
		if c.Time.Interval > 0 && c.Wavelet.Frequency >= 0.5/c.Time.Interval {
			bad("wavelet.frequency is %g Hz, samples of %g s hold less than %g Hz%s", c.Wavelet.Frequency, c.Time.Interval, 0.5/c.Time.Interval, milliseconds(c.Time.Interval))
		}
	}
	if c.Data.Noise < 0 || math.IsNaN(c.Data.Noise) || math.IsInf(c.Data.Noise, 0) {
		bad("data.noise is %g, must not be negative", c.Data.Noise)
	}
	if c.Data.File != "" && c.Data.Noise != 0 {
		bad("data.noise is %g, but data come from %s", c.Data.Noise, c.Data.File)
	}
	oneOf := func(name, v string, have ...string) {
		if !slices.Contains(have, v) {
			bad("%s is %q: have %v", name, v, have)
		}
	}
	oneOf("operator.times", c.Operator.Times, "auto", "straight", "eikonal", "tables")
	if o := c.Operator; o.Times == "tables" && (o.Sources == "" || o.Receiver == "") || o.Times != "tables" && (o.Sources != "" || o.Receiver != "") {
		bad("operator.times is %s, source_times %q and receiver_times %q: tables need both files, and nothing else does", o.Times, o.Sources, o.Receiver)
	}
	oneOf("operator.split", c.Operator.Split, "sources", "model")
	oneOf("operator.type", c.Operator.Type, "float32", "float64")
	oneOf("solver.method", c.Solver.Method, "cgls", "cgls-one-message", "lsqr")
	if c.Operator.Times == "straight" && c.Velocity.Constant == 0 {
		bad("operator.times is straight, which needs velocity.constant")
	}
	if c.limits() && !c.Operator.Dynamic {
		bad("operator.aperture is %g and operator.angle %g: limits need operator.dynamic: leave them out, or set it to true", c.Operator.Aperture, c.Operator.Angle)
	}
	if c.Operator.Aperture < 0 || c.Operator.Angle < 0 || c.Operator.Angle > 90 || math.IsNaN(c.Operator.Aperture+c.Operator.Angle) {
		bad("operator.aperture is %g and operator.angle %g: must not be negative, and the angle at most 90 degrees", c.Operator.Aperture, c.Operator.Angle)
	}
	if c.Solver.Iterations < 1 {
		bad("solver.iterations is %d, must be at least 1", c.Solver.Iterations)
	}
	switch t := c.Solver.Tolerance; {
	case t < 0:
		bad("solver.tolerance is %g, must not be negative: give 0 to end by iterations alone", t)
	case !(t < 1):
		bad("solver.tolerance is %g, must be below 1: the residual of no image at all is 1", t)
	}
	if !(c.Solver.Damp >= 0) || math.IsInf(c.Solver.Damp, 0) {
		bad("solver.damp is %g, must be finite and not negative", c.Solver.Damp)
	}
	if c.Checkpoint.Every < 0 {
		bad("checkpoint.every is %d, must not be negative", c.Checkpoint.Every)
	}
	if !(c.Checkpoint.Time >= 0 && c.Checkpoint.Time < maxSeconds) {
		bad("checkpoint.seconds is %g, must not be negative, and less than %g", c.Checkpoint.Time, float64(maxSeconds))
	}
	if c.Checkpoint.Resume && c.Checkpoint.Dir == "" {
		bad("checkpoint.resume needs checkpoint.dir")
	}
	if c.Out == "" {
		bad("out is empty: name the folder for results")
	}
	for _, path := range append(c.inputs(), c.Out, c.Checkpoint.Dir) {
		if !utf8.ValidString(path) || strings.ContainsRune(path, 0) {
			bad("%q is no text in UTF-8: rename the file or the folder", path)
		}
	}
	return errors.Join(errs...)
}
