package seismic

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/ops/wave"
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
	for key, word := range map[string]string{"data.inline": d.Inline, "data.crossline": d.Crossline} {
		if _, err := data.ParseWord(word); err != nil {
			f.Add("%s: %w", key, err)
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

// Input is a volume that has been checked. Its axes are those of files: inlines,
// crosslines, further ones, and samples.
type Input struct {
	Path  string // "" means the built-in example
	Dims  []int
	Words []data.Word // of SEG-Y; nil means .npy
}

// Open checks the data file, whose headers alone it reads. Further axes between
// crosslines and samples have these words in SEG-Y, and these sizes. It sets the interval.
func (d *Data) Open(e Example, more ...Axis) (in Input, err error) {
	in = Input{Path: d.File, Dims: []int{e.Inlines, e.Crosslines, e.Samples}}
	if in.Path == "" {
		if d.Interval == 0 {
			d.Interval = 0.004
		}
		for _, m := range more {
			in.Dims = slices.Insert(in.Dims, len(in.Dims)-1, m.Size)
		}
		return in, in.fits()
	}
	interval := 0.0
	if in, interval, err = open(d.File, *d, more...); err != nil {
		return in, err
	}
	for i, m := range more {
		if n := in.Dims[2+i]; n != m.Size {
			return in, fmt.Errorf("%s has %d %s, the configuration %d", app.Shown(d.File), n, m.Name, m.Size)
		}
	}
	if d.Interval == 0 {
		d.Interval = interval
	}
	if d.Interval == 0 {
		return in, errors.New("data.interval is 0: a .npy file does not say how far samples are apart, so give it in seconds")
	}
	return in, in.fits()
}

// Axis is a further axis of a volume, such as angles.
type Axis struct {
	Name string
	Word string // of SEG-Y headers
	Size int
}

// Like checks that another file, such as a background, has the same shape.
func (d Data) Like(path string, dims []int) (Input, error) {
	in, _, err := open(path, d)
	if err == nil && !slices.Equal(in.Dims, dims) {
		err = fmt.Errorf("%s has shape %v, must be %v: inlines × crosslines × samples, as the data", app.Shown(path), in.Dims, dims)
	}
	return in, err
}

// IsSEGY reports whether a path names a SEG-Y file.
func IsSEGY(path string) bool {
	p := strings.ToLower(path)
	return strings.HasSuffix(p, ".segy") || strings.HasSuffix(p, ".sgy")
}

// open reads the headers of a file. interval is 0 if it has none.
func open(path string, d Data, more ...Axis) (in Input, interval float64, err error) {
	in = Input{Path: path}
	if !IsSEGY(path) {
		info, err := data.Info(path)
		if err != nil {
			return in, 0, err
		}
		if in.Dims = info.Shape; len(in.Dims) != 3+len(more) || slices.Contains(in.Dims, 0) {
			want := "inlines × crosslines × "
			for _, m := range more {
				want += m.Name + " × "
			}
			return in, 0, fmt.Errorf("%s has shape %v: needs %ssamples", app.Shown(path), in.Dims, want)
		}
		return in, 0, nil
	}
	names := []string{d.Inline, d.Crossline}
	for _, m := range more {
		names = append(names, m.Word)
	}
	for _, name := range names {
		w, err := data.ParseWord(name)
		if err != nil {
			return in, 0, err
		}
		in.Words = append(in.Words, w)
	}
	v, err := data.OpenVolume(path, in.Words...)
	if err != nil {
		return in, 0, err
	}
	defer v.Close()
	in.Dims = v.Shape()
	return in, 1e-6 * float64(v.Interval()), nil
}

// fits refuses a volume that this machine cannot hold.
func (in Input) fits() error {
	n := 1.0
	for _, d := range in.Dims {
		n *= float64(d)
	}
	if launch.Launched() {
		n /= float64(in.Dims[0]) // one inline at least
	}
	return app.Fits(4*4*n, "volumes of %v samples", in.Dims)
}

// Read returns the samples of the wavelet for traces of this many samples, an odd
// number with time zero in the middle; nil if it is to be estimated.
func (w Wavelet) Read(samples int, interval float64) ([]float64, error) {
	if 2*w.Half+1 > samples && w.File == "" {
		return nil, fmt.Errorf("wavelet.half is %d: a wavelet of %d samples is longer than the traces, which have %d", w.Half, 2*w.Half+1, samples)
	}
	if w.Estimate {
		return nil, nil
	}
	if w.File == "" {
		if w.Frequency >= 0.5/interval {
			return nil, fmt.Errorf("wavelet.frequency is %g Hz, samples of %g s hold less than %g Hz", w.Frequency, interval, 0.5/interval)
		}
		return w.ricker(interval)
	}
	dims, v, err := data.ReadNPY[float64](w.File)
	switch {
	case err != nil:
		return nil, err
	case len(dims) != 1 || len(v)%2 == 0 || len(v) > samples:
		return nil, fmt.Errorf("%s has shape %v: a wavelet has one axis of an odd number of samples, at most the %d of a trace", app.Shown(w.File), dims, samples)
	}
	for i, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("%s: sample %d is %g", app.Shown(w.File), i, x)
		}
	}
	if !slices.ContainsFunc(v, func(x float64) bool { return x != 0 }) {
		return nil, fmt.Errorf("%s: the wavelet is zero everywhere", app.Shown(w.File))
	}
	return v, nil
}

// ricker returns the Ricker wavelet. wave.Ricker wants an odd number of times.
func (w Wavelet) ricker(interval float64) ([]float64, error) {
	odd := w.Half % 2
	t := make([]float64, w.Half+1+odd)
	for i := range t {
		t[i] = float64(i) * interval
	}
	r, err := wave.Ricker(t, w.Frequency)
	if err != nil {
		return nil, err
	}
	v := r.W[odd : len(r.W)-odd]
	for i := range v {
		v[i] *= w.Peak
	}
	return v, nil
}
