package mdd

import (
	"fmt"
	"math"

	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/ops/wave"
)

// job is a run that has been checked. Ranks of one process share it and do not change it.
type job struct {
	Config
	kernel, data                data.Wavefield // without a path those of the example
	wavelet                     wave.Wavelet   // of the example
	sources, receivers, virtual int
	samples                     int // of the model: of both sides of time zero where there are two
}

// Prepare reads and checks what c names.
func Prepare(c Config) (*app.Task, error) {
	j, err := newJob(c)
	if err != nil {
		return nil, err
	}
	elem, do := 8.0, run[complex128, float64]
	if c.Operator.Type == "float32" {
		elem, do = 4, run[complex64, float32]
	}
	kernel := 2 * elem * float64(j.Time.Frequencies) * float64(j.sources) * float64(j.receivers)
	if launch.Launched() { // ranks of other machines may share it
		kernel /= float64(j.Time.Frequencies)
	}
	if err := app.Fits(kernel, "a kernel of %d frequencies × %d sources × %d receivers", j.Time.Frequencies, j.sources, j.receivers); err != nil {
		return nil, err
	}
	wide := elem * float64(j.samples) * float64(j.virtual) // of a station
	model, recorded := wide*float64(j.receivers), wide*float64(j.sources)
	if err := app.Fits(model+recorded, "wavefields of %d samples × %d sources and %d receivers × %d virtual sources", j.samples, j.sources, j.receivers, j.virtual); err != nil {
		return nil, err
	}
	t := &app.Task{Config: j.Config, Bytes: 2 * model, State: 2*model + recorded, Run: func(r *app.Rank) *app.Results { return do(r, j) }}
	if c.Kernel.File == "" {
		t.Bytes += model + recorded
	}
	return t, nil
}

// newJob finds the sizes of a run.
func newJob(c Config) (j *job, err error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	j = &job{Config: c}
	if e := c.Example; c.Kernel.File == "" {
		j.kernel.Shape, j.data.Shape = [3]int{e.Samples, e.Sources, e.Receivers}, [3]int{e.Samples, e.Sources, e.Virtual}
		j.wavelet, err = c.ricker()
	} else if j.kernel, err = data.OpenWavefield(c.Kernel.File, c.Kernel.Sources); err == nil {
		j.data, err = data.OpenWavefield(c.Data.File, j.kernel.Shape[1])
	}
	if err == nil {
		err = j.inspect()
	}
	if err != nil {
		return nil, err
	}
	most := j.samples/2 + 1
	if j.kernel.Complex {
		most = j.kernel.Shape[0]
	}
	switch n := &j.Time.Frequencies; {
	case *n == 0 || *n > most && !c.Given("time.frequencies"):
		*n = most
	case *n > most:
		return nil, fmt.Errorf("time.frequencies is %d, there are %d: give fewer, or 0 for all", *n, most)
	}
	return j, nil
}

// inspect compares the shapes of both wavefields.
func (j *job) inspect() error {
	kernel, recorded := app.Shown(j.Kernel.File), app.Shown(j.Data.File)
	n, times := j.kernel.Shape[0], j.data.Shape[0]
	j.sources, j.receivers, j.virtual = j.kernel.Shape[1], j.kernel.Shape[2], j.data.Shape[2]
	j.samples = wave.MDCKernelOptions{TwoSided: j.Time.TwoSided}.Samples(n)
	if j.kernel.Complex {
		j.samples = times
	}
	switch {
	case j.data.Complex:
		return fmt.Errorf("%s is complex: data are samples of time", recorded)
	case j.data.Shape[1] != j.sources:
		return fmt.Errorf("%s has %d sources, the kernel %s has %d", recorded, j.data.Shape[1], kernel, j.sources)
	case j.kernel.Complex && j.Time.TwoSided && times%2 == 0:
		return fmt.Errorf("%s has %d samples: with time.two_sided and a kernel of frequencies their number must be odd, with time zero in the middle", recorded, times)
	case j.kernel.Complex && n > times/2+1:
		return fmt.Errorf("%s has %d frequencies, data of %d samples have %d", kernel, n, times, times/2+1)
	case times != n && times != j.samples:
		return fmt.Errorf("%s has %d samples, the kernel %s has %d: data need as many, or %d with those of negative times", recorded, times, kernel, n, j.samples)
	}
	for _, w := range []data.Wavefield{j.kernel, j.data} {
		if w.Interval != 0 && math.Abs(w.Interval-j.Time.Interval) > 1e-6 {
			return fmt.Errorf("%s has samples every %g s, time.interval is %g s", app.Shown(w.Path), w.Interval, j.Time.Interval)
		}
	}
	return nil
}
