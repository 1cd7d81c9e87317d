package wave

import "math"

// Hyperbola is the wave that a flat layer reflects, or that a point sends: at an offset it
// arrives at √(Time² + (offset/Velocity)²). It makes samples for examples and tests.
type Hyperbola struct{ Time, Velocity, Amplitude float64 }

// Arrival returns the time at which the wave arrives at an offset.
func (h Hyperbola) Arrival(offset float64) float64 {
	return math.Sqrt(float64(h.Time*h.Time) + float64(offset*offset/float64(h.Velocity*h.Velocity)))
}

// Sample returns sample t, from time zero on, of the trace at an offset. The amplitude is
// shared by the two samples around the arrival, and the wavelet is put there; the zero
// Wavelet is one spike.
func (h Hyperbola) Sample(t int, interval, offset float64, w Wavelet) float64 {
	if len(w.W) == 0 {
		w.W = []float64{1}
	}
	at := h.Arrival(offset) / interval
	from, to := float64(t+w.Centre-len(w.W)), float64(t+w.Centre+1) // further away the wavelet does not reach
	if !(at > from && at < to) {
		return 0
	}
	before := math.Floor(at)
	sum := 0.0
	for k, share := range [2]float64{1 - (at - before), at - before} {
		if i := t + w.Centre - int(before) - k; i >= 0 && i < len(w.W) {
			sum += float64(h.Amplitude * share * w.W[i])
		}
	}
	return sum
}
