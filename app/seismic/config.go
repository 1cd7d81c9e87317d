package seismic

import (
	"slices"

	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
)

// Data is the section of a configuration on traces. Without a file they are modelled.
type Data struct {
	File      string  `yaml:"file" is:"path"`
	Inline    string  `yaml:"inline"`
	Crossline string  `yaml:"crossline"`
	Interval  float64 `yaml:"interval"`
}

// Example is the section on the built-in example.
type Example struct {
	Inlines    int     `yaml:"inlines"`
	Crosslines int     `yaml:"crosslines"`
	Samples    int     `yaml:"samples"`
	Noise      float64 `yaml:"noise"`
}

// Wavelet is the section on the wavelet.
type Wavelet struct {
	File      string  `yaml:"file" is:"path"`
	Estimate  bool    `yaml:"estimate"`
	Peak      float64 `yaml:"peak"`
	Frequency float64 `yaml:"frequency"`
	Half      int     `yaml:"half"`
}

// Spread is the section on how numbers lie on ranks.
type Spread struct {
	Split string `yaml:"split"`
	Type  string `yaml:"type"`
}

// Check reports what is wrong with the sections, without files.
func Check(f *app.Faults, d Data, e Example, w Wavelet, s Spread) {
	for _, w := range [][2]string{{"data.inline", d.Inline}, {"data.crossline", d.Crossline}} {
		if _, err := data.ParseWord(w[1]); err != nil {
			f.Add("%s: %w", w[0], err)
		}
	}
	f.NotNegative("data.interval", d.Interval)
	if d.Interval > 0.1 {
		f.Add("data.interval is %g s: is it in milliseconds? It is in seconds", d.Interval)
	}
	if d.File == "" {
		f.AtLeast("example.inlines", e.Inlines, 1)
		f.AtLeast("example.crosslines", e.Crosslines, 2)
		f.AtLeast("example.samples", e.Samples, 16)
		f.NotNegative("example.noise", e.Noise)
	}
	f.AtLeast("wavelet.half", w.Half, 1)
	f.Positive("wavelet.peak", w.Peak)
	f.Positive("wavelet.frequency", w.Frequency)
	if w.Estimate && w.File != "" {
		f.Add("wavelet.estimate is set, but a wavelet comes from %s: give one", app.Shown(w.File))
	}
	f.OneOf("spread.split", s.Split, "inlines", "crosslines", "both")
	f.OneOf("spread.type", s.Type, "float32", "float64")
}

// Flags returns the flags of an application: data says what its traces are, and own flags
// come after those of data and of the wavelet.
func Flags(data string, background, inversion []app.Flag) []app.Flag {
	return slices.Concat([]app.Flag{
		{Name: "data", Key: "data.file", Usage: data},
		{Name: "noise", Key: "example.noise", Usage: "noise of modelled data, `relative` to the data"},
		{Name: "interval", Key: "data.interval", Usage: "sampling interval in `seconds`"},
	}, background, []app.Flag{
		{Name: "wavelet", Key: "wavelet.file", Usage: "wavelet, `w.npy`"},
		{Name: "estimate", Key: "wavelet.estimate", Usage: "estimate the wavelet from the data"},
	}, inversion, []app.Flag{
		{Name: "split", Key: "spread.split", Usage: "spread over ranks: `inlines`, crosslines, both"},
		{Name: "type", Key: "spread.type", Usage: "element `type`: float32, float64"},
	})
}
