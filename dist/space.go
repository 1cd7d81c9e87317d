package dist

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/shape"
)

// Space is a set of vectors: their N-d shape and how it lies on the ranks and
// their devices, or a stack of such spaces. It carries no element type and
// never changes.
type Space struct {
	rank    Rank
	shape   shape.Shape // global
	layout  Layout      // resolved: nothing is left open
	off     [][]int     // per grid axis: the first row of each coordinate, and the end
	box     Box         // what this rank holds
	local   shape.Shape
	primary bool      // this rank's block counts in reductions
	split   bool      // ranks hold different elements
	group   comm.Comm // whom reductions are among
	parts   []*Space
	sum     *scratch
}

// Box is a range of global indices along each axis.
type Box struct{ Lo, Hi [shape.MaxRank]int }

// NewSpace returns the space of arrays of this shape with this layout. It is
// collective: all ranks must ask for the same.
func NewSpace(ctx context.Context, r Rank, l Layout, dims ...int) (*Space, error) {
	s, err := shape.New(dims...)
	if err == nil {
		l, err = l.resolve(s, r.Size())
	}
	err = Agree(ctx, r.Comm, "dist: space", err, describe(dims, l))
	if err != nil {
		return nil, err
	}
	sp := newSpace(r, s, l)
	if l.Mask != nil {
		if !sp.everyAxisSplits() && sp.split {
			return nil, fmt.Errorf("dist: space: a Mask needs an array that every axis of the grid splits, or a replicated one")
		}
		if sp.group, err = r.Split(ctx, l.Mask[r.Rank()], 0); err != nil {
			return nil, fmt.Errorf("dist: space: groups of the mask: %w", err)
		}
	}
	return sp, nil
}

// newSpace is NewSpace with a resolved layout that all ranks agree on.
func newSpace(r Rank, s shape.Shape, l Layout) *Space {
	sp := &Space{rank: r, shape: s, layout: l, group: r.Comm, sum: newScratch()}
	sp.off = make([][]int, len(l.Grid))
	for g, c := range l.Counts {
		if c == nil {
			continue
		}
		off := make([]int, len(c)+1)
		for i, n := range c {
			off[i+1] = off[i] + n
		}
		sp.off[g] = off
	}
	sp.primary = true
	for g, c := range sp.Coords(r.Rank()) {
		sp.split = sp.split || l.Axes[g] != Whole && l.Grid[g] > 1
		sp.primary = sp.primary && (l.Axes[g] != Whole || c == 0)
	}
	sp.box = sp.Box(r.Rank())
	sp.local = sp.box.shape(s.Rank())
	return sp
}

func (s *Space) everyAxisSplits() bool {
	for g, a := range s.layout.Axes {
		if a == Whole && s.layout.Grid[g] > 1 {
			return false
		}
	}
	return true
}

// Like returns the space of arrays of another shape or layout on the same
// ranks. It does not communicate: all ranks must call it with the same values.
// A mask of s is kept if l has none of its own and the layout allows it.
func (s *Space) Like(l Layout, dims ...int) (*Space, error) {
	sh, err := shape.New(dims...)
	if err != nil {
		return nil, fmt.Errorf("dist: space: %w", err)
	}
	if l.Mask != nil {
		return nil, fmt.Errorf("dist: space: a new Mask needs NewSpace")
	}
	if l, err = l.resolve(sh, s.rank.Size()); err != nil {
		return nil, fmt.Errorf("dist: space: %w", err)
	}
	l.Mask = s.layout.Mask
	t := newSpace(s.rank, sh, l)
	t.group = s.group
	return t, nil
}

// Alone returns the space of this rank's block as an array of one rank.
func (s *Space) Alone() *Space {
	l, _ := Layout{Replicate: Unchecked}.resolve(s.local, 1)
	return newSpace(s.rank.Alone(), s.local, l)
}

// Rank returns this rank's group and device.
func (s *Space) Rank() Rank { return s.rank }

// Comm returns the group that the space lies on.
func (s *Space) Comm() comm.Comm { return s.rank.Comm }

// Device returns where this rank's block lives.
func (s *Space) Device() device.Device { return s.rank.Device }

// Shape returns the global shape; of a stack, the number of all its elements.
func (s *Space) Shape() shape.Shape {
	if s.parts != nil {
		return shape.Of(s.Size())
	}
	return s.shape
}

