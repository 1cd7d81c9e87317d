package dist

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/shape"
)

// Space is a set of vectors: their N-d shape and how it lies on the ranks and
// their devices, or a stack of such spaces. It carries no element type and
// never changes.
//
// leaves are the spaces of the blocks: of a stack those of its parts, one after
// another, of any other space the space itself. Loops go over leaves. parts say
// how a stack nests, which matters to those who ask for a part or for a text.
type Space struct {
	proc    Proc
	shape   shape.Shape // global; of a stack one axis of all elements
	layout  Layout      // resolved: nothing is left open
	off     [][]int     // per grid axis: the first row of each coordinate, and the end
	cuts    []cut       // what the grid does, to compare spaces
	box     Box         // what this rank holds
	local   shape.Shape // of a stack one axis of all elements that this rank holds
	primary bool        // this rank's block counts in reductions
	split   bool        // ranks hold different elements
	group   *comm.Comm  // whom reductions are among
	leaves  []*Space
	parts   []*Space // nil unless it is a stack
}

// NewSpace returns the space of arrays of this shape with this layout. It is
// collective: all ranks must ask for the same.
func NewSpace(ctx context.Context, r Proc, l Layout, dims ...int) (*Space, error) {
	if r.Comm == nil {
		return nil, errors.New("dist: space: this rank is in no group")
	}
	s, err := shape.New(dims...)
	if err == nil {
		l, err = l.resolve(s, r.Size())
	}
	text := ""
	if err == nil {
		text = describeLayout(s, l)
	}
	if err = Agree(ctx, r.Comm, "dist: space", err, text); err != nil {
		return nil, err
	}
	if err = r.checkWay(ctx, l.Way); err != nil {
		return nil, fmt.Errorf("dist: space: %w", err)
	}
	group := r.Comm
	if l.Mask != nil {
		if group, err = r.subgroup(ctx, l.Mask); err != nil {
			return nil, fmt.Errorf("dist: space: groups of mask %v: %w", l.Mask, err)
		}
	}
	return newSpace(r, s, l, group), nil
}

// newSpace is NewSpace with a resolved layout that all ranks agree on.
func newSpace(r Proc, s shape.Shape, l Layout, group *comm.Comm) *Space {
	sp := &Space{proc: r, shape: s, layout: l, group: group}
	sp.leaves = []*Space{sp}
	sp.off = make([][]int, len(l.Grid))
	for g, e := range l.Grid {
		if l.Axes[g] != NoAxis {
			sp.off[g] = Offsets(l.Counts[g])
		}
		if e > 1 {
			sp.split = sp.split || l.Axes[g] != NoAxis
			sp.cuts = append(sp.cuts, cut{l.Axes[g], e, sp.off[g]})
		}
	}
	if !sp.split {
		sp.cuts = nil // grids of copies differ in nothing that matters
	}
	sp.primary = sp.isPrimary(r.Rank())
	sp.box = sp.Box(r.Rank())
	sp.local = sp.box.shape(s.NDim())
	return sp
}

// Like returns the space of arrays of another shape or layout on the same ranks,
// with the same mask and way. It does not communicate: all ranks must call it with the
// same values.
func (s *Space) Like(l Layout, dims ...int) (*Space, error) {
	t, err := s.like(l, dims)
	return named("dist: space", t, err)
}

// named returns v, or an error that names what failed. Exported functions end in it
// where others of this package need the error without the name.
func named[V any](what string, v *V, err error) (*V, error) {
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return v, nil
}

func (s *Space) like(l Layout, dims []int) (*Space, error) {
	sh, err := shape.New(dims...)
	if err != nil {
		return nil, err
	}
	if l.Mask != nil && !slices.Equal(l.Mask, s.layout.Mask) {
		return nil, fmt.Errorf("mask %v is not %v, that of the space it is to be like: a new one needs NewSpace", l.Mask, s.layout.Mask)
	}
	if l.Way != Messages && l.Way != s.layout.Way {
		return nil, fmt.Errorf("way %v is not %v, that of the space it is to be like: a new one needs NewSpace", l.Way, s.layout.Way)
	}
	if l, err = l.resolve(sh, s.proc.Size()); err != nil {
		return nil, err
	}
	l.Mask, l.Way = s.layout.Mask, s.layout.Way
	return newSpace(s.proc, sh, l, s.group), nil
}

// Alone returns the space of this rank's block as an array of one rank, or of
// the blocks of a stack.
func (s *Space) Alone() *Space {
	if s.parts != nil {
		parts := make([]*Space, len(s.parts))
		for i, p := range s.parts {
			parts[i] = p.Alone()
		}
		t, _ := Stack(parts...) // all are on this rank
		return t
	}
	r := s.proc.Alone()
	l, _ := Layout{Replicate: Unchecked}.resolve(s.local, 1)
	return newSpace(r, s.local, l, r.Comm)
}

