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

// ricker returns the wavelet of the built-in problem.
func (c *Config) ricker() (wave.Wavelet, error) {
	t := make([]float64, halfWavelet+1)
	for i := range t {
		t[i] = float64(i) * c.Time.Interval
	}
	return wave.Ricker(t, c.Example.Frequency)
}

// at is the place of station i of n, which lie around zero.
func (j *job) at(i, n int) float64 { return j.Example.Spacing * (float64(i) - float64(n-1)/2) }

// exampleKernel returns sample t from time zero on of a source and a receiver.
func (j *job) exampleKernel(t, source, receiver int) (sum float64) {
	offset := j.at(receiver, j.receivers) - j.at(source, j.sources)
	for _, w := range kernelWaves {
		sum += w.Sample(t, j.Time.Interval, offset, j.wavelet)
	}
	return sum * (fade(source, j.sources) * fade(receiver, j.receivers))
}

// exampleModel returns sample t of a receiver and a virtual source, of which there is none before
// time zero. Several virtual sources lie over the middle half of the receivers.
func (j *job) exampleModel(t, receiver, virtual int) float64 {
	at := j.at(virtual, j.virtual)
	if j.virtual > 1 {
		at *= float64(j.receivers-1) / 2 / float64(j.virtual-1)
	}
	return modelWave.Sample(t, j.Time.Interval, j.at(receiver, j.receivers)-at, wave.Wavelet{})
}

// fade is 1 but for the stations at the ends, where it is half a Hann window.
func fade(i, n int) float64 {
	if i = min(i, n-1-i); i >= taper-1 {
		return 1
	}
	return 0.5 - 0.5*math.Cos(math.Pi*float64(i)/(taper-1))
}
