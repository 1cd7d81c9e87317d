package wave_test

import (
	"math"
	"testing"

	"github.com/golops/golops/ops/wave"
)

// A trace is the wavelet, put at the arrival of the wave: numbers between two samples are
// shared by both, and what is outside of the trace is left out.
func TestHyperbola(t *testing.T) {
	w, err := wave.Ricker([]float64{0, 0.004, 0.008, 0.012, 0.016}, 30)
	if err != nil {
		t.Fatal(err)
	}
	const n, interval = 60, 0.004
	for _, w := range []wave.Wavelet{{}, w, {W: []float64{1, 2, 3, 4}, Centre: 1}} {
		for _, h := range []wave.Hyperbola{{0.1, 1500, 2}, {0, 800, -1}, {0.23, 2000, 1}, {0.234, 3000, 1}} {
			for _, offset := range []float64{0, 30, -110, 1e300, math.Inf(1)} {
				want := make([]float64, n)
				at := h.Arrival(offset) / interval
				if at < 2*n {
					samples := w.W
					if samples == nil {
						samples = []float64{1}
					}
					for k, x := range samples {
						for side, share := range []float64{1 - (at - math.Floor(at)), at - math.Floor(at)} {
							if i := int(at) + side + k - w.Centre; i >= 0 && i < n {
								want[i] += h.Amplitude * share * x
							}
						}
					}
				}
				for i := range want {
					if got := h.Sample(i, interval, offset, w); math.Abs(got-want[i]) > 1e-13 {
						t.Fatalf("%+v at %g: sample %d is %g, want %g", h, offset, i, got, want[i])
					}
				}
			}
		}
	}
	if got := (wave.Hyperbola{Time: 0.3, Velocity: 1000}).Arrival(-400); math.Abs(got-0.5) > 1e-15 {
		t.Errorf("arrival %g, want 0.5", got)
	}
}
