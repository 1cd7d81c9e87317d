package seismic

import "math"

// Rock is what a point of the built-in example is made of: velocities in m/s, density
// in kg/m³.
type Rock struct{ VP, VS, Density float64 }

// Impedance returns the acoustic impedance in 1000 kg/(m²·s).
func (r Rock) Impedance() float64 { return r.VP * r.Density / 1000 }

// rocks are the layers of the built-in example, from the top.
var rocks = []Rock{
	{2000, 900, 2050}, {2250, 1050, 2120}, {2150, 980, 2080}, {2500, 1250, 2200}, {2750, 1420, 2250},
	{2480, 1300, 2150}, {2900, 1550, 2320}, {3150, 1720, 2380}, {2950, 1650, 2290}, {3400, 1900, 2450},
}

// Earth returns the rock of the built-in example at a point of a volume of these
// dimensions: layers that dip and bend, cut by a fault, with a channel of sand in one
// of them.
func Earth(inline, crossline, sample int, dims []int) Rock {
	x := float64(crossline) / float64(max(dims[1]-1, 1))
	y := float64(inline) / float64(max(dims[0]-1, 1))
	z := float64(sample) / float64(dims[len(dims)-1]-1)
	z += 0.09*x - 0.05*y + 0.025*math.Sin(2*math.Pi*(x+0.4*y))
	if x > 0.62-0.15*y+0.12*z {
		z -= 0.06
	}
	layer := min(max(int(z*float64(len(rocks))-0.2), 0), len(rocks)-1)
	middle := 0.3 + 0.25*math.Sin(2.5*y) // of the channel
	if layer == 4 && math.Abs(x-middle) < 0.09 && z*float64(len(rocks))-0.2 < 4.7 {
		return Rock{2300, 1350, 2060}
	}
	return rocks[layer]
}
