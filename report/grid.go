package report

import "fmt"

// Grid is a 2-D array to be drawn: row 0 is at the top, column 0 on the left.
type Grid struct {
	Rows, Cols int
	At         func(row, col int) float64
}

// GridOf returns a grid of values stored row after row. It keeps v, and does
// not copy it.
func GridOf[T ~float32 | ~float64](rows, cols int, v []T) (Grid, error) {
	overflow := rows > 0 && rows*cols/rows != cols
	if rows < 0 || cols < 0 || overflow || rows*cols != len(v) {
		return Grid{}, fmt.Errorf("report: grid of %d rows and %d columns: there are %d values", rows, cols, len(v))
	}
	return Grid{rows, cols, func(r, c int) float64 { return float64(v[r*cols+c]) }}, nil
}

// T returns the transposed grid: what was across is downwards. A model stored
// as x by z is drawn with depth downwards so.
func (g Grid) T() Grid {
	return Grid{g.Cols, g.Rows, func(r, c int) float64 { return g.At(c, r) }}
}

// check refuses what cannot be drawn.
func (g Grid) check() error {
	if g.Rows <= 0 || g.Cols <= 0 {
		return fmt.Errorf("an array of %d rows and %d columns has nothing to draw", g.Rows, g.Cols)
	}
	if g.At == nil {
		return fmt.Errorf("the array of %d rows and %d columns has no values: At is nil", g.Rows, g.Cols)
	}
	return nil
}

// values returns all values, row after row: each is asked for once, since a
// caller's At may compute it.
func (g Grid) values() []float64 {
	v := make([]float64, g.Rows*g.Cols)
	for r := range g.Rows {
		row := v[r*g.Cols : (r+1)*g.Cols]
		for c := range row {
			row[c] = g.At(r, c)
		}
	}
	return v
}
