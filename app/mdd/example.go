package mdd

import (
	"math"

	"github.com/golops/golops/ops/wave"
)

const (
	taper       = 5  // stations at each end over which the kernel fades
	halfWavelet = 40 // samples on either side of the wavelet's time zero
)

// events are hyperbolas: their times at no offset, velocities and amplitudes.
type events struct{ t0, velocity, amplitude []float64 }

// Those of the kernel and of the model.
var (
	kernelEvents = events{[]float64{0.2, 0.5, 0.7}, []float64{1200, 1500, 2000}, []float64{1, 0.6, 0.5}}
	modelEvents  = events{[]float64{0.2}, []float64{1100}, []float64{1}}
)

// example is the built-in problem, which knows its samples by their indices.
type example struct {
	Example
	interval float64
	wavelet  []float64
}

func newExample(c Config) (*example, error) {
	t := make([]float64, halfWavelet+1)
	for i := range t {
		t[i] = float64(i) * c.Time.Interval
	}
	w, err := wave.Ricker(t, c.Example.Frequency)
	if err != nil {
		return nil, err
	}
	return &example{c.Example, c.Time.Interval, w.W}, nil
}

// at is the place of station i of n, which lie around zero.
func (e *example) at(i, n int) float64 { return e.Spacing * (float64(i) - float64(n-1)/2) }

// trace adds the events at an offset to samples, through a wavelet or, if that is nil, as
// two neighbours of each time.
func (e *example) trace(dst []float64, v events, offset float64, wavelet []float64) {
	add := func(i int, a float64) {
		if wavelet == nil {
			if i < len(dst) {
				dst[i] += a
			}
			return
		}
		for k, w := range wavelet {
			if t := i + k - halfWavelet; t >= 0 && t < len(dst) {
				dst[t] += a * w
			}
		}
	}
	for k, t0 := range v.t0 {
		at := math.Sqrt(float64(t0*t0)+float64(offset*offset/float64(v.velocity[k]*v.velocity[k]))) / e.interval
		i := int(at)
		if i < len(dst)+halfWavelet-1 {
			add(i, v.amplitude[k]*(1-(at-float64(i))))
			add(i+1, v.amplitude[k]*(at-float64(i)))
		}
	}
}

// kernel fills the samples from time zero on of a source and a receiver.
func (e *example) kernel(dst []float64, source, receiver int) {
	e.trace(dst, kernelEvents, e.at(receiver, e.Receivers)-e.at(source, e.Sources), e.wavelet)
	f := fade(source, e.Sources) * fade(receiver, e.Receivers)
	for i := range dst {
		dst[i] *= f
	}
}

// model fills the samples from time zero on of a receiver and a virtual source. Several
// virtual sources lie over the middle half of the receivers.
func (e *example) model(dst []float64, receiver, virtual int) {
	at := e.at(virtual, e.Virtual)
	if e.Virtual > 1 {
		at *= float64(e.Receivers-1) / 2 / float64(e.Virtual-1)
	}
	e.trace(dst, modelEvents, e.at(receiver, e.Receivers)-at, nil)
}

// fade is 1 but for the stations at the ends, where it is half a Hann window.
func fade(i, n int) float64 {
	if i = min(i, n-1-i); i >= taper-1 {
		return 1
	}
	return 0.5 - 0.5*math.Cos(math.Pi*float64(i)/(taper-1))
}
