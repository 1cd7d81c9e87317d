// Package lsm is least-squares migration, from data and a velocity model to an
// image of reflectivity, a report and files that other programs read.
package lsm

import (
	_ "embed"

	"github.com/golops/golops/app"
)

// App returns the application golops lsm.
func App() app.Application[Config] {
	return app.Application[Config]{
		Name:  "lsm",
		Title: "Least-squares migration",
		Short: "least-squares migration: from seismic data to an image of the Earth",
		Help: `lsm inverts seismic data for an image of reflectivity. Without flags it models
data of a built-in example, layers cut by faults, and inverts them. With a
velocity model, data and a geometry it inverts yours:
  golops lsm
  golops lsm --velocity v.npy --dx 5 --dz 5 --data shots.segy --geometry geom.csv
  mpirun -n 4 golops lsm --config survey.yaml --checkpoint state
  golops lsm --device cuda --ranks 4`,
		Default: DefaultText,
		Flags: []app.Flag{
			{Name: "velocity", Key: "velocity.file", Usage: "velocity model, `v.npy` of shape nx × nz or ny × nx × nz", Clears: "velocity.constant"},
			{Name: "data", Key: "data.file", Usage: "recorded data, `shots.npy` or .segy"},
			{Name: "geometry", Key: "acquisition.geometry", Usage: "sources and receivers, `geom.csv`"},
			{Name: "dx", Key: "grid.dx", Usage: "`spacing` of the grid in x, in m"},
			{Name: "dy", Key: "grid.dy", Usage: "`spacing` of the grid in y, in m"},
			{Name: "dz", Key: "grid.dz", Usage: "`spacing` of the grid in z, in m"},
			{Name: "samples", Key: "time.samples", Usage: "`samples` of a trace"},
			{Name: "interval", Key: "time.interval", Usage: "sampling interval in `seconds`"},
			{Name: "frequency", Key: "wavelet.frequency", Usage: "peak frequency of the Ricker wavelet, in `Hz`"},
			{Name: "type", Key: "operator.type", Usage: "element `type`: float32, float64"},
		},
		Files: []app.File{
			{Name: "inverse.npy", Note: "least-squares image"}, {Name: "adjoint.npy", Note: "migrated image"},
			{Name: "model.npy", Note: "true reflectivity"}, {Name: "data.npy", Note: "data, sources × receivers × samples"},
			{Name: "velocity.png"}, {Name: "images.png"}, {Name: "gather.png"},
		},
		Prepare: func(c Config) (*app.Task, error) {
			j, err := Prepare(c)
			if err != nil {
				return nil, err
			}
			return j.Task(), nil
		},
	}
}

// Config is the configuration of a run. Default returns a complete one. Paths are
// relative to the current folder. app.ReadFile converts those of a file.
type Config struct {
	Grid        Grid        `yaml:"grid"`
	Velocity    Velocity    `yaml:"velocity"`
	Acquisition Acquisition `yaml:"acquisition"`
	Time        Time        `yaml:"time"`
	Wavelet     Wavelet     `yaml:"wavelet"`
	Data        Data        `yaml:"data"`
	Operator    Operator    `yaml:"operator"`
	Solver      app.Solver  `yaml:"solver"`
	app.Base
}

// Grid is the grid of the image. NY of 0 means two dimensions.
type Grid struct {
	NX int     `yaml:"nx"`
	NZ int     `yaml:"nz"`
	NY int     `yaml:"ny"`
	DX float64 `yaml:"dx"`
	DZ float64 `yaml:"dz"`
	DY float64 `yaml:"dy"`
}

// Velocity is where waves travel.
type Velocity struct {
	File     string  `yaml:"file" is:"path"`
	Constant float64 `yaml:"constant"`
	Smooth   int     `yaml:"smooth"`
}

// Acquisition is where sources and receivers are.
type Acquisition struct {
	Geometry  string `yaml:"geometry" is:"path"`
	Sources   Line   `yaml:"sources"`
	Receivers Line   `yaml:"receivers"`
}

// Line is points along x, evenly spaced between two ends.
type Line struct {
	Number int     `yaml:"number"`
	First  float64 `yaml:"first"`
	Last   float64 `yaml:"last"`
	Depth  float64 `yaml:"depth"`
}

// Time is the sampling of traces.
type Time struct {
	Samples  int     `yaml:"samples"`
	Interval float64 `yaml:"interval"`
}

// Wavelet is what sources emit.
type Wavelet struct {
	File      string  `yaml:"file" is:"path"`
	Frequency float64 `yaml:"frequency"`
	Half      int     `yaml:"half"`
}

// Data is what was recorded. Without a file it is modelled.
type Data struct {
	File  string  `yaml:"file" is:"path"`
	Noise float64 `yaml:"noise"`
	Words Words   `yaml:"segy"`
}

// Words names the words of SEG-Y trace headers that hold coordinates. If it is empty,
// the words of the standard are compared with the geometry. If Ignore is set, headers
// are not read, and traces must be in the order of the geometry.
type Words struct {
	SourceX   string `yaml:"source_x"`
	SourceY   string `yaml:"source_y"`
	ReceiverX string `yaml:"receiver_x"`
	ReceiverY string `yaml:"receiver_y"`
	Scalar    string `yaml:"scalar"`
	Ignore    bool   `yaml:"ignore"`
}

// Operator is how data follow from the image.
type Operator struct {
	Times    string  `yaml:"times"`
	Sources  string  `yaml:"source_times" is:"path"`
	Receiver string  `yaml:"receiver_times" is:"path"`
	Dynamic  bool    `yaml:"dynamic"`
	Aperture float64 `yaml:"aperture"`
	Angle    float64 `yaml:"angle"`
	Split    string  `yaml:"split"`
	Type     string  `yaml:"type"`
}

// DefaultText is the default configuration with a comment on every parameter.
//
//go:embed default.yaml
var DefaultText string

// Default returns the configuration of the built-in example.
func Default() Config { return app.Default[Config](DefaultText) }

// limits reports whether the user asked for limits of angle or offset: a file names
// them, or a program has changed them. The defaults do not count.
func (c Config) limits() bool {
	d := Default().Operator
	return c.Given("operator.angle") && c.Operator.Angle != 0 || c.Given("operator.aperture") && c.Operator.Aperture != 0 ||
		c.Operator.Angle != 0 && c.Operator.Angle != d.Angle || c.Operator.Aperture != d.Aperture
}

// Example reports whether c runs the built-in model: no files are given.
func (c Config) Example() bool { return c.Velocity.File == "" && c.Velocity.Constant == 0 }

// effective returns the configuration that repeats a run: without limits that do not
// count, which would be refused if a file named them.
func (c Config) effective() Config {
	if !c.Operator.Dynamic {
		c.Operator.Angle, c.Operator.Aperture = 0, 0
	}
	return c
}
