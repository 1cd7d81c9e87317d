package dist

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/golops/golops/shape"
)

// Box is a range of global indices along each axis.
type Box struct{ Lo, Hi [shape.MaxNDim]int }

// SplitBy returns the grid axis that splits an array axis, negative from the
// end, and the rows at each of its coordinates, or NoAxis and nil. A grid axis
// with one rank does not split.
func (s *Space) SplitBy(axis int) (grid int, counts []int) {
	a, err := s.shape.Axis(axis)
	if err != nil {
		return NoAxis, nil
	}
	for g, x := range s.layout.Axes {
		if x == a && s.layout.Grid[g] > 1 {
			return g, append([]int(nil), s.layout.Counts[g]...)
		}
	}
	return NoAxis, nil
}

// Place returns the place of this rank among those that share an array axis, the
// first row of each place and, last, the number of all rows.
func (s *Space) Place(axis int) (me int, first []int) {
	g, _ := s.SplitBy(axis)
	if g == NoAxis {
		return 0, []int{0, s.shape.Dim(axis)}
	}
	return s.Coords(s.proc.Rank())[g], slices.Clone(s.off[g])
}

// Coords returns the place of a rank in the grid.
func (s *Space) Coords(rank int) []int {
	c := make([]int, len(s.layout.Grid))
	for g := len(c) - 1; g >= 0; g-- {
		c[g] = rank % s.layout.Grid[g]
		rank /= s.layout.Grid[g]
	}
	return c
}

// RankAt returns the rank at a place in the grid.
func (s *Space) RankAt(coords []int) int {
	r := 0
	for g, c := range coords {
		r = r*s.layout.Grid[g] + c
	}
	return r
}

// Box returns the global indices that a rank holds.
func (s *Space) Box(rank int) Box {
	var b Box
	for a := range s.shape.NDim() {
		b.Hi[a] = s.shape.Dim(a)
	}
	for g, c := range s.Coords(rank) {
		if a := s.layout.Axes[g]; a != NoAxis {
			b.Lo[a], b.Hi[a] = s.off[g][c], s.off[g][c+1]
		}
	}
	return b
}

// Runs returns the start and the length of each run of elements of a rank's block
// that lie together in the whole array, the last axis running fastest. They come in
// the order of the block.
func (s *Space) Runs(rank int) iter.Seq2[int, int] {
	b, n := s.Box(rank), s.shape.NDim()
	return shape.Runs(s.shape.Dims(), b.Lo[:n], b.Hi[:n])
}

// blockAndCopy returns two numbers for a rank. Ranks with the same block hold the same
// elements. Ranks with the same copy hold, together, every element once.
func (s *Space) blockAndCopy(rank int) (block, copy int) {
	b, c := 1, 1
	for g := len(s.layout.Grid) - 1; g >= 0; g-- {
		e := s.layout.Grid[g]
		if s.layout.Axes[g] == NoAxis {
			copy += c * (rank % e)
			c *= e
		} else {
			block += b * (rank % e)
			b *= e
		}
		rank /= e
	}
	return block, copy
}

// sameCopy reports whether two ranks hold parts of the same copy of the array.
func (s *Space) sameCopy(q, r int) bool {
	_, a := s.blockAndCopy(q)
	_, b := s.blockAndCopy(r)
	return a == b
}

// isPrimary reports whether the block of a rank counts in reductions: whether no
// lower rank of the same color holds it too.
func (s *Space) isPrimary(rank int) bool {
	block, copy := s.blockAndCopy(rank)
	if copy == 0 || s.layout.Mask == nil {
		return copy == 0
	}
	for r := range rank {
		if b, _ := s.blockAndCopy(r); b == block && s.layout.Mask[r] == s.layout.Mask[rank] {
			return false
		}
	}
	return true
}

// axisColors returns a color for each rank: that of the first rank of its line.
func (s *Space) axisColors(axis int) []int {
	g, _ := s.SplitBy(axis)
	colors := make([]int, s.proc.Size())
	for r := range colors {
		c := s.Coords(r)
		if g != NoAxis {
			c[g] = 0
		}
		colors[r] = s.RankAt(c)
	}
	return colors
}

func (s *Space) String() string {
	return fmt.Sprintf("%s over %s on %v", s.describe(), ranks(s.proc), s.proc.Device)
}

// describe describes s without its ranks and device, which need not be called the
// same everywhere.
func (s *Space) describe() string {
	if s.parts == nil {
		return describeLayout(s.shape, s.layout)
	}
	var b []string
	for _, p := range s.parts {
		b = append(b, p.describe())
	}
	return "stack{" + strings.Join(b, "; ") + "}"
}

// describeLayout says in words what ranks must agree on, of a resolved layout.
func describeLayout(s shape.Shape, l Layout) string {
	var b strings.Builder
	fmt.Fprintf(&b, "shape %v", s)
	switch l.Replicate {
	case Checked:
		b.WriteString(" replicated (checked)")
	case Unchecked:
		b.WriteString(" replicated")
	default:
		for g, a := range l.Axes {
			if a == NoAxis {
				fmt.Fprintf(&b, ", %d copies", l.Grid[g])
			} else {
				fmt.Fprintf(&b, ", axis %d split %v", a, l.Counts[g])
			}
		}
	}
	if l.Mask != nil {
		fmt.Fprintf(&b, ", mask %v", l.Mask)
	}
	if l.Way == OneSided {
		fmt.Fprintf(&b, ", %v", l.Way)
	}
	if l.Debug {
		b.WriteString(", debug")
	}
	return b.String()
}

func (b Box) shape(axes int) shape.Shape {
	var d [shape.MaxNDim]int
	for i := range axes {
		d[i] = max(b.Hi[i]-b.Lo[i], 0)
	}
	return shape.Of(d[:axes]...)
}

// Intersect returns what b and c share along the first axes, and whether that is anything.
func (b Box) Intersect(c Box, axes int) (Box, bool) {
	some := true
	for i := range axes {
		b.Lo[i], b.Hi[i] = max(b.Lo[i], c.Lo[i]), min(b.Hi[i], c.Hi[i])
		some = some && b.Lo[i] < b.Hi[i]
	}
	return b, some
}
