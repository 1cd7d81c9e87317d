package dist

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/golops/golops/shape"
)

// NoAxis stands in Layout.Axes for no array axis: along that axis of the grid,
// ranks hold the same elements. It is not -1, which is the last axis.
const NoAxis = math.MinInt

// Replication says how the copies of a replicated array are kept equal.
type Replication uint8

// The ways to hold an array.
const (
	Scattered Replication = iota // split over the ranks
	Checked                      // whole on every rank; what rank 0 holds wins at each Sync
	Unchecked                    // whole on every rank; the program keeps copies equal
)

// Layout says how an array lies on the ranks. The zero Layout splits axis 0
// over all ranks, the first ones holding one row more where it does not divide.
type Layout struct {
	Grid      []int       // extents of the Cartesian grid of ranks, the last running fastest; nil means one axis of all ranks
	Axes      []int       // the array axis that each grid axis splits, negative from the end, or NoAxis; nil means 0, 1, ...
	Counts    [][]int     // rows at each coordinate of each grid axis; nil, or nil for a grid axis, means balanced
	Replicate Replication // Checked or Unchecked: every rank holds all, and Grid, Axes, Counts must be nil
	Mask      []int       // a color per rank: reductions stay among ranks of one color; nil means all
	Way       Way         // how ghost cells and rows of other ranks travel; OneSided needs a communicator with windows
	Debug     bool        // Checked arrays: report copies that differ instead of overwriting them
}

// Split returns the layout that splits one axis, negative from the end, over
// all ranks.
func Split(axis int) Layout { return Layout{Axes: []int{axis}} }

// Replicated is the layout of arrays that every rank holds whole.
var Replicated = Layout{Replicate: Unchecked}

// clone returns a copy that shares no memory with l.
func (l Layout) clone() Layout {
	l.Grid, l.Axes, l.Mask = slices.Clone(l.Grid), slices.Clone(l.Axes), slices.Clone(l.Mask)
	l.Counts = slices.Clone(l.Counts)
	for g, c := range l.Counts {
		l.Counts[g] = slices.Clone(c)
	}
	return l
}

