// Package mdd is multi-dimensional deconvolution: it redatums a wavefield to virtual
// sources, from data and the wavefield that excited them.
package mdd

import (
	_ "embed"

	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
)

// Config is the configuration of a run; default.yaml says what each key means.
type Config struct {
	Kernel struct {
		File    string `yaml:"file" is:"path"`
		Sources int    `yaml:"sources"`
	} `yaml:"kernel"`
	Data struct {
		File string `yaml:"file" is:"path"`
	} `yaml:"data"`
	Example struct {
		Sources   int     `yaml:"sources"`
		Receivers int     `yaml:"receivers"`
		Virtual   int     `yaml:"virtual"`
		Samples   int     `yaml:"samples"`
		Spacing   float64 `yaml:"spacing"`
		Frequency float64 `yaml:"frequency"`
	} `yaml:"example"`
	Time struct {
		Interval    float64 `yaml:"interval"`
		TwoSided    bool    `yaml:"two_sided"`
		Frequencies int     `yaml:"frequencies"`
	} `yaml:"time"`
	Operator struct {
		Spacing        float64 `yaml:"spacing"`
		FrequencyRanks int     `yaml:"frequency_ranks"`
		Together       bool    `yaml:"together"`
		Type           string  `yaml:"type"`
	} `yaml:"operator"`
	Solver struct {
		app.Solver
		Weight float64 `yaml:"weight"`
	} `yaml:"solver"`
	app.Base
}

// DefaultText is the default configuration with a comment on every parameter.
//
//go:embed default.yaml
var DefaultText string

// App returns the application golops mdd.
func App() app.Application[Config] {
	return app.Application[Config]{
		Name:  "mdd",
		Title: "Multi-dimensional deconvolution",
		Short: "multi-dimensional deconvolution: wavefields of virtual sources",
		Help: `mdd removes what lies between sources and receivers from seismic data. It finds the
wavefield x of virtual sources in y = ∫∫ g(t-τ)·x(τ) dτ dr, from data y and the wavefield
g from sources to receivers, and compares it with the cross-correlation of both. Without
flags it inverts a built-in example:
  golops mdd
  golops mdd --kernel g.npy --data d.npy --interval 0.002
  golops mdd --kernel g.npy --data d.npy --method fista --weight 0.05
  mpirun -n 4 golops mdd --config survey.yaml --checkpoint state`,
		Default: DefaultText,
		Flags: []app.Flag{
			{Name: "kernel", Key: "kernel.file", Usage: "wavefield from sources to receivers, `g.npy` or .segy"},
			{Name: "data", Key: "data.file", Usage: "recorded data, `d.npy` or .segy"},
			{Name: "sources", Key: "kernel.sources", Usage: "`sources` of a kernel in SEG-Y"},
			{Name: "interval", Key: "time.interval", Usage: "sampling interval in `seconds`"},
			{Name: "spacing", Key: "operator.spacing", Usage: "`distance` between receivers"},
			{Name: "frequencies", Key: "time.frequencies", Usage: "`number` of frequencies that are used, from zero on; 0 means all"},
			{Name: "virtual", Key: "example.virtual", Usage: "virtual `sources` of the example"},
			{Name: "method", Key: "solver.method", Usage: "`solver`: cgls, cgls-one-message, lsqr, fista"},
			{Name: "weight", Key: "solver.weight", Usage: "`weight` of fista, between 0 and 1"},
			{Name: "type", Key: "operator.type", Usage: "element `type`: float32, float64"},
		},
		Files: []app.File{
			{Name: "inverse.npy", Note: "wavefield of the virtual sources, time × receivers × virtual sources"}, {Name: "adjoint.npy", Note: "cross-correlation"},
			{Name: "model.npy", Note: "true wavefield"}, {Name: "data.npy", Note: "data, time × sources × virtual sources"}, {Name: "images.png"}, {Name: "data.png"},
		},
		Prepare: Prepare,
	}
}

// validate reports everything that can be seen to be wrong without the files.
func (c Config) validate() error {
	var f app.Faults
	if (c.Kernel.File == "") != (c.Data.File == "") {
		f.Add("kernel.file is %q and data.file %q: give both, or none for the example", c.Kernel.File, c.Data.File)
	}
	if data.IsSEGY(c.Kernel.File) && c.Kernel.Sources == 0 {
		f.Add("kernel.sources is 0, the kernel is %s: it must say of how many sources the traces are", app.Shown(c.Kernel.File))
	}
	if c.Kernel.File == "" {
		f.AtLeast("example.sources", c.Example.Sources, 2*taper)
		f.AtLeast("example.receivers", c.Example.Receivers, 2*taper)
		f.AtLeast("example.virtual", c.Example.Virtual, 1)
		f.AtLeast("example.samples", c.Example.Samples, 2*halfWavelet)
		f.Positive("example.spacing", c.Example.Spacing)
		f.Positive("example.frequency", c.Example.Frequency)
		if most := 0.5 / c.Time.Interval; c.Example.Frequency >= most {
			f.Add("example.frequency is %g Hz, samples of %g s hold less than %g Hz", c.Example.Frequency, c.Time.Interval, most)
		}
		if last := float64(c.Example.Samples) * c.Time.Interval; last <= modelWave.Time {
			f.Add("example.samples is %d and time.interval %g s: the waves come after %g s, when the samples have ended", c.Example.Samples, c.Time.Interval, modelWave.Time)
		}
	}
	f.Positive("time.interval", c.Time.Interval)
	if c.Time.Interval >= 1 {
		f.Add("time.interval is %g s: is it in milliseconds? It is in seconds", c.Time.Interval)
	}
	f.Positive("operator.spacing", c.Operator.Spacing)
	f.AtLeast("kernel.sources", c.Kernel.Sources, 0)
	f.AtLeast("time.frequencies", c.Time.Frequencies, 0)
	f.AtLeast("operator.frequency_ranks", c.Operator.FrequencyRanks, 0)
	f.OneOf("operator.type", c.Operator.Type, "float32", "float64")
	if !c.Operator.Together && c.Checkpoint.Dir != "" {
		f.Add("operator.together is false and checkpoint.dir %s: a folder of checkpoints is for one inversion: set operator.together to true", app.Shown(c.Checkpoint.Dir))
	}
	f.Solver(c.Solver.Solver, "fista")
	if sparse := c.Solver.Method == "fista"; sparse && !(c.Solver.Weight > 0 && c.Solver.Weight < 1) {
		f.Add("solver.weight is %g, must be above 0 and below 1: from 1 on the model is zero", c.Solver.Weight)
	} else if sparse && c.Solver.Damp != 0 {
		f.Add("solver.damp is %g, which is not for fista: leave it out", c.Solver.Damp)
	}
	f.Base(c)
	return f.Err()
}
