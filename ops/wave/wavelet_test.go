package wave

import (
	"math"
	"strings"
	"testing"
)

// halfAxis has 6 times, of which wavelets leave out the last.
var halfAxis = []float64{0, 0.004, 0.008, 0.012, 0.016, 0.020}

// Samples of the wavelet of Ricker are symmetric, those of the formula, and as many as were
// asked for.
func TestRickerSamples(t *testing.T) {
	for half := range 6 {
		w, err := RickerSamples(half, 0.004, 20)
		if err != nil || len(w) != 2*half+1 {
			t.Fatalf("half %d: %d samples: %v", half, len(w), err)
		}
		for i, v := range w {
			a := math.Pi * 20 * 0.004 * float64(i-half)
			if want := (1 - 2*a*a) * math.Exp(-a*a); math.Abs(v-want) > 1e-15 {
				t.Errorf("half %d: sample %d is %g, want %g", half, i, v, want)
			}
		}
	}
	for _, c := range []struct {
		half  int
		dt, f float64
	}{{-1, 0.004, 20}, {3, math.Inf(1), 20}, {3, 0.004, 0}} {
		if _, err := RickerSamples(c.half, c.dt, c.f); err == nil {
			t.Errorf("%+v gives no error", c)
		}
	}
}

// TestWaveletsPyLops compares with pylops.utils.wavelets of PyLops 2.8.0.
func TestWaveletsPyLops(t *testing.T) {
	axis := []float64{-0.016, -0.012, -0.008, -0.004, 0, 0.004, 0.008, 0.012, 0.016}
	for _, tt := range []struct {
		name string
		make func() (Wavelet, error)
		half []float64 // from the centre on
	}{
		{"ricker", func() (Wavelet, error) { return Ricker(halfAxis, 20) },
			[]float64{1, 0.8201901389055811, 0.3842301203910984, -0.07758190622617013, -0.371734243550779}},
		{"ormsby", func() (Wavelet, error) { return Ormsby(halfAxis, [4]float64{5, 10, 45, 50}) },
			[]float64{1, 0.7379883321519275, 0.15696179780506178, -0.31695766310153667, -0.414030708902}},
		{"gaussian", func() (Wavelet, error) { return Gaussian(halfAxis, 2) },
			[]float64{1, 0.8824969025845955, 0.6065306597126334, 0.32465246735834974, 0.1353352832366127}},
	} {
		w, err := tt.make()
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if w.Centre != 4 || !(maxDiff(w.T, axis) <= 0) {
			t.Errorf("%s: centre %d, times %v, want 4, %v", tt.name, w.Centre, w.T, axis)
		}
		if !(maxDiff(w.W[4:], tt.half) <= 1e-15) {
			t.Errorf("%s: %v, want %v from the centre on", tt.name, w.W, tt.half)
		}
		for i, x := range w.W {
			if x != w.W[8-i] {
				t.Errorf("%s: %v is not symmetric", tt.name, w.W)
			}
		}
	}
}

func TestWaveletOddAxis(t *testing.T) {
	for n, want := range map[int]int{1: 1, 2: 1, 3: 5, 5: 9} {
		if w, err := Ricker(halfAxis[:n], 20); err != nil || len(w.W) != want || len(w.T) != want || w.Centre != want/2 {
			t.Errorf("%d times: %+v, %v, want %d samples", n, w, err, want)
		}
	}
}

// TestFilterWaveletPyLops compares with the wav of Kirchhoff(..., wavfilter=True).
func TestFilterWaveletPyLops(t *testing.T) {
	w, err := Ricker(halfAxis, 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		dims int
		in   []float64
		want []float64
	}{
		{2, w.W, []float64{-3.8723661792670776, 2.159133956339777, 7.428347310119864, 9.527521968022567,
			6.80655975739297, 0.6047865241846845, -5.607183912856456, -8.834632111442193, -8.212167312494135}},
		{3, w.W[:8], []float64{0, -116.07670521341944, -114.6238119101913, -88.54958258502651,
			0, 88.54958258502657, 114.6238119101913, 116.07670521341939}},
	} {
		got, err := FilterWavelet(tt.in, 0.004, tt.dims)
		if err != nil || !(maxDiff(got, tt.want) <= 1e-12) {
			t.Errorf("%d-D, %d samples: %v, %v, want %v", tt.dims, len(tt.in), got, err, tt.want)
		}
	}
}

func TestWaveletErrors(t *testing.T) {
	for _, tt := range []struct {
		make func() error
		want string
	}{
		{func() error { _, err := Ricker(nil, 20); return err }, "ricker: no times"},
		{func() error { _, err := Ricker(halfAxis, 0); return err }, "frequency is 0"},
		{func() error { _, err := Ricker(halfAxis, math.NaN()); return err }, "frequency is NaN"},
		{func() error { _, err := Ricker([]float64{0, math.Inf(1)}, 20); return err }, "time 1 is +Inf"},
		{func() error { _, err := Ormsby(nil, [4]float64{1, 2, 3, 4}); return err }, "ormsby: no times"},
		{func() error { _, err := Ormsby(halfAxis, [4]float64{5, 5, 6, 7}); return err }, "frequencies are [5 5 6 7]"},
		{func() error { _, err := Gaussian(nil, 2); return err }, "gaussian: no times"},
		{func() error { _, err := Gaussian(halfAxis, -2); return err }, "deviation is -2"},
		{func() error { _, err := FilterWavelet(nil, 1, 2); return err }, "no samples"},
		{func() error { _, err := FilterWavelet(halfAxis, 0, 2); return err }, "interval is 0"},
		{func() error { _, err := FilterWavelet(halfAxis, 1, 4); return err }, "4 dimensions"},
	} {
		err := tt.make()
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "wave: ") {
			t.Errorf("error %v, want one with %q", err, tt.want)
		}
	}
}
