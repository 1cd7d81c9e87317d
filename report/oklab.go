package report

import (
	"image/color"
	"math"
)

// knot is a colour that a map passes through, in OKLCH: lightness 0 to 1,
// chroma, and hue in degrees. Equal steps there look equal, which is what
// makes a map honest.
type knot struct{ l, c, h float64 }

var mapKnots = map[ColorMap][]knot{
	Gray: {{0.12, 0, 0}, {1, 0, 0}},
	Seismic: {
		{0.30, 0.105, 262}, {0.50, 0.150, 260}, {0.72, 0.105, 256}, {0.975, 0.000, 250},
		{0.975, 0.000, 35}, {0.72, 0.125, 35}, {0.50, 0.165, 28}, {0.30, 0.105, 25},
	},
	Viridis: {
		{0.27, 0.100, 318}, {0.36, 0.115, 290}, {0.45, 0.100, 262}, {0.54, 0.085, 220},
		{0.63, 0.100, 180}, {0.72, 0.140, 155}, {0.82, 0.175, 128}, {0.91, 0.185, 108},
	},
	Velocity: {
		{0.40, 0.130, 282}, {0.50, 0.145, 264}, {0.61, 0.125, 240}, {0.71, 0.110, 205}, {0.80, 0.140, 160},
		{0.88, 0.165, 118}, {0.80, 0.155, 84}, {0.70, 0.160, 58}, {0.60, 0.170, 38}, {0.50, 0.165, 27}, {0.40, 0.135, 22},
	},
}

// interpolate places the knots at equal distances and goes straight from one
// to the next in lightness, chroma and hue. Two knots that differ only in hue
// and have no chroma are one place: where a map changes sides.
func interpolate(knots []knot) (t colorTable) {
	var at []float64
	n := 0.0
	for i, k := range knots {
		if i > 0 && (k.l != knots[i-1].l || k.c != knots[i-1].c) {
			n++
		}
		at = append(at, n)
	}
	for i := range t {
		x := n * float64(i) / float64(len(t)-1)
		j := 0
		for j+2 < len(knots) && x > at[j+1] {
			j++
		}
		if at[j+1] == at[j] {
			j++
		}
		f := (x - at[j]) / (at[j+1] - at[j])
		a, b := knots[j], knots[j+1]
		t[i] = knot{a.l + f*(b.l-a.l), a.c + f*(b.c-a.c), a.h + f*(b.h-a.h)}.rgb()
	}
	return t
}

// rgb converts to sRGB with the matrices of B. Ottosson, "A perceptual color
// space for image processing", 2020. What sRGB cannot show is cut off.
func (k knot) rgb() color.RGBA {
	sin, cos := math.Sincos(k.h * math.Pi / 180)
	a, b := k.c*cos, k.c*sin
	l := cube(k.l + 0.3963377774*a + 0.2158037573*b)
	m := cube(k.l - 0.1055613458*a - 0.0638541728*b)
	s := cube(k.l - 0.0894841775*a - 1.2914855480*b)
	return color.RGBA{
		gamma(+4.0767416621*l - 3.3077115913*m + 0.2309699292*s),
		gamma(-1.2684380046*l + 2.6097574011*m - 0.3413193965*s),
		gamma(-0.0041960863*l - 0.7034186147*m + 1.7076147010*s),
		0xFF,
	}
}

func cube(x float64) float64 { return x * x * x }

func gamma(x float64) uint8 {
	if x <= 0.0031308 {
		x *= 12.92
	} else {
		x = 1.055*math.Pow(x, 1/2.4) - 0.055
	}
	return uint8(math.Round(255 * min(max(x, 0), 1)))
}