// resolve fills in what l leaves open for an array of this shape on n ranks,
// and reports everything that is wrong. The result shares no memory with l.
func (l Layout) resolve(s shape.Shape, n int) (Layout, error) {
	l = l.clone()
	errs := l.checkMask(n)
	if l.Replicate > Unchecked {
		errs = append(errs, fmt.Errorf("replicate is %d: have Scattered, Checked, Unchecked", l.Replicate))
	}
	if l.Way > OneSided {
		errs = append(errs, fmt.Errorf("way is %d: have Messages, OneSided", l.Way))
	}
	if l.Replicate != Scattered {
		open := l.Grid == nil && l.Axes == nil && l.Counts == nil
		resolved := slices.Equal(l.Grid, []int{n}) && slices.Equal(l.Axes, []int{NoAxis}) && len(l.Counts) == 1 && l.Counts[0] == nil
		if !open && !resolved {
			errs = append(errs, fmt.Errorf("a replicated array has no grid, axes or counts: here are grid %v, axes %s, counts %v", l.Grid, axesText(l.Axes), l.Counts))
		}
		l.Grid, l.Axes, l.Counts = []int{n}, []int{NoAxis}, [][]int{nil}
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
	errs = append(errs, l.checkGrid(n)...)
	if len(l.Axes) != len(l.Grid) {
		errs = append(errs, fmt.Errorf("axes %s has %d entries for a grid of %d axes", axesText(l.Axes), len(l.Axes), len(l.Grid)))
	} else {
		errs = append(errs, l.resolveAxes(s)...)
	}
	if l.Counts == nil {
		l.Counts = make([][]int, len(l.Grid))
	} else if len(l.Counts) != len(l.Grid) {
		errs = append(errs, fmt.Errorf("counts %v has %d entries for a grid of %d axes", l.Counts, len(l.Counts), len(l.Grid)))
	}
	if len(errs) == 0 {
		errs = l.resolveCounts(s)
	}
	return l, errors.Join(errs...)
}

func (l *Layout) checkMask(n int) (errs []error) {
	if l.Mask != nil && len(l.Mask) != n {
		errs = append(errs, fmt.Errorf("mask %v has %d colors for %d ranks", l.Mask, len(l.Mask), n))
	}
	if i := slices.IndexFunc(l.Mask, func(c int) bool { return c < 0 }); i >= 0 {
		errs = append(errs, fmt.Errorf("mask %v: color %d of rank %d is negative", l.Mask, l.Mask[i], i))
	}
	return errs
}

func (l *Layout) checkGrid(n int) (errs []error) {
	size, fits := 1, true
	for g, e := range l.Grid {
		if e < 1 {
			return []error{fmt.Errorf("grid %v: axis %d is %d, must be at least 1", l.Grid, g, e)}
		}
		fits = fits && e <= n/size // size divides no further than n, and cannot overflow
		if fits {
			size *= e
		}
	}
	if !fits || size != n {
		errs = append(errs, fmt.Errorf("grid %v does not fit the %d ranks of the group: the product of its extents must be %d", l.Grid, n, n))
	}
	return errs
}

// resolveAxes counts negative axes from the end.
func (l *Layout) resolveAxes(s shape.Shape) (errs []error) {
	text := axesText(l.Axes)
	for g, a := range l.Axes {
		if a == NoAxis {
			continue
		}
		a, err := s.Axis(a)
		if err != nil {
			errs = append(errs, fmt.Errorf("axes %s: %w", text, err))
			continue
		}
		if slices.Contains(l.Axes[:g], a) {
			errs = append(errs, fmt.Errorf("axes %s: array axis %d is split twice", text, a))
		}
		l.Axes[g] = a
	}
	return errs
}

func (l *Layout) resolveCounts(s shape.Shape) (errs []error) {
	for g, e := range l.Grid {
		switch a := l.Axes[g]; {
		case a == NoAxis && l.Counts[g] != nil:
			errs = append(errs, fmt.Errorf("counts %v of grid axis %d, which splits no axis", l.Counts[g], g))
		case a == NoAxis:
		case l.Counts[g] == nil:
			l.Counts[g] = Balanced(s.Dim(a), e)
		default:
			if err := checkCounts(l.Counts[g], e, s.Dim(a)); err != nil {
				errs = append(errs, fmt.Errorf("counts of array axis %d: %w", a, err))
			}
		}
	}
	return errs
}

// axesText shows axes with NoAxis as a word.
func axesText(axes []int) string {
	t := make([]string, len(axes))
	for i, a := range axes {
		if t[i] = strconv.Itoa(a); a == NoAxis {
			t[i] = "none"
		}
	}
	return "[" + strings.Join(t, " ") + "]"
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
		if sum += c; sum < 0 {
			return fmt.Errorf("%v adds up to more than an int can count", counts)
		}
	}
	if sum != rows {
		return fmt.Errorf("%v adds up to %d, the axis has %d rows", counts, sum, rows)
	}
	return nil
}

// Balanced splits rows over parts as evenly as it goes, the first ones holding
// one more.
func Balanced(rows, parts int) []int {
	if rows < 0 || parts < 0 {
		panic(LayoutError(fmt.Sprintf("dist: Balanced: %d rows over %d parts: neither can be negative", rows, parts)))
	}
	c := make([]int, parts)
	for i := range c {
		c[i] = rows / parts
		if i < rows%parts {
			c[i]++
		}
	}
	return c
}

// Offsets returns the sum of the counts before each one and, last, of all of them:
// where the block of each rank starts, and where the last one ends.
func Offsets(counts []int) []int {
	off := make([]int, len(counts)+1)
	for i, n := range counts {
		off[i+1] = off[i] + n
	}
	return off
}
