package lsm

import "github.com/golops/golops/ops/wave"

// part is the travel times to some rows of the first axis of a grid. They are
// computed for the whole grid, since waves on their way to the part may leave it.
type part struct {
	all    wave.TravelTimes
	lo, hi int
}

// slab returns the times to rows lo to hi of the first axis.
func slab(t wave.TravelTimes, lo, hi int) wave.TravelTimes { return part{t, lo, hi} }

// Grid implements wave.TravelTimes.
func (p part) Grid() wave.Grid {
	g := p.all.Grid()
	a := &g.X
	if g.Dims() == 3 {
		a = &g.Y
	}
	a.Origin, a.N = a.At(p.lo), p.hi-p.lo
	return g
}

// Fill implements wave.TravelTimes.
func (p part) Fill(dst []float64, at wave.Point) error {
	whole := make([]float64, p.all.Grid().Nodes())
	if err := p.all.Fill(whole, at); err != nil {
		return err
	}
	row := len(whole) / p.all.Grid().Shape()[0]
	copy(dst, whole[p.lo*row:p.hi*row])
	return nil
}
