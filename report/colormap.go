package report

import (
	"fmt"
	"image/color"
	"strings"
	"sync"
)

// ColorMap is how values become colours.
type ColorMap int

const (
	// Auto is Seismic for values of both signs, and Viridis for others.
	Auto ColorMap = iota
	// Gray goes from black to white.
	Gray
	// Seismic goes from blue through white, which is zero, to red. It is for
	// values of both signs.
	Seismic
	// Viridis goes from dark blue through green to yellow, evenly darker to
	// lighter, so that it reads well in print and for colour-blind readers.
	Viridis
	// Velocity is a rainbow without the false edges of the usual one: its
	// lightness rises steadily to the middle and falls steadily after.
	Velocity
)

var mapNames = [...]string{Auto: "auto", Gray: "gray", Seismic: "seismic", Viridis: "viridis", Velocity: "velocity"}

// ColorMapNames returns the names that ParseColorMap knows.
func ColorMapNames() []string { return append([]string(nil), mapNames[:]...) }

// ParseColorMap returns the map of that name.
func ParseColorMap(name string) (ColorMap, error) {
	for m, n := range mapNames {
		if n == name {
			return ColorMap(m), nil
		}
	}
	return 0, fmt.Errorf("report: unknown colour map %q: have %s", name, strings.Join(mapNames[:], ", "))
}

// String returns the name of the map.
func (m ColorMap) String() string {
	if m.known() {
		return mapNames[m]
	}
	return fmt.Sprintf("ColorMap(%d)", int(m))
}

func (m ColorMap) known() bool { return m >= 0 && int(m) < len(mapNames) }

// nanColor is in none of the maps.
var nanColor = color.RGBA{0xF0, 0x3C, 0xD2, 0xFF}

// colorTable has as many colours as an 8-bit picture can tell apart.
type colorTable [256]color.RGBA

// tables are made on first use, all at once.
var tables = sync.OnceValue(func() *[len(mapNames)]colorTable {
	var all [len(mapNames)]colorTable
	for m, knots := range mapKnots {
		all[m] = interpolate(knots)
	}
	return &all
})

// table returns the colours of a map that is not Auto.
func (m ColorMap) table() *colorTable { return &tables()[m] }
