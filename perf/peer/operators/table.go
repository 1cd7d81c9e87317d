package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const header = `| operator | peer | shape | type | ranks | golops µs | peer µs | ratio | golops GB/s |
|---|---|---|---|---|---|---|---|---|
`

const notes = `
GB/s counts what must be moved: argument, result and matrix once each. golops writes into memory that is there, the
peers make a new array for each result, as their users do. The adjoint of Halo does more in golops: it adds ghosts to
the cells they are copies of; that of PyLops-MPI drops them.
`

// row holds the times of a case, in seconds, of golops and of the peer, for
// forward and adjoint, and what to make of those of all rounds.
type row struct {
	c     Case
	bytes []int
	times [2][2][]float64
	pick  func([]float64) float64
}

// add notes one measurement of a side.
func (r *row) add(side int, seconds []float64) {
	for i, s := range seconds {
		r.times[side][i] = append(r.times[side][i], s)
	}
}

// ratios are the times of the peer over those of golops.
func (r row) ratios() []float64 {
	var out []float64
	for i := range r.bytes {
		out = append(out, r.pick(r.times[1][i])/r.pick(r.times[0][i]))
	}
	return out
}

func (r row) worst() float64 { return slices.Min(r.ratios()) }

// String returns a line of the table.
func (r row) String() string {
	var cells [4][]string
	for i, ratio := range r.ratios() {
		g, p := r.pick(r.times[0][i]), r.pick(r.times[1][i])
		for k, v := range []float64{g * 1e6, p * 1e6, ratio, float64(r.bytes[i]) / g / 1e9} {
			cells[k] = append(cells[k], figures(v))
		}
	}
	line := []string{r.c.name(), r.c.Peer, r.c.shape(), r.c.Type, fmt.Sprint(r.c.Ranks)}
	for _, c := range cells {
		line = append(line, strings.Join(c, " / "))
	}
	return "| " + strings.Join(line, " | ") + " |\n"
}

// figures writes three figures, or all before the point.
func figures(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// byRatio puts the slowest first.
func byRatio(rows []row) []row {
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.worst(), b.worst()) })
	return rows
}

func median(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return x[len(x)/2]
}
