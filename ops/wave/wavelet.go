package wave

import (
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"slices"
)

// Wavelet is a source signal on a time axis that is symmetric about zero.
type Wavelet struct {
	W      []float64 // samples, an odd number
	T      []float64 // their times in seconds
	Centre int       // index of the largest absolute value
}

// Ricker returns the wavelet of central frequency f0 in Hz,
//
//	w(t) = (1 − 2(π f₀ t)²)·exp(−(π f₀ t)²),
//
// on the axis that t gives by its zero and positive times. As in PyLops, the last time
// is left out if t has an even number of them.
func Ricker(t []float64, f0 float64) (Wavelet, error) {
	if !(f0 > 0) || math.IsInf(f0, 1) {
		return Wavelet{}, fmt.Errorf("wave: ricker: frequency is %g, must be positive and finite", f0)
	}
	return onAxis("ricker", t, func(t float64) float64 {
		a := math.Pi * f0 * t
		return (1 - 2*(a*a)) * math.Exp(-(a * a))
	})
}

// RickerSamples returns 2·half+1 samples of the wavelet of Ricker, dt seconds apart.
func RickerSamples(half int, dt, f0 float64) ([]float64, error) {
	if half < 0 {
		return nil, fmt.Errorf("wave: ricker: %d samples on either side: must not be negative", half)
	}
	odd := half % 2 // one time more makes their number odd, as Ricker wants it
	t := make([]float64, half+1+odd)
	for i := range t {
		t[i] = float64(i) * dt
	}
	w, err := Ricker(t, f0)
	if err != nil {
		return nil, err
	}
	return w.W[odd : len(w.W)-odd], nil
}

// Ormsby returns the wavelet whose spectrum is a trapezoid with corners f₁ to f₄ in Hz,
// scaled to a largest value of 1. With s(f) = (πf)²·sinc²(πft) it is
//
//	w(t) = (s(f₄) − s(f₃))/(πf₄ − πf₃) − (s(f₂) − s(f₁))/(πf₂ − πf₁).
//
// The axis is that of Ricker.
func Ormsby(t []float64, f [4]float64) (Wavelet, error) {
	if !(f[0] >= 0 && f[0] < f[1] && f[1] < f[2] && f[2] < f[3]) || math.IsInf(f[3], 1) {
		return Wavelet{}, fmt.Errorf("wave: ormsby: frequencies are %g, must rise from 0 or more, and be finite", f)
	}
	w, err := onAxis("ormsby", t, func(t float64) float64 {
		s := func(f float64) float64 {
			a := math.Pi * f * t
			sinc := 1.0
			if a != 0 {
				sinc = math.Sin(a) / a
			}
			return sinc * sinc * (math.Pi * f) * (math.Pi * f)
		}
		high, low := math.Pi*f[3]-math.Pi*f[2], math.Pi*f[1]-math.Pi*f[0]
		return s(f[3])/high - s(f[2])/high - s(f[1])/low + s(f[0])/low
	})
	if err != nil {
		return Wavelet{}, err
	}
	largest := slices.Max(w.W)
	for i := range w.W {
		w.W[i] /= largest
	}
	return w, nil
}

// Gaussian returns w[i] = exp(−n²/(2·std²)), where n counts samples from the centre and
// std is in samples. The axis is that of Ricker, and its times have no influence.
func Gaussian(t []float64, std float64) (Wavelet, error) {
	if !(std > 0) || math.IsInf(std, 1) {
		return Wavelet{}, fmt.Errorf("wave: gaussian: standard deviation is %g, must be positive and finite", std)
	}
	w, err := onAxis("gaussian", t, func(float64) float64 { return 0 })
	for i := range w.W {
		n := float64(i - len(w.W)/2)
		w.W[i] = math.Exp(-n * n / (2 * std * std))
	}
	w.Centre = len(w.W) / 2
	return w, err
}

// onAxis samples f on the axis whose zero and positive times are t.
func onAxis(name string, t []float64, f func(t float64) float64) (Wavelet, error) {
	if len(t) == 0 {
		return Wavelet{}, fmt.Errorf("wave: %s: no times given", name)
	}
	for i, x := range t {
		if !isFinite(x) {
			return Wavelet{}, fmt.Errorf("wave: %s: time %d is %g, must be finite", name, i, x)
		}
	}
	if len(t)%2 == 0 {
		t = t[:len(t)-1]
	}
	n := 2*len(t) - 1
	w := Wavelet{W: make([]float64, n), T: make([]float64, n)}
	for i, x := range t {
		w.T[len(t)-1-i], w.T[len(t)-1+i] = -x, x
	}
	for i, x := range w.T {
		w.W[i] = f(x)
		if math.Abs(w.W[i]) > math.Abs(w.W[w.Centre]) {
			w.Centre = i
		}
	}
	return w, nil
}

// FilterWavelet returns w with the factor that the wave equation puts on the spectrum of
// Kirchhoff data, PyLops' wavfilter: √(jω) in 2-D, −jω in 3-D. dt is the time between
// samples. The spectrum has the length of w, so a wavelet should fade out at both ends.
// The work grows with the square of the length.
func FilterWavelet(w []float64, dt float64, dims int) ([]float64, error) {
	if !(dt > 0) || math.IsInf(dt, 1) {
		return nil, fmt.Errorf("wave: filter wavelet: sampling interval is %g, must be positive and finite", dt)
	}
	if dims != 2 && dims != 3 {
		return nil, fmt.Errorf("wave: filter wavelet: %d dimensions: have 2 and 3", dims)
	}
	n := len(w)
	if n == 0 {
		return nil, errors.New("wave: filter wavelet: no samples given")
	}
	turn := make([]complex128, n) // exp(−2πj·i/n)
	for i := range turn {
		turn[i] = cmplx.Rect(1, -2*math.Pi*float64(i)/float64(n))
	}
	out := make([]float64, n)
	for k := 1; k <= n/2; k++ { // the factor is 0 at frequency 0
		var c complex128
		for i, x := range w {
			c += complex(x, 0) * turn[k*i%n]
		}
		jw := complex(0, 2*math.Pi*float64(k)/(float64(n)*dt))
		if dims == 2 {
			c *= cmplx.Sqrt(jw)
		} else {
			c *= -jw
		}
		c *= complex(2/float64(n), 0) // for the negative frequency too
		if 2*k == n {
			c /= 2 // which is the same one here
		}
		for i := range out {
			out[i] += real(c * cmplx.Conj(turn[k*i%n]))
		}
	}
	return out, nil
}
