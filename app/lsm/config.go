// Package lsm is least-squares migration, from data and a velocity model to an
// image of reflectivity, a report and files that other programs read.
package lsm

import (
	_ "embed"
	"strings"
	"sync"
)

// Config is the configuration of a run. Default returns a complete one. Paths are
// relative to the current folder. Read and ReadFile convert those of a file.
type Config struct {
	Grid        Grid        `yaml:"grid"`
	Velocity    Velocity    `yaml:"velocity"`
	Acquisition Acquisition `yaml:"acquisition"`
	Time        Time        `yaml:"time"`
	Wavelet     Wavelet     `yaml:"wavelet"`
	Data        Data        `yaml:"data"`
	Operator    Operator    `yaml:"operator"`
	Solver      Solver      `yaml:"solver"`
	Checkpoint  Checkpoint  `yaml:"checkpoint"`
	Out         string      `yaml:"out" is:"path"`

	given map[string]bool // the keys that were read from files, such as "operator.angle"
	files []string        // that were read
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

// Solver is how the image follows from data.
type Solver struct {
	Method     string  `yaml:"method"`
	Iterations int     `yaml:"iterations"`
	Tolerance  float64 `yaml:"tolerance"`
	Damp       float64 `yaml:"damp"`
}

// Checkpoint is where the state of the solver is kept.
type Checkpoint struct {
	Dir    string  `yaml:"dir" is:"path"`
	Every  int     `yaml:"every"`
	Time   float64 `yaml:"seconds"`
	Resume bool    `yaml:"resume"`
}

// DefaultText is the default configuration with a comment on every parameter.
//
//go:embed default.yaml
var DefaultText string

// Default returns the configuration of the built-in example.
func Default() Config { return theDefault() }

var theDefault = sync.OnceValue(func() Config {
	var c Config
	if err := c.Read(strings.NewReader(DefaultText)); err != nil {
		panic(err) // a test reads it too
	}
	c.given = nil
	return c
})

// limits reports whether the user asked for limits of angle or offset: a file names
// them, or a program has changed them. The defaults do not count.
func (c Config) limits() bool {
	d := Default().Operator
	return c.given["operator.angle"] && c.Operator.Angle != 0 || c.given["operator.aperture"] && c.Operator.Aperture != 0 ||
		c.Operator.Angle != 0 && c.Operator.Angle != d.Angle || c.Operator.Aperture != d.Aperture
}

// Example reports whether c runs the built-in model: no files are given.
func (c Config) Example() bool { return c.Velocity.File == "" && c.Velocity.Constant == 0 }