// Size returns the number of elements over all ranks, each counted once.
func (s *Space) Size() int {
	if s.parts == nil {
		return s.shape.Size()
	}
	n := 0
	for _, p := range s.parts {
		n += p.Size()
	}
	return n
}

// LocalShape returns the shape of this rank's block.
func (s *Space) LocalShape() shape.Shape { return s.local }

// Layout returns how the space lies on its ranks, with nothing left open.
func (s *Space) Layout() Layout { return s.layout }

// Replicated reports whether every rank holds all elements.
func (s *Space) Replicated() bool { return s.parts == nil && !s.split }

// SplitBy returns the grid axis that splits an array axis and the rows at each
// of its coordinates, or Whole and nil. A grid axis with one rank does not split.
func (s *Space) SplitBy(axis int) (grid int, counts []int) {
	for g, a := range s.layout.Axes {
		if a == axis && s.layout.Grid[g] > 1 {
			return g, s.layout.Counts[g]
		}
	}
	return Whole, nil
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
	for a := range s.shape.Rank() {
		b.Hi[a] = s.shape.Dim(a)
	}
	for g, c := range s.Coords(rank) {
		if a := s.layout.Axes[g]; a != Whole {
			b.Lo[a], b.Hi[a] = s.off[g][c], s.off[g][c+1]
		}
	}
	return b
}

// Equal reports whether arrays of s and t lie on the same ranks in the same way.
func (s *Space) Equal(t *Space) bool {
	if s == t {
		return true
	}
	if s.parts != nil || t.parts != nil {
		return slices.EqualFunc(s.parts, t.parts, (*Space).Equal)
	}
	if s.rank.Comm != t.rank.Comm || s.rank.Device != t.rank.Device || s.shape != t.shape ||
		!slices.Equal(s.layout.Mask, t.layout.Mask) || s.split != t.split {
		return false
	}
	return slices.EqualFunc(s.cuts(), t.cuts(), func(a, b cut) bool {
		return a.axis == b.axis && a.grid == b.grid && slices.Equal(a.off, b.off)
	})
}

// cut is what one grid axis of more than one rank does.
type cut struct {
	axis, grid int
	off        []int
}

// cuts lists what the grid does, so that grids that differ only in axes of one
// rank compare equal.
func (s *Space) cuts() (c []cut) {
	if !s.split {
		return nil
	}
	for g, e := range s.layout.Grid {
		if e > 1 {
			c = append(c, cut{s.layout.Axes[g], e, s.off[g]})
		}
	}
	return c
}

func (s *Space) String() string {
	if s.parts != nil {
		var b []string
		for _, p := range s.parts {
			b = append(b, p.String())
		}
		return "stack{" + strings.Join(b, ", ") + "}"
	}
	return fmt.Sprintf("%s over %d ranks on %v", describe(s.shape.Dims(), s.layout), s.rank.Size(), s.rank.Device)
}

// describe says in words what ranks must agree on.
func describe(dims []int, l Layout) string {
	var b strings.Builder
	fmt.Fprintf(&b, "shape %v", dims)
	if l.Replicate != Scattered {
		b.WriteString(" replicated")
		if l.Replicate == Checked {
			b.WriteString(" (checked)")
		}
	} else {
		for g, a := range l.Axes {
			switch {
			case a == Whole:
				fmt.Fprintf(&b, ", %d copies", l.Grid[g])
			case g < len(l.Counts):
				fmt.Fprintf(&b, ", axis %d split %v", a, l.Counts[g])
			}
		}
	}
	if l.Mask != nil {
		fmt.Fprintf(&b, ", mask %v", l.Mask)
	}
	return b.String()
}

func (b Box) shape(rank int) shape.Shape {
	var d [shape.MaxRank]int
	for i := range rank {
		d[i] = max(b.Hi[i]-b.Lo[i], 0)
	}
	return shape.Of(d[:rank]...)
}

// meet returns the part that b and c share, and whether there is any.
func (b Box) meet(c Box, rank int) (Box, bool) {
	some := true
	for i := range rank {
		b.Lo[i], b.Hi[i] = max(b.Lo[i], c.Lo[i]), min(b.Hi[i], c.Hi[i])
		some = some && b.Lo[i] < b.Hi[i]
	}
	return b, some
}
