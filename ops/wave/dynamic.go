package wave

import (
	"errors"
	"fmt"
)

// Dynamic is the weights of PyLops' dynamic mode: geometrical spreading, the
// obliquity of the reflection, and limits to angles and offsets. Goroutines may
// share it.
type Dynamic struct {
	grid            Grid
	scale           []float64 // 2/v at each node
	floor           float64
	angle, aperture Taper
}

var _ Weights = (*Dynamic)(nil)

// NewDynamic returns the weights for the whole grid and the whole survey: the
// velocities at all nodes, all sources and all receivers, whichever way the work is
// spread over ranks. angle is in radians. The zero Taper means no limit.
func NewDynamic(g Grid, velocity []float64, sources, receivers []Point, angle, aperture Taper) (*Dynamic, error) {
	if err := g.check("dynamic weights", len(velocity)); err != nil {
		return nil, err
	}
	if err := errors.Join(angle.Validate(), aperture.Validate()); err != nil {
		return nil, fmt.Errorf("wave: dynamic weights: %w", err)
	}
	d := &Dynamic{
		grid: g, scale: make([]float64, len(velocity)), floor: SpreadingFloor(g, sources, receivers), angle: angle, aperture: aperture,
	}
	for i, v := range velocity {
		if err := checkVelocity(v); err != nil {
			return nil, fmt.Errorf("wave: dynamic weights: node %d: %w", i, err)
		}
		d.scale[i] = 2 / v
	}
	return d, nil
}

// Source implements Weights. It has the factor 2/v too.
func (d *Dynamic) Source(s *[2][]float64, p Point, times []float64) error {
	if err := d.Receiver(s, p, times); err != nil {
		return err
	}
	for k := range s {
		for i, w := range d.scale {
			s[k][i] *= w
		}
	}
	return nil
}

// Receiver implements Weights.
func (d *Dynamic) Receiver(r *[2][]float64, p Point, times []float64) error {
	if err := Amplitudes(r[0], d.grid, p, d.floor); err != nil {
		return err
	}
	if err := Angles(r[1], d.grid, times); err != nil {
		return err
	}
	return PairFactors(r[0], r[1], r[0], r[1], d.angle)
}

// Aperture implements Weights.
func (d *Dynamic) Aperture(s, r Point) ([]float64, error) {
	if d.aperture == (Taper{}) {
		return nil, nil
	}
	w := make([]float64, d.grid.Z.N)
	return w, ApertureWeights(w, d.grid, s, r, d.aperture)
}
