package mdd

import (
	"fmt"
	"math"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
	"github.com/golops/golops/launch"
)

// Job is a run that has been checked. Ranks of one process share it and do not change it.
type Job struct {
	Config                      Config
	Sources, Receivers, Virtual int
	Samples                     int // of the model: of both sides of time zero where there are two
	Frequencies                 int
	kernel, data                wavefield // of files
	spectral                    bool      // the kernel has frequencies
	example                     *example  // nil if wavefields come from files
}

// Prepare reads and checks what c names. An error is an *app.ConfigError.
func Prepare(c Config) (*Job, error) {
	j := &Job{Config: c}
	err := c.Validate()
	if err == nil && c.Kernel.File == "" {
		e := c.Example
		j.Sources, j.Receivers, j.Virtual, j.Samples = e.Sources, e.Receivers, e.Virtual, j.sides(e.Samples)
	} else if err == nil {
		err = j.inspect()
	}
	if err == nil {
		err = j.limits()
	}
	if err == nil && c.Kernel.File == "" {
		j.example, err = newExample(c)
	}
	if err != nil {
		return nil, &app.ConfigError{Err: err}
	}
	return j, nil
}

// sides returns the samples of a model whose times go up to n-1.
func (j *Job) sides(n int) int {
	if j.Config.Time.TwoSided {
		return 2*n - 1
	}
	return n
}

// inspect takes the shapes of the wavefields from their files.
func (j *Job) inspect() (err error) {
	c := j.Config
	if j.kernel, err = open(c.Kernel.File, c.Kernel.Sources, "kernel.sources"); err != nil {
		return err
	}
	n := 0
	j.spectral, j.Sources, j.Receivers, n = j.kernel.complex, j.kernel.dims[1], j.kernel.dims[2], j.kernel.dims[0]
	if j.data, err = open(c.Data.File, j.Sources, "kernel.sources"); err != nil {
		return err
	}
	d := j.data.dims
	switch j.Virtual = d[2]; {
	case j.data.complex:
		return fmt.Errorf("%s is complex: data are samples of time", app.Shown(c.Data.File))
	case d[1] != j.Sources:
		return fmt.Errorf("%s has %d sources, the kernel %s has %d", app.Shown(c.Data.File), d[1], app.Shown(c.Kernel.File), j.Sources)
	case j.spectral && c.Time.TwoSided && d[0]%2 == 0:
		return fmt.Errorf("%s has %d samples: with time.two_sided and a kernel of frequencies their number must be odd, with time zero in the middle", app.Shown(c.Data.File), d[0])
	case j.spectral:
		if j.Samples = d[0]; n > d[0]/2+1 {
			return fmt.Errorf("%s has %d frequencies, data of %d samples have %d", app.Shown(c.Kernel.File), n, d[0], d[0]/2+1)
		}
	default:
		if j.Samples = j.sides(n); d[0] != n && d[0] != j.Samples {
			return fmt.Errorf("%s has %d samples, the kernel %s has %d: data need as many, or %d with those of negative times", app.Shown(c.Data.File), d[0], app.Shown(c.Kernel.File), n, j.Samples)
		}
	}
	for _, w := range []wavefield{j.kernel, j.data} {
		if w.interval != 0 && math.Abs(w.interval-c.Time.Interval) > 1e-6 {
			return fmt.Errorf("%s has samples every %g s, time.interval is %g s", app.Shown(w.file), w.interval, c.Time.Interval)
		}
	}
	return nil
}

// limits settles the number of frequencies and compares sizes with the machine.
func (j *Job) limits() error {
	most := j.Samples/2 + 1
	if j.spectral {
		most = j.kernel.dims[0]
	}
	j.Frequencies = j.Config.Time.Frequencies
	if j.Frequencies == 0 || j.Frequencies > most && !j.Config.Given("time.frequencies") {
		j.Frequencies = most
	}
	if j.Frequencies > most {
		return fmt.Errorf("time.frequencies is %d, there are %d: give fewer, or 0 for all", j.Frequencies, most)
	}
	j.Config.Time.Frequencies = j.Frequencies
	kernel := 2 * j.bytes() * float64(j.Frequencies) * float64(j.Sources) * float64(j.Receivers)
	if launch.Launched() { // ranks of other machines may share it
		kernel /= float64(j.Frequencies)
	}
	if err := app.Fits(kernel, "a kernel of %d frequencies × %d sources × %d receivers", j.Frequencies, j.Sources, j.Receivers); err != nil {
		return err
	}
	return app.Fits(j.bytes()*float64(j.Samples)*float64(j.Receivers+j.Sources)*float64(j.Virtual), "wavefields of %d samples × %d sources and %d receivers × %d virtual sources", j.Samples, j.Sources, j.Receivers, j.Virtual)
}

// bytes is the size of a real number.
func (j *Job) bytes() float64 {
	if j.Config.Operator.Type == "float32" {
		return 4
	}
	return 8
}

// Task returns the job for the kit to run.
func (j *Job) Task() *app.Task {
	do := run[complex128, float64]
	if j.Config.Operator.Type == "float32" {
		do = run[complex64, float32]
	}
	model := j.bytes() * float64(j.Samples) * float64(j.Receivers) * float64(j.Virtual)
	recorded := j.bytes() * float64(j.Samples) * float64(j.Sources) * float64(j.Virtual)
	t := &app.Task{Config: j.Config, Bytes: 2 * model, State: 2*model + recorded, Run: func(r *app.Rank) *app.Results { return golops.Must(do(r.Context(), j, r)) }}
	if j.example != nil {
		t.Bytes += model + recorded
	}
	return t
}

// wavefield is a file of samples: time × sources × stations.
type wavefield struct {
	file     string
	dims     [3]int
	axes     int // of the file
	complex  bool
	interval float64 // in seconds; 0 if the file does not say
	segy     bool
}

// open takes the shape of a wavefield from its file, that of SEG-Y with the number of
// sources, which the key gives.
func open(file string, sources int, key string) (w wavefield, err error) {
	w.file = file
	if app.IsSEGY(file) {
		s, err := data.OpenSEGY(file)
		if err != nil {
			return w, err
		}
		defer s.Close()
		if sources == 0 || s.NumTraces()%sources != 0 {
			return w, fmt.Errorf("%s has %d traces, %s is %d: it must say of how many sources they are", app.Shown(file), s.NumTraces(), key, sources)
		}
		w.dims, w.interval, w.segy = [3]int{s.NumSamples(), sources, s.NumTraces() / sources}, float64(s.Interval())*1e-6, true
		return w, nil
	}
	info, err := data.Info(file)
	if err != nil {
		return w, err
	}
	w.axes, w.complex = len(info.Shape), info.Scalar().IsComplex()
	switch d := info.Shape; w.axes {
	case 2:
		w.dims = [3]int{d[0], d[1], 1}
	case 3:
		w.dims = [3]int(d)
	default:
		return w, fmt.Errorf("%s has shape %v: a wavefield has three axes: time, sources and receivers or virtual sources", app.Shown(file), d)
	}
	if w.dims[0]*w.dims[1]*w.dims[2] == 0 {
		return w, fmt.Errorf("%s has shape %v: there is nothing in it", app.Shown(file), info.Shape)
	}
	return w, nil
}
