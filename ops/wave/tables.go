package wave

import (
	"fmt"
	"math"
	"slices"
)

// TimeTables are travel times that were computed elsewhere, such as by a ray tracer:
// the times to all nodes for each source and receiver.
type TimeTables struct {
	grid  Grid
	times map[Point][]float64 // of all nodes
}

var _ RowTimes = (*TimeTables)(nil)

// NewTimeTables returns tables without times. Add takes those of sources and
// receivers.
func NewTimeTables(g Grid) (*TimeTables, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	return &TimeTables{g, map[Point][]float64{}}, nil
}

// Add sets the times of points, in seconds: for each point those of all nodes, in the
// order of the grid. It keeps the slice. A NaN or infinite time means that no wave
// arrives.
func (t *TimeTables) Add(points []Point, times []float64) error {
	n := t.grid.Nodes()
	if len(times) != n*len(points) {
		return fmt.Errorf("wave: time tables: %d times for %d points × %d nodes", len(times), len(points), n)
	}
	for i, v := range times {
		if v < 0 {
			return fmt.Errorf("wave: time tables: the time is %g at node %d of point %d: must not be negative", v, i%n, i/n)
		}
	}
	for i, p := range points {
		row := times[i*n : (i+1)*n]
		if old, ok := t.times[p]; ok && !slices.EqualFunc(old, row, func(a, b float64) bool { return a == b || a != a && b != b }) {
			return fmt.Errorf("wave: time tables: point %d at %v has times already, and others: the way there and back takes the same time", i, p)
		}
		t.times[p] = row
	}
	return nil
}

// Grid returns the grid of the nodes.
func (t *TimeTables) Grid() Grid { return t.grid }

// Fill sets dst to the times of a point that was added. Where no wave arrives, the
// time is later than any trace ends.
func (t *TimeTables) Fill(dst []float64, p Point) error {
	return t.FillRows(dst, p, 0, t.grid.rows())
}

// FillRows implements RowTimes.
func (t *TimeTables) FillRows(dst []float64, p Point, lo, hi int) error {
	if err := t.grid.checkRows("time tables", len(dst), lo, hi); err != nil {
		return err
	}
	times, ok := t.times[p]
	if !ok {
		return fmt.Errorf("wave: time tables: no times for the point %v", p)
	}
	for i, v := range times[lo*t.grid.rowNodes() : hi*t.grid.rowNodes()] {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			v = never
		}
		dst[i] = v
	}
	return nil
}

// never is a time in seconds that no trace reaches, small enough that two of
// them, in samples, are still an int.
const never = 1e6
