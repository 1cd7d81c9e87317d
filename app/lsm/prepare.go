package lsm

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
	"github.com/golops/golops/ops/wave"
)

// Job is a run that has been checked. Its models have been read. Ranks of one process
// share it and do not change it.
type Job struct {
	Config             Config
	Grid               wave.Grid
	Velocity           []float64 // as given, in the order of the grid
	Reflectivity       []float64 // what data are modelled from; nil if they come from a file
	Sources, Receivers []wave.Point
	Wavelet            []float64
	Warnings           []string // what is strange but no fault, such as a velocity in other units
	times              wave.TravelTimes
	traces             *traceOrder // of a SEG-Y file
}

// Prepare reads and checks what c names. An error is an *app.ConfigError. Nothing is
// written.
func Prepare(c Config) (*Job, error) {
	j := &Job{Config: c.effective()}
	for _, step := range []func() error{
		c.Validate, j.checkSize, j.readVelocity, j.readGeometry, j.checkSize, j.readWavelet, j.findTimes, j.checkFile,
	} {
		if err := step(); err != nil {
			return nil, &app.ConfigError{Err: err}
		}
	}
	j.checkUnits()
	return j, nil
}

func (j *Job) readVelocity() error {
	c := &j.Config
	if c.Velocity.File != "" {
		dims, v, err := data.ReadNPY[float64](c.Velocity.File)
		if err != nil {
			return err
		}
		switch len(dims) {
		case 2:
			c.Grid.NX, c.Grid.NZ, c.Grid.NY = dims[0], dims[1], 0
		case 3:
			c.Grid.NY, c.Grid.NX, c.Grid.NZ = dims[0], dims[1], dims[2]
		default:
			return fmt.Errorf("%s has shape %v: a velocity has two axes, nx × nz, or three, ny × nx × nz", c.Velocity.File, dims)
		}
		j.Velocity = v
	}
	g := c.Grid
	j.Grid = wave.Grid{X: wave.Axis{N: g.NX, Step: g.DX}, Z: wave.Axis{N: g.NZ, Step: g.DZ}}
	if g.NY > 0 {
		j.Grid.Y = wave.Axis{N: g.NY, Step: g.DY}
	}
	if err := j.Grid.Validate(); err != nil {
		return err
	}
	switch {
	case c.Example():
		j.Velocity = exampleVelocity(g.NX, g.NZ)
	case j.Velocity == nil:
		j.Velocity = make([]float64, j.Grid.Nodes())
		for i := range j.Velocity {
			j.Velocity[i] = c.Velocity.Constant
		}
	}
	for i, v := range j.Velocity {
		if !(v > 0) || math.IsInf(v, 0) {
			return fmt.Errorf("velocity is %g at %v: must be positive and finite everywhere", v, j.Grid.Node(i))
		}
	}
	if c.Data.File == "" {
		j.Reflectivity = reflectivity(j.Velocity, g.NZ)
		for _, r := range j.Reflectivity {
			if r != 0 {
				return nil
			}
		}
		return errors.New("data cannot be modelled: the velocity does not change with depth, so nothing reflects: give data.file, or a velocity with layers")
	}
	return nil
}

func (j *Job) readWavelet() error {
	w := j.Config.Wavelet
	if w.File == "" {
		var err error
		j.Wavelet, err = wave.RickerSamples(w.Half, j.Config.Time.Interval, w.Frequency)
		return err
	}
	dims, v, err := data.ReadNPY[float64](w.File)
	switch {
	case err != nil:
		return err
	case len(dims) != 1 || len(v)%2 == 0 || len(v) > j.Config.Time.Samples:
		return fmt.Errorf("%s has shape %v: a wavelet has one axis of an odd number of samples, at most the %d of a trace", w.File, dims, j.Config.Time.Samples)
	}
	for i, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%s: sample %d is %g", w.File, i, x)
		}
	}
	if !slices.ContainsFunc(v, func(x float64) bool { return x != 0 }) {
		return fmt.Errorf("%s: the wavelet is zero everywhere", w.File)
	}
	j.Wavelet = v
	return nil
}

func (j *Job) findTimes() error {
	c := j.Config
	var err error
	if c.Operator.Times == "tables" {
		j.times, err = j.readTimes()
		return err
	}
	if j.straight() {
		j.times, err = wave.NewConstant(j.Grid, c.Velocity.Constant)
		return err
	}
	j.times, err = wave.NewEikonal(j.Grid, smooth(j.Velocity, j.Grid.Shape(), c.Velocity.Smooth), wave.EikonalDefaults())
	return err
}

// straight reports whether rays are straight.
func (j *Job) straight() bool {
	c := j.Config
	return c.Operator.Times == "straight" || c.Operator.Times == "auto" && c.Velocity.Constant > 0
}

// readTimes reads travel times that were computed elsewhere.
func (j *Job) readTimes() (wave.TravelTimes, error) {
	t, err := wave.NewTimeTables(j.Grid)
	if err != nil {
		return nil, err
	}
	for _, side := range []struct {
		file   string
		points []wave.Point
	}{{j.Config.Operator.Sources, j.Sources}, {j.Config.Operator.Receiver, j.Receivers}} {
		dims, v, err := data.ReadNPY[float64](side.file)
		if err != nil {
			return nil, err
		}
		if len(dims) == 0 || dims[0] != len(side.points) || len(v) != len(side.points)*j.Grid.Nodes() {
			return nil, fmt.Errorf("%s has shape %v: needs %d points × %d nodes of the grid", side.file, dims, len(side.points), j.Grid.Nodes())
		}
		if err := t.Add(side.points, v); err != nil {
			return nil, fmt.Errorf("%s: %w", side.file, err)
		}
	}
	return t, nil
}

// checkFile compares the shape of the data file with the acquisition, without reading the samples.
func (j *Job) checkFile() error {
	f := j.Config.Data.File
	if f == "" {
		return nil
	}
	if data.IsSEGY(f) {
		return j.checkSEGY(f)
	}
	info, err := data.Info(f)
	if err != nil {
		return err
	}
	want := []int{len(j.Sources), len(j.Receivers), j.Config.Time.Samples}
	if fmt.Sprint(info.Shape) != fmt.Sprint(want) {
		return fmt.Errorf("%s has shape %v, the acquisition needs %v: sources × receivers × samples", f, info.Shape, want)
	}
	return nil
}
