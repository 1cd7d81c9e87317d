// Package reflectivity is the inversion of stacked seismic traces for sparse reflection
// coefficients.
package reflectivity

import (
	_ "embed"
	"slices"

	"github.com/golops/golops/app"
	"github.com/golops/golops/app/seismic"
)

// App returns the application golops reflectivity.
func App() app.Application[Config] {
	return app.Application[Config]{
		Name:  "reflectivity",
		Title: "Sparse reflectivity",
		Short: "sparse spikes: from stacked traces to reflection coefficients",
		Help: `reflectivity finds the few reflection coefficients that explain a volume of
stacked seismic traces. Without flags it models data of a built-in example and
inverts them. It tries several weights and takes the one at the corner of the
L-curve. With a volume it inverts yours:
  golops reflectivity
  golops reflectivity --choice discrepancy --left 0.1
  golops reflectivity --data stack.segy --estimate
  mpirun -n 4 golops reflectivity --config survey.yaml --split both`,
		Default: DefaultText,
		Flags: seismic.Flags("stacked traces, `stack.npy` or .segy", nil, []app.Flag{
			{Name: "choice", Key: "weight.choice", Usage: "how the weight is chosen: `l-curve`, discrepancy, given"},
			{Name: "weight", Key: "weight.value", Usage: "`weight`, if the choice is given"},
			{Name: "left", Key: "weight.noise", Usage: "what to leave of the data for discrepancy, `relative` to them"},
		}),
		Files: []app.File{
			{Name: "reflectivity.npy", Note: "spikes, inlines × crosslines × samples"}, {Name: "reflectivity.segy", Note: "the same with the headers of the data"},
			{Name: "least-squares.npy", Note: "without the demand for sparsity"}, {Name: "wavelet.npy", Note: "wavelet"},
			{Name: "model.npy", Note: "true reflectivity"}, {Name: "data.npy", Note: "modelled data"},
			{Name: "sections.png"}, {Name: "traces.png"}, {Name: "weights.png"},
		},
		Prepare: Prepare,
	}
}

// Config is the configuration of a run; default.yaml says what each key means.
type Config struct {
	Data    seismic.Data    `yaml:"data"`
	Example seismic.Example `yaml:"example"`
	Wavelet seismic.Wavelet `yaml:"wavelet"`
	Weight  struct {
		Choice     string  `yaml:"choice"`
		Value      float64 `yaml:"value"`
		Trials     int     `yaml:"trials"`
		Iterations int     `yaml:"iterations"`
		Noise      float64 `yaml:"noise"`
	} `yaml:"weight"`
	Spread seismic.Spread `yaml:"spread"`
	Solver app.Solver     `yaml:"solver"`
	app.Base
}

// DefaultText is the default configuration with a comment on every parameter.
//
//go:embed default.yaml
var DefaultText string

// methods are those for sparse spikes.
var methods = []string{"fista", "ista", "proximal-gradient"}

// validate reports everything that can be seen to be wrong without the files.
func (c Config) validate() error {
	var f app.Faults
	seismic.Check(&f, c.Data, c.Example, c.Wavelet, c.Spread)
	w := c.Weight
	f.OneOf("weight.choice", w.Choice, "l-curve", "discrepancy", "given")
	if w.Choice == "given" && !(w.Value > 0 && w.Value < 1) {
		f.Add("weight.value is %g, must lie between 0 and 1: it is relative to the weight above which all spikes are zero", w.Value)
	}
	if w.Choice != "given" {
		f.AtLeast("weight.trials", w.Trials, 4)
		f.AtLeast("weight.iterations", w.Iterations, 1)
	}
	if w.Choice == "discrepancy" && !(w.Noise > 0 && w.Noise < 1) {
		f.Add("weight.noise is %g, must lie between 0 and 1: it is relative to the data", w.Noise)
	}
	f.Solver(c.Solver, methods...)
	if !slices.Contains(methods, c.Solver.Method) {
		f.Add("solver.method is %s: sparse spikes need one of %v", c.Solver.Method, methods)
	}
	if c.Solver.Damp != 0 {
		f.Add("solver.damp is %g, must be 0: the weight is what keeps spikes small", c.Solver.Damp)
	}
	f.Base(c)
	return f.Err()
}

// job is a run that has been checked.
type job struct {
	Config
	survey *seismic.Survey
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
	return j.survey.Task(j.Config, j.survey.File.Shape, run[float32](j), run[float64](j)), nil
}