// DropAxis returns the space of arrays without one axis, negative from the end,
// as a sum along that axis has it. If the axis is split, the result is replicated
// over its ranks. It does not communicate.
func (s *Space) DropAxis(axis int) (*Space, error) {
	t, err := s.dropAxis(axis)
	return named("dist: drop an axis", t, err)
}

func (s *Space) dropAxis(axis int) (*Space, error) {
	if s.parts != nil {
		return nil, fmt.Errorf("a stack has no axes")
	}
	a, err := s.shape.Axis(axis)
	if err != nil {
		return nil, err
	}
	l := s.layout.clone()
	for g, x := range l.Axes {
		switch {
		case x == a:
			l.Axes[g], l.Counts[g] = NoAxis, nil
		case x > a:
			l.Axes[g]--
		}
	}
	return s.like(l, s.shape.Without(a).Dims())
}

// Proc returns this rank's group and device.
func (s *Space) Proc() Proc { return s.proc }

// Comm returns the group that the space lies on.
func (s *Space) Comm() *comm.Comm { return s.proc.Comm }

// Device returns where this rank's block lives.
func (s *Space) Device() device.Device { return s.proc.Device }

// Shape returns the global shape; of a stack, the number of all its elements.
func (s *Space) Shape() shape.Shape { return s.shape }

// Size returns the number of elements over all ranks, each counted once.
func (s *Space) Size() int { return s.shape.Size() }

// LocalShape returns the shape of this rank's block; of a stack, the number of
// all elements that this rank holds.
func (s *Space) LocalShape() shape.Shape { return s.local }

// Layout returns how the space lies on its ranks, with nothing left open. That
// of a stack has a Mask only.
func (s *Space) Layout() Layout { return s.layout.clone() }

// Group returns the ranks that reductions over the space are among: all, or
// those of this rank's color if the space has a mask.
func (s *Space) Group() *comm.Comm { return s.group }

// Primary reports whether this rank's block counts in reductions: of ranks that
// hold the same elements, one is primary.
func (s *Space) Primary() bool { return s.primary }

// Replicated reports whether every rank holds all elements.
func (s *Space) Replicated() bool { return !s.split }

// Equal reports whether arrays of s and t lie on the same ranks in the same way.
func (s *Space) Equal(t *Space) bool {
	why, _ := s.Difference(t)
	return why == ""
}

// Difference says in what s and t differ, such as "the shapes [60 40] and [60 41]
// differ". Equal spaces have none. bridged reports whether a Redistribution takes
// arrays from one to the other.
func (s *Space) Difference(t *Space) (why string, bridged bool) {
	switch {
	case s == t:
		return "", true
	case s == nil || t == nil:
		return "a space is nil", false
	case s.Comm() != t.Comm() || s.Device() != t.Device():
		return s.ranksDiffer(t), false
	case len(s.parts) != len(t.parts):
		return fmt.Sprintf("%s and %s differ", stackText(s), stackText(t)), false
	case s.parts == nil && s.shape != t.shape:
		return fmt.Sprintf("the shapes %v and %v differ", s.shape, t.shape), false
	}
	for i, p := range s.parts {
		if w, ok := p.Difference(t.parts[i]); why == "" && w != "" || !ok {
			if why = fmt.Sprintf("part %d: %s", i, w); !ok {
				return why, false
			}
		}
	}
	if why == "" {
		why = s.ranksDiffer(t)
	}
	if why == "" && (s.split != t.split || !slices.EqualFunc(s.cuts, t.cuts, cut.equal)) {
		why = "the layouts differ"
	}
	return why, true
}

// ranksDiffer says why s and t are not on the same ranks and devices or reduce among
// other groups.
func (s *Space) ranksDiffer(t *Space) string {
	switch {
	case s.Comm() != t.Comm():
		return fmt.Sprintf("they are on different communicators, of %s and of %s", ranks(s.proc), ranks(t.proc))
	case s.Device() != t.Device():
		return fmt.Sprintf("they are on different devices, %v and %v", s.Device(), t.Device())
	case !slices.Equal(s.layout.Mask, t.layout.Mask):
		return fmt.Sprintf("the masks %v and %v differ", s.layout.Mask, t.layout.Mask)
	}
	return ""
}

func ranks(p Proc) string {
	if n := p.Size(); n > 1 {
		return fmt.Sprintf("%d ranks", n)
	}
	return "1 rank"
}

func stackText(s *Space) string {
	if s.parts == nil {
		return "a space that is no stack"
	}
	return fmt.Sprintf("a stack of %d spaces", len(s.parts))
}

// cut is what one grid axis of more than one rank does. Grids that differ only
// in axes of one rank have the same cuts.
type cut struct {
	axis, grid int
	off        []int
}

func (c cut) equal(d cut) bool {
	return c.axis == d.axis && c.grid == d.grid && slices.Equal(c.off, d.off)
}
