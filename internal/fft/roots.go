package fft

import "math"

// π/4 in two parts.
const (
	quarterPi    = math.Pi / 4
	quarterPiLow = 3.061616997868383e-17
)

// root returns exp(-2πi·k/n), each part rounded from an error far below half a unit in the
// last place. The angle is reduced to an eighth of a circle in integers.
func root(k, n int) (re, im float64) {
	a := 8 * (k % n) // the angle is a/n · π/4
	sign, back, swap := -1.0, false, false
	if a > 4*n {
		a, sign = 8*n-a, 1
	}
	if a > 2*n {
		a, back = 4*n-a, true
	}
	if a > n {
		a, swap = 2*n-a, true
	}
	q := float64(a) / float64(n)
	rest := math.FMA(-q, float64(n), float64(a)) / float64(n)
	x := q * quarterPi
	low := math.FMA(q, quarterPi, -x) + q*quarterPiLow + rest*quarterPi
	s, c := math.Sincos(x)
	s, c = s+low*c, c-low*s
	if swap {
		s, c = c, s
	}
	if back {
		c = -c
	}
	return c, sign * s
}

// roots returns exp(-2πi·k/n) for k = 0 to count-1.
func roots[F Float](count, n int) []F {
	w := make([]F, 0, 2*count)
	for k := range count {
		re, im := root(k, n)
		w = append(w, F(re), F(im))
	}
	return w
}
