package report

import (
	"fmt"
	"image/color"
	"math"
)

// Marker is the shape of a point.
type Marker int

const (
	// Star is for sources.
	Star Marker = iota
	// Triangle stands on its tip, which is the point, and is for receivers: it
	// leaves a source at the same place visible.
	Triangle
	// Dot is for anything else.
	Dot
)

// Points are drawn on top of a picture, in its physical coordinates.
type Points struct {
	Name   string // in the legend, such as "sources"; empty means no entry
	X, Y   []float64
	Marker Marker
	Color  color.Color // nil means red stars, blue triangles and black dots
}

func (p Points) check() error {
	if len(p.X) != len(p.Y) {
		return fmt.Errorf("points %q have %d values of X and %d of Y", p.Name, len(p.X), len(p.Y))
	}
	if p.Marker < Star || p.Marker > Dot {
		return fmt.Errorf("points %q have the unknown marker %d", p.Name, int(p.Marker))
	}
	return nil
}

func (p Points) color() color.Color {
	switch {
	case p.Color != nil:
		return p.Color
	case p.Marker == Star:
		return color.NRGBA{0xE0, 0x2B, 0x20, 0xFF}
	case p.Marker == Triangle:
		return color.NRGBA{0x14, 0x5C, 0xC8, 0xFF}
	}
	return color.NRGBA{0x10, 0x10, 0x10, 0xFF}
}

// inside returns the points within the picture, in pixels of it.
func (p Points) inside(x, y span, w, h float64) (xy []float64) {
	const slack = 1e-6 // a point on the edge is within, whatever rounding says
	for i := range p.X {
		fx, fy := (p.X[i]-x.lo)/(x.hi-x.lo), (p.Y[i]-y.lo)/(y.hi-y.lo)
		if fx >= -slack && fx <= 1+slack && fy >= -slack && fy <= 1+slack {
			xy = append(xy, fx*w, fy*h)
		}
	}
	return xy
}

// legend is the name, and how many points are not in the picture: to leave
// them out in silence would be a lie.
func (p Points) legend(shown int) string {
	if out := len(p.X) - shown; out > 0 {
		return fmt.Sprintf("%s (%d of %d outside)", p.Name, out, len(p.X))
	}
	return p.Name
}

// Sizes of markers, in pixels from the centre.
const (
	largestMarker  = 13.0
	smallestMarker = 5.0
)

// radius makes markers smaller where they stand close.
func radius(xy []float64) float64 {
	n := len(xy) / 2
	if n < 2 {
		return largestMarker
	}
	lo, hi := span{math.Inf(1), math.Inf(-1)}, span{math.Inf(1), math.Inf(-1)}
	for i := 0; i < len(xy); i += 2 {
		lo.lo, lo.hi = min(lo.lo, xy[i]), max(lo.hi, xy[i])
		hi.lo, hi.hi = min(hi.lo, xy[i+1]), max(hi.hi, xy[i+1])
	}
	apart := max(lo.hi-lo.lo, hi.hi-hi.lo) / float64(n-1)
	return min(max(apart*0.55, smallestMarker), largestMarker)
}

// marker draws one point with a white rim, which sets it off from any colour.
func (c *canvas) marker(m Marker, col color.Color, x, y, r float64) {
	for _, layer := range []struct {
		r   float64
		col color.Color
	}{{r + 2.5, color.White}, {r, col}} {
		switch m {
		case Star:
			c.polygon(layer.col, star(x, y, layer.r)...)
		case Triangle:
			// The corners of a rim lie further out than its sides.
			d := (layer.r - r) * 1.9
			c.polygon(layer.col, x, y+d, x-r*0.85-d*0.9, y-r*1.6-d*0.55, x+r*0.85+d*0.9, y-r*1.6-d*0.55)
		default:
			c.polygon(layer.col, circle(x, y, layer.r*0.6)...)
		}
	}
}

// star has five points, the first upwards.
func star(x, y, r float64) (xy []float64) {
	for i := range 10 {
		sin, cos := math.Sincos(float64(i) * math.Pi / 5)
		f := r
		if i%2 == 1 {
			f = r * 0.45
		}
		xy = append(xy, x+f*sin, y-f*cos)
	}
	return xy
}

func circle(x, y, r float64) (xy []float64) {
	for i := range 24 {
		sin, cos := math.Sincos(float64(i) * math.Pi / 12)
		xy = append(xy, x+r*sin, y-r*cos)
	}
	return xy
}
