// Package poststack is the inversion of stacked seismic traces for acoustic impedance.
package poststack

import (
	_ "embed"
	"slices"

	"github.com/golops/golops/app"
	"github.com/golops/golops/app/seismic"
	"github.com/golops/golops/data"
)

// App returns the application golops poststack.
func App() app.Application[Config] {
	return app.Application[Config]{
		Name:  "poststack",
		Title: "Post-stack inversion",
		Short: "post-stack inversion: from stacked traces to acoustic impedance",
		Help: `poststack inverts a volume of stacked seismic traces for acoustic impedance.
Without flags it models data of a built-in example, layers with a fault and a
channel, and inverts them. With a volume and a background it inverts yours:
  golops poststack
  golops poststack --regularization tv --method admm --weight 0.005
  golops poststack --data stack.segy --background trend.npy --estimate
  mpirun -n 4 golops poststack --config survey.yaml --split both`,
		Default: DefaultText,
		Flags: seismic.Flags("stacked traces, `stack.npy` or .segy", []app.Flag{
			{Name: "background", Key: "background.file", Usage: "impedance to start from, `b.npy` or .segy"},
		}, []app.Flag{
			{Name: "regularization", Key: "regularization.kind", Usage: "`kind`: none, laplacian, tv, l1"},
			{Name: "weight", Key: "regularization.weight", Usage: "`weight` of the regularization"},
			{Name: "by", Key: "regularization.by", Usage: "`volume` or trace"},
		}),
		Files: []app.File{
			{Name: "impedance.npy", Note: "impedance, inlines × crosslines × samples"}, {Name: "impedance.segy", Note: "the same with the headers of the data"},
			{Name: "background.npy", Note: "impedance before the inversion"}, {Name: "wavelet.npy", Note: "wavelet"},
			{Name: "model.npy", Note: "true impedance"}, {Name: "data.npy", Note: "modelled data"},
			{Name: "sections.png"}, {Name: "traces.png"}, {Name: "data.png"},
		},
		Prepare: Prepare,
	}
}

// Config is the configuration of a run; default.yaml says what each key means.
type Config struct {
	Data       seismic.Data    `yaml:"data"`
	Example    seismic.Example `yaml:"example"`
	Background struct {
		File   string  `yaml:"file" is:"path"`
		First  float64 `yaml:"first"`
		Last   float64 `yaml:"last"`
		Smooth int     `yaml:"smooth"`
	} `yaml:"background"`
	Wavelet        seismic.Wavelet `yaml:"wavelet"`
	Regularization struct {
		Kind   string  `yaml:"kind"`
		Weight float64 `yaml:"weight"`
		By     string  `yaml:"by"`
	} `yaml:"regularization"`
	Spread seismic.Spread `yaml:"spread"`
	Solver app.Solver     `yaml:"solver"`
	app.Base
}

// DefaultText is the default configuration with a comment on every parameter.
//
//go:embed default.yaml
var DefaultText string

// split are the methods for tv and l1.
var split = []string{"admm", "split-bregman", "primal-dual"}

// sparse reports whether the regularization is a sum of absolute values.
func (c Config) sparse() bool { return c.Regularization.Kind == "tv" || c.Regularization.Kind == "l1" }

// validate reports everything that can be seen to be wrong without the files.
func (c Config) validate() error {
	var f app.Faults
	seismic.Check(&f, c.Data, c.Example, c.Wavelet, c.Spread)
	b := c.Background
	trend := b.First != 0 || b.Last != 0
	if trend && !(b.First > 0 && b.Last > 0 && b.First < 1e30 && b.Last < 1e30) {
		f.Add("background goes from %g to %g: impedances must be positive and finite", b.First, b.Last)
	}
	if b.File != "" && trend {
		f.Add("background has both a file, %s, and a trend from %g to %g: give one", app.Shown(b.File), b.First, b.Last)
	}
	if c.Data.File != "" && b.File == "" && !trend {
		f.Add("data come from %s, but no background is given: name background.file, or background.first and background.last", app.Shown(c.Data.File))
	}
	f.AtLeast("background.smooth", b.Smooth, 0)
	r := c.Regularization
	f.OneOf("regularization.kind", r.Kind, "none", "laplacian", "tv", "l1")
	f.OneOf("regularization.by", r.By, "volume", "trace")
	f.NotNegative("regularization.weight", r.Weight)
	if c.sparse() {
		f.Positive("regularization.weight", r.Weight)
	}
	f.Solver(c.Solver, split...)
	if slices.Contains(split, c.Solver.Method) != c.sparse() {
		f.Add("solver.method is %s and regularization.kind %s: tv and l1 need one of %v, the others one of cgls, cgls-one-message, lsqr", c.Solver.Method, r.Kind, split)
	}
	f.Base(c)
	return f.Err()
}

// job is a run that has been checked.
type job struct {
	Config
	survey     *seismic.Survey
	background data.VolumeFile
}

// Prepare checks a configuration and the files that it names.
func Prepare(c Config) (t *app.Task, err error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	j := &job{Config: c}
	if j.survey, err = seismic.Open(&j.Data, c.Example, c.Wavelet, c.Spread); err != nil {
		return nil, err
	}
	if c.Background.File != "" {
		if j.background, err = j.survey.Like(c.Background.File); err != nil {
			return nil, err
		}
	}
	return j.survey.Task(j.Config, j.survey.File.Shape, run[float32](j), run[float64](j)), nil
}
