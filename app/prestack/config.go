// Package prestack is the inversion of angle gathers for velocities and density: AVO
// inversion.
package prestack

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/app/seismic"
	"github.com/golops/golops/data"
	"github.com/golops/golops/ops"
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
		Flags: []app.Flag{
			{Name: "data", Key: "data.file", Usage: "angle gathers, `gathers.npy` or .segy"},
			{Name: "noise", Key: "example.noise", Usage: "noise of modelled data, `relative` to the data"},
			{Name: "interval", Key: "data.interval", Usage: "sampling interval in `seconds`"},
			{Name: "background", Key: "background.file", Usage: "properties to start from, `b.npy`"},
			{Name: "angles", Key: "angles.number", Usage: "`number` of angles"},
			{Name: "first", Key: "angles.first", Usage: "smallest angle in `degrees`"},
			{Name: "last", Key: "angles.last", Usage: "largest angle in `degrees`"},
			{Name: "vsvp", Key: "angles.vsvp", Usage: "`ratio` of the velocities of S and P waves"},
			{Name: "wavelet", Key: "wavelet.file", Usage: "wavelet, `w.npy`"},
			{Name: "estimate", Key: "wavelet.estimate", Usage: "estimate the wavelet from the data"},
			{Name: "weight", Key: "regularization.weight", Usage: "`weight` of the Laplacian"},
			{Name: "split", Key: "spread.split", Usage: "spread over ranks: `inlines`, crosslines, both"},
			{Name: "type", Key: "spread.type", Usage: "element `type`: float32, float64"},
		},
		Files: []app.File{
			{Name: "properties.npy", Note: "properties, inlines × crosslines × 3 × samples"}, {Name: "background.npy", Note: "those before the inversion"},
			{Name: "wavelet.npy", Note: "wavelet"}, {Name: "model.npy", Note: "true properties"}, {Name: "data.npy", Note: "modelled gathers"},
			{Name: "sections.png"}, {Name: "traces.png"}, {Name: "gather.png"},
		},
		Prepare: Prepare,
	}
}

// Config is the configuration of a run.
type Config struct {
	Data           seismic.Data    `yaml:"data"`
	Angles         Angles          `yaml:"angles"`
	Example        seismic.Example `yaml:"example"`
	Background     Background      `yaml:"background"`
	Wavelet        seismic.Wavelet `yaml:"wavelet"`
	Regularization Regularization  `yaml:"regularization"`
	Spread         seismic.Spread  `yaml:"spread"`
	Solver         app.Solver      `yaml:"solver"`
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

// Background is what rocks are like before the inversion.
type Background struct {
	File   string `yaml:"file" is:"path"`
	Smooth int    `yaml:"smooth"`
}

// Regularization is how smooth properties are.
type Regularization struct {
	Weight float64 `yaml:"weight"`
}

// DefaultText is the default configuration with a comment on every parameter.
//
//go:embed default.yaml
var DefaultText string

// Default returns the configuration of the built-in example.
func Default() Config { return app.Default[Config](DefaultText) }

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

// options are the angles as an operator takes them.
func (a Angles) options() ops.AVOOptions {
	o := ops.AVOOptions{VsVp: []float64{a.VsVp}}
	if a.Kind == "fatti" {
		o.Kind = ops.Fatti
	}
	for i := range a.Number {
		o.Angles = append(o.Angles, a.First+(a.Last-a.First)*float64(i)/float64(a.Number-1))
	}
	return o
}

// names of the three properties of the kind.
func (a Angles) names() []string {
	if a.Kind == "fatti" {
		return []string{"P impedance", "S impedance", "Density"}
	}
	return []string{"Vp", "Vs", "Density"}
}

// job is a run that has been checked.
type job struct {
	Config
	in    seismic.Input
	dims  []int // of properties, in the order of files
	given []float64
}

// Prepare checks a configuration and the files that it names.
func Prepare(c Config) (*app.Task, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	j := &job{Config: c}
	var err error
	if j.in, err = j.Data.Open(c.Example, seismic.Axis{Name: "angles", Word: c.Angles.Word, Size: c.Angles.Number}); err != nil {
		return nil, err
	}
	d := j.in.Dims
	j.dims = []int{d[0], d[1], 3, d[3]}
	if b := c.Background.File; b != "" {
		info, err := data.Info(b)
		if err != nil {
			return nil, err
		}
		if !slices.Equal(info.Shape, j.dims) {
			return nil, fmt.Errorf("%s has shape %v, must be %v: inlines × crosslines × 3 properties × samples, as the data", app.Shown(b), info.Shape, j.dims)
		}
	}
	if d[3] < 3 {
		return nil, fmt.Errorf("traces have %d samples: needs at least 3", d[3])
	}
	if j.given, err = c.Wavelet.Read(d[3], j.Data.Interval); err != nil {
		return nil, err
	}
	elem, do := 8.0, run[float64]
	if c.Spread.Type == "float32" {
		elem, do = 4, run[float32]
	}
	n := elem * 3 * float64(d[0]) * float64(d[1]) * float64(d[3])
	return &app.Task{
		Config: j.Config, Bytes: 2 * n, State: 2*n + n*float64(d[2])/3,
		Run: func(r *app.Rank) *app.Results { return golops.Must(do(r.Context(), j, r)) },
	}, nil
}
