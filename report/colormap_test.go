package report

import (
	"image/color"
	"io"
	"math"
	"strings"
	"testing"
)

// oklab is the reverse of knot.rgb.
func oklab(c color.RGBA) (l, a, b float64) {
	lin := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	r, g, bl := lin(c.R), lin(c.G), lin(c.B)
	p := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*bl)
	q := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*bl)
	s := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*bl)
	return 0.2104542553*p + 0.7936177850*q - 0.0040720468*s,
		1.9779984951*p - 2.4285922050*q + 0.4505937099*s,
		0.0259040371*p + 0.7827717662*q - 0.8086757660*s
}

// TestMapsAreHonest holds what makes a colour map show the data and not
// itself: lightness rises steadily, or up to the middle and falls after, and no
// step between neighbours is much larger than the others.
func TestMapsAreHonest(t *testing.T) {
	for _, m := range []ColorMap{Gray, Seismic, Viridis, Velocity} {
		t.Run(m.String(), func(t *testing.T) {
			table := m.table()
			twoSided := m == Seismic || m == Velocity
			total, largestStep := 0.0, 0.0
			for i := 1; i < len(table); i++ {
				l0, a0, b0 := oklab(table[i-1])
				l1, a1, b1 := oklab(table[i])
				rising := !twoSided || i <= 127
				if d := l1 - l0; i != 128 && (rising && d < -0.004 || !rising && d > 0.004) {
					t.Errorf("lightness goes from %.4f to %.4f at colour %d", l0, l1, i)
				}
				step := math.Sqrt((l1-l0)*(l1-l0) + (a1-a0)*(a1-a0) + (b1-b0)*(b1-b0))
				total, largestStep = total+step, max(largestStep, step)
			}
			if mean := total / 255; largestStep > 3*mean {
				t.Errorf("the largest step between colours is %.1f times the mean", largestStep/mean)
			}
			for i, c := range table {
				if c.A != 0xFF {
					t.Fatalf("colour %d is not opaque", i)
				}
				l0, a0, b0 := oklab(c)
				l1, a1, b1 := oklab(nanColor)
				if math.Abs(l1-l0)+math.Abs(a1-a0)+math.Abs(b1-b0) < 0.12 {
					t.Errorf("colour %d, %v, looks like that of NaN", i, c)
				}
			}
		})
	}
	if c := Seismic.table()[127]; min(c.R, c.G, c.B) < 0xF0 {
		t.Errorf("zero is %v in the seismic map, want white", c)
	}
	for i := range 128 {
		l0, _, _ := oklab(Seismic.table()[i])
		l1, _, _ := oklab(Seismic.table()[255-i])
		if math.Abs(l0-l1) > 0.03 {
			t.Errorf("seismic colours %d and %d have lightness %.3f and %.3f", i, 255-i, l0, l1)
		}
	}
}

func TestParseColorMap(t *testing.T) {
	for _, name := range ColorMapNames() {
		m, err := ParseColorMap(name)
		if err != nil || m.String() != name {
			t.Errorf("%q is %v, error %v", name, m, err)
		}
	}
	if _, err := ParseColorMap("jet"); err == nil || !strings.Contains(err.Error(), `"jet": have auto, gray, seismic, viridis, velocity`) {
		t.Errorf("error of an unknown map: %v", err)
	}
	if got := ColorMap(99).String(); got != "ColorMap(99)" {
		t.Errorf("an unknown map is %q", got)
	}
}

// TestMapSamples draws the maps, to be looked at with -artifacts.
func TestMapSamples(t *testing.T) {
	p := Panels{Scaling: Each, Columns: 2}
	for _, m := range []ColorMap{Gray, Seismic, Viridis, Velocity} {
		p.Pictures = append(p.Pictures, Picture{Title: m.String(), Map: m, Aspect: 0.4, Scale: Scale{Min: -1, Max: 1},
			Data: Grid{100, 256, func(r, c int) float64 {
				// A ripple that grows downwards shows where a map hides detail.
				return float64(c)/127.5 - 1 + 0.06*float64(r)/100*math.Sin(float64(c)*math.Pi/4)
			}}})
	}
	drawTo(t, "maps.png", func(w io.Writer) error { return p.PNG(w) })
}
