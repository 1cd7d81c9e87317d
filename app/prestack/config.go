// Package prestack is the inversion of angle gathers for velocities and density: AVO
// inversion.
package prestack

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/golops/golops/app"
	"github.com/golops/golops/app/seismic"
	"github.com/golops/golops/data"
)

// App returns the application golops prestack.
func App() app.Application[Config] {
	return app.Application[Config]{
		Name:  "prestack",
		Title: "Pre-stack inversion",
		Short: "AVO inversion: from angle gathers to velocities and density",
		Help: `prestack inverts gathers of seismic traces, one for each angle of incidence,
for the velocities of P and S waves and density. Without flags it models data
of a built-in example and inverts them. With gathers and a background it
inverts yours:
  golops prestack
  golops prestack --data gathers.segy --background rocks.npy --angles 9 --last 50
  mpirun -n 4 golops prestack --config survey.yaml --split both`,
		Default: DefaultText,
		Flags: seismic.Flags("angle gathers, `gathers.npy` or .segy", []app.Flag{
			{Name: "background", Key: "background.file", Usage: "properties to start from, `b.npy`"},
			{Name: "angles", Key: "angles.number", Usage: "`number` of angles"},
			{Name: "first", Key: "angles.first", Usage: "smallest angle in `degrees`"},
			{Name: "last", Key: "angles.last", Usage: "largest angle in `degrees`"},
			{Name: "vsvp", Key: "angles.vsvp", Usage: "`ratio` of the velocities of S and P waves"},
		}, []app.Flag{
			{Name: "weight", Key: "regularization.weight", Usage: "`weight` of the Laplacian"},
		}),
		Files: []app.File{
			{Name: "properties.npy", Note: "properties, inlines × crosslines × 3 × samples"}, {Name: "background.npy", Note: "those before the inversion"},
			{Name: "wavelet.npy", Note: "wavelet"}, {Name: "model.npy", Note: "true properties"}, {Name: "data.npy", Note: "modelled gathers"},
			{Name: "sections.png"}, {Name: "traces.png"}, {Name: "gather.png"},
		},
		Prepare: Prepare,
	}
}

// Config is the configuration of a run; default.yaml says what each key means.
type Config struct {
	Data       seismic.Data    `yaml:"data"`
	Angles     Angles          `yaml:"angles"`
	Example    seismic.Example `yaml:"example"`
	Background struct {
		File   string `yaml:"file" is:"path"`
		Smooth int    `yaml:"smooth"`
	} `yaml:"background"`
	Wavelet        seismic.Wavelet `yaml:"wavelet"`
	Regularization struct {
		Weight float64 `yaml:"weight"`
	} `yaml:"regularization"`
	Spread seismic.Spread `yaml:"spread"`
	Solver app.Solver     `yaml:"solver"`
	app.Base
}

// Angles are the angles of incidence, and how reflections depend on them.
type Angles struct {
	Word   string  `yaml:"word"`
	Number int     `yaml:"number"`
	First  float64 `yaml:"first"`
	Last   float64 `yaml:"last"`
	Kind   string  `yaml:"kind"`
	VsVp   float64 `yaml:"vsvp"`
}

// DefaultText is the default configuration with a comment on every parameter.
//
//go:embed default.yaml
var DefaultText string

// validate reports everything that can be seen to be wrong without the files.
func (c Config) validate() error {
	var f app.Faults
	seismic.Check(&f, c.Data, c.Example, c.Wavelet, c.Spread)
	a := c.Angles
	if _, err := data.ParseWord(a.Word); err != nil {
		f.Add("angles.word: %w", err)
	}
	f.AtLeast("angles.number", a.Number, 3)
	if !(a.First >= 0 && a.First < a.Last && a.Last < 90) {
		f.Add("angles go from %g to %g degrees: must rise, from 0 on and below 90", a.First, a.Last)
	} else if a.Last < 1.6 {
		f.Add("angles.last is %g degrees: are the angles in radians?", a.Last)
	}
	f.OneOf("angles.kind", a.Kind, "aki-richards", "fatti")
	if !(a.VsVp > 0 && a.VsVp < 1) {
		f.Add("angles.vsvp is %g, must lie between 0 and 1", a.VsVp)
	}
	if c.Data.File != "" && c.Background.File == "" {
		f.Add("data come from %s, but no background is given: name background.file", app.Shown(c.Data.File))
	}
	f.AtLeast("background.smooth", c.Background.Smooth, 0)
	f.NotNegative("regularization.weight", c.Regularization.Weight)
	f.Solver(c.Solver)
	f.Base(c)
	return f.Err()
}

// job is a run that has been checked.
type job struct {
	Config
	survey *seismic.Survey
	dims   []int // of properties, in the order of files
}

// Prepare checks a configuration and the files that it names.
func Prepare(c Config) (t *app.Task, err error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	j := &job{Config: c}
	angles := seismic.Axis{Name: "angles", Word: c.Angles.Word, Size: c.Angles.Number}
	if j.survey, err = seismic.Open(&j.Data, c.Example, c.Wavelet, c.Spread, angles); err != nil {
		return nil, err
	}
	j.dims = slices.Clone(j.survey.File.Shape)
	j.dims[2] = 3
	if b := c.Background.File; b != "" {
		info, err := data.Info(b)
		if err != nil {
			return nil, err
		}
		if !slices.Equal(info.Shape, j.dims) {
			return nil, fmt.Errorf("%s has shape %v, must be %v: inlines × crosslines × 3 properties × samples, as the data", app.Shown(b), info.Shape, j.dims)
		}
	}
	return j.survey.Task(j.Config, j.dims, run[float32](j), run[float64](j)), nil
}
