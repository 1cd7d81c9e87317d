package ops

import "math"

// ellipse is a part of a head: its middle, half axes and turn, in halves of the image
// and degrees, and how much it absorbs more than what is around it.
type ellipse struct{ x, y, a, b, turn, value float64 }

var head = []ellipse{
	{0, 0, 0.69, 0.92, 0, 1}, {0, -0.0184, 0.6624, 0.874, 0, -0.8},
	{0.22, 0, 0.11, 0.31, -18, -0.2}, {-0.22, 0, 0.16, 0.41, 18, -0.2},
	{0, 0.35, 0.21, 0.25, 0, 0.1}, {0, 0.1, 0.046, 0.046, 0, 0.1}, {0, -0.1, 0.046, 0.046, 0, 0.1},
	{-0.08, -0.605, 0.046, 0.023, 0, 0.1}, {0, -0.606, 0.023, 0.023, 0, 0.1}, {0.06, -0.605, 0.023, 0.046, 0, 0.1},
}

// SheppLogan returns a pixel of the head of Shepp and Logan, the usual example of
// tomography, in an image of n × n pixels: the mean of 4 × 4 points of the pixel.
//
// Source: Shepp and Logan, The Fourier reconstruction of a head section, 1974, with the
// contrast of Toft, The Radon transform, 1996.
func SheppLogan(n, row, col int) float64 {
	const fine = 4
	sum := 0.0
	for i := range fine * fine {
		y := 1 - 2*(float64(row)+(float64(i/fine)+0.5)/fine)/float64(n)
		x := 2*(float64(col)+(float64(i%fine)+0.5)/fine)/float64(n) - 1
		for _, e := range head {
			sin, cos := math.Sincos(e.turn * math.Pi / 180)
			u, v := (x-e.x)*cos+(y-e.y)*sin, (y-e.y)*cos-(x-e.x)*sin
			if u*u/(e.a*e.a)+v*v/(e.b*e.b) <= 1 {
				sum += e.value
			}
		}
	}
	return sum / (fine * fine)
}
