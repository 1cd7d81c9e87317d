package seismic

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/ops/wave"
)

// Survey is what the sections describe, checked. Ranks of one process share it.
type Survey struct {
	Data
	Example
	Wavelet
	Spread
	File  data.VolumeFile // of the traces; its Path is "" for the built-in example
	given []float64       // the wavelet; nil means estimated
}

// Axis is a further axis of a volume, such as angles.
type Axis struct {
	Name string
	Word string // of SEG-Y headers
	Size int
}

// Open checks the files of the sections, of which it reads headers and the wavelet. It
// sets the interval of d. Further axes lie between crosslines and samples.
func Open(d *Data, e Example, w Wavelet, s Spread, more ...Axis) (*Survey, error) {
	f, err := d.traces(e, more)
	if err != nil {
		return nil, err
	}
	n := f.Shape[len(f.Shape)-1]
	if n < 3 {
		return nil, fmt.Errorf("traces have %d samples: needs at least 3", n)
	}
	given, err := w.read(n, d.Interval)
	return &Survey{*d, e, w, s, f, given}, err
}

// traces describes the data, those of a file or of the built-in example.
func (d *Data) traces(e Example, more []Axis) (f data.VolumeFile, err error) {
	f.Interval, f.Shape = 0.004, []int{e.Inlines, e.Crosslines}
	for _, m := range more {
		f.Shape = append(f.Shape, m.Size)
	}
	f.Shape = append(f.Shape, e.Samples)
	if d.File != "" {
		if f, err = d.open(d.File, more...); err != nil {
			return f, err
		}
		for i, m := range more {
			if n := f.Shape[2+i]; n != m.Size {
				return f, fmt.Errorf("%s has %d %s, the configuration %d", app.Shown(d.File), n, m.Name, m.Size)
			}
		}
	}
	if d.Interval = cmp.Or(d.Interval, f.Interval); d.Interval == 0 {
		return f, errors.New("data.interval is 0: a .npy file does not say how far samples are apart, so give it in seconds")
	}
	n := points(f.Shape)
	if launch.Launched() {
		n /= float64(f.Shape[0]) // one inline at least
	}
	return f, app.Fits(4*4*n, "volumes of %v samples", f.Shape)
}

// open reads the headers of a file.
func (d Data) open(path string, more ...Axis) (f data.VolumeFile, err error) {
	var words []data.Word
	axes := ""
	for _, a := range append([]Axis{{"inlines", d.Inline, 0}, {"crosslines", d.Crossline, 0}}, more...) {
		w, err := data.ParseWord(a.Word)
		if err != nil {
			return f, err
		}
		words, axes = append(words, w), axes+a.Name+" × "
	}
	f, err = data.OpenVolumeFile(path, words...)
	if err == nil && (len(f.Shape) != len(words)+1 || slices.Contains(f.Shape, 0)) {
		err = fmt.Errorf("%s has shape %v: needs %ssamples", app.Shown(path), f.Shape, axes)
	}
	return f, err
}

// Like checks that another file, such as a background, has the shape of the traces.
func (s *Survey) Like(path string) (data.VolumeFile, error) {
	f, err := s.Data.open(path)
	if err == nil && !slices.Equal(f.Shape, s.File.Shape) {
		err = fmt.Errorf("%s has shape %v, must be %v: inlines × crosslines × samples, as the data", app.Shown(path), f.Shape, s.File.Shape)
	}
	return f, err
}

// Task returns the run of a survey whose models have these dimensions, in one of two
// element types.
func (s *Survey) Task(config any, model []int, single, double func(r *app.Rank) *app.Results) *app.Task {
	size, run := 8.0, double
	if s.Type == "float32" {
		size, run = 4, single
	}
	n := size * points(model)
	return &app.Task{Config: config, Bytes: 2 * n, State: 2*n + size*points(s.File.Shape), Run: run}
}

// points returns the number of elements of a shape.
func points(dims []int) float64 {
	n := 1.0
	for _, d := range dims {
		n *= float64(d)
	}
	return n
}

// read returns the samples of the wavelet for traces of this many samples, an odd
// number with time zero in the middle; nil if it is to be estimated.
func (w Wavelet) read(samples int, interval float64) ([]float64, error) {
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

// ricker returns the wavelet of Ricker.
func (w Wavelet) ricker(interval float64) ([]float64, error) {
	v, err := wave.RickerSamples(w.Half, interval, w.Frequency)
	scale(v, w.Peak)
	return v, err
}

func scale(v []float64, by float64) {
	for i := range v {
		v[i] *= by
	}
}
