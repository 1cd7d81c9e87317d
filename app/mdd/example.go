package mdd

import (
	"math"

	"github.com/golops/golops/ops/wave"
)

const (
	taper       = 5  // stations at each end over which the kernel fades
	halfWavelet = 40 // samples on either side of the wavelet's time zero
)

// The waves of the built-in problem.
var (
	kernelWaves = []wave.Hyperbola{{Time: 0.2, Velocity: 1200, Amplitude: 1}, {Time: 0.5, Velocity: 1500, Amplitude: 0.6}, {Time: 0.7, Velocity: 2000, Amplitude: 0.5}}
	modelWave   = wave.Hyperbola{Time: 0.2, Velocity: 1100, Amplitude: 1}
)

// example is the built-in problem, which knows its samples by their indices.
type example struct {
	Example
	interval float64
	wavelet  wave.Wavelet
}

func newExample(c Config) (*example, error) {
	t := make([]float64, halfWavelet+1)
	for i := range t {
		t[i] = float64(i) * c.Time.Interval
	}
	w, err := wave.Ricker(t, c.Example.Frequency)
	return &example{c.Example, c.Time.Interval, w}, err
}

// at is the place of station i of n, which lie around zero.
func (e *example) at(i, n int) float64 { return e.Spacing * (float64(i) - float64(n-1)/2) }

// kernel returns sample t from time zero on of a source and a receiver.
func (e *example) kernel(t, source, receiver int) (sum float64) {
	offset := e.at(receiver, e.Receivers) - e.at(source, e.Sources)
	for _, w := range kernelWaves {
		sum += w.Sample(t, e.interval, offset, e.wavelet)
	}
	return sum * (fade(source, e.Sources) * fade(receiver, e.Receivers))
}

// model returns sample t of a receiver and a virtual source, of which there is none before
// time zero. Several virtual sources lie over the middle half of the receivers.
func (e *example) model(t, receiver, virtual int) float64 {
	at := e.at(virtual, e.Virtual)
	if e.Virtual > 1 {
		at *= float64(e.Receivers-1) / 2 / float64(e.Virtual-1)
	}
	return modelWave.Sample(t, e.interval, e.at(receiver, e.Receivers)-at, wave.Wavelet{})
}

// fade is 1 but for the stations at the ends, where it is half a Hann window.
func fade(i, n int) float64 {
	if i = min(i, n-1-i); i >= taper-1 {
		return 1
	}
	return 0.5 - 0.5*math.Cos(math.Pi*float64(i)/(taper-1))
}
