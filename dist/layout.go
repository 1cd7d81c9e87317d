package dist

import (
	"errors"
	"fmt"
	"slices"

	"github.com/golops/golops/shape"
)

// Whole stands for an array axis that no grid axis splits: along that axis of
// the grid, ranks hold the same elements.
const Whole = -1

// Replication says how the copies of a replicated array are kept equal.
type Replication uint8

// The ways to hold an array.
const (
	Scattered Replication = iota // split over the ranks
	Checked                      // whole on every rank; what rank 0 writes wins
	Unchecked                    // whole on every rank; the program keeps copies equal
)

// Layout says how an array lies on the ranks. The zero Layout splits axis 0
// over all ranks, the first ones holding one row more where it does not divide.
type Layout struct {
	Grid      []int       // extents of the Cartesian grid of ranks, the last running fastest; nil means one axis of all ranks
	Axes      []int       // the array axis that each grid axis splits, or Whole; nil means 0, 1, ...
	Counts    [][]int     // rows at each coordinate of each grid axis; nil, or nil for a grid axis, means balanced
	Replicate Replication // Checked or Unchecked: every rank holds all, and Grid, Axes, Counts must be nil
	Mask      []int       // a color per rank: reductions stay among ranks of one color; nil means all
	Debug     bool        // Checked arrays: report copies that differ instead of overwriting them
}

// Split returns the layout that splits one axis over all ranks.
func Split(axis int) Layout { return Layout{Axes: []int{axis}} }

// Replicated is the layout of arrays that every rank holds whole.
var Replicated = Layout{Replicate: Unchecked}

// resolve fills in what l leaves open for an array of this shape on n ranks,
// and reports everything that is wrong.
func (l Layout) resolve(s shape.Shape, n int) (Layout, error) {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if l.Mask != nil && len(l.Mask) != n {
		bad("Mask has %d colors for %d ranks", len(l.Mask), n)
	}
	if i := slices.IndexFunc(l.Mask, func(c int) bool { return c < 0 }); i >= 0 {
		bad("Mask: color %d of rank %d is negative", l.Mask[i], i)
	}
	if l.Replicate > Unchecked {
		bad("Replicate is %d: have Scattered, Checked, Unchecked", l.Replicate)
	}
	if l.Replicate != Scattered {
		if l.Grid != nil || l.Axes != nil || l.Counts != nil {
			bad("a replicated array has no Grid, Axes or Counts")
		}
		l.Grid, l.Axes, l.Counts = []int{n}, []int{Whole}, nil
		return l, errors.Join(errs...)
	}
	if l.Grid == nil {
		l.Grid = []int{n}
	}
	if l.Axes == nil {
		for g := range l.Grid {
			l.Axes = append(l.Axes, g)
		}
	}
	if len(l.Axes) != len(l.Grid) {
		bad("Axes has %d entries for a grid of %d axes", len(l.Axes), len(l.Grid))
		return l, errors.Join(errs...)
	}
	l.Axes = slices.Clone(l.Axes)
	size := 1
	used := map[int]bool{}
	for g, e := range l.Grid {
		if e < 1 {
			bad("Grid %v: axis %d is %d, must be at least 1", l.Grid, g, e)
		}
		size *= e
		if l.Axes[g] == Whole {
			continue
		}
		if l.Axes[g] < 0 || l.Axes[g] >= s.Rank() {
			bad("Axes %v: array axis %d of shape %v does not exist", l.Axes, l.Axes[g], s)
		} else if used[l.Axes[g]] {
			bad("Axes %v: array axis %d is split twice", l.Axes, l.Axes[g])
		}
		used[l.Axes[g]] = true
	}
	if size != n {
		bad("Grid %v has room for %d ranks, the group has %d", l.Grid, size, n)
	}
	if l.Counts != nil && len(l.Counts) != len(l.Grid) {
		bad("Counts has %d entries for a grid of %d axes", len(l.Counts), len(l.Grid))
	}
	if len(errs) > 0 {
		return l, errors.Join(errs...)
	}
	counts := make([][]int, len(l.Grid))
	for g, e := range l.Grid {
		a := l.Axes[g]
		switch {
		case a == Whole && l.Counts != nil && l.Counts[g] != nil:
			bad("Counts of grid axis %d, which splits no axis", g)
		case a == Whole:
		case l.Counts == nil || l.Counts[g] == nil:
			counts[g] = Balanced(s.Dim(a), e)
		default:
			counts[g] = slices.Clone(l.Counts[g])
			if err := checkCounts(counts[g], e, s.Dim(a)); err != nil {
				bad("Counts of array axis %d: %w", a, err)
			}
		}
	}
	l.Counts = counts
	return l, errors.Join(errs...)
}

func checkCounts(counts []int, parts, rows int) error {
	if len(counts) != parts {
		return fmt.Errorf("%v has %d entries for %d ranks", counts, len(counts), parts)
	}
	sum := 0
	for i, c := range counts {
		if c < 0 {
			return fmt.Errorf("%v: entry %d is negative", counts, i)
		}
		sum += c
	}
	if sum != rows {
		return fmt.Errorf("%v adds up to %d, the axis has %d rows", counts, sum, rows)
	}
	return nil
}

// Balanced splits rows over parts as evenly as it goes, the first ones holding
// one more.
func Balanced(rows, parts int) []int {
	c := make([]int, parts)
	for i := range c {
		c[i] = rows / parts
		if i < rows%parts {
			c[i]++
		}
	}
	return c
}
