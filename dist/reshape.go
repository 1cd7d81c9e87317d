package dist

import (
	"fmt"
	"slices"

	"github.com/golops/golops/shape"
)

// Reshape returns the elements of a under another global shape of the same
// size, over the same memory. The global order of elements stays that of the
// last axis running fastest, so the blocks of ranks must follow each other in
// it, as they do when the first axis is split; otherwise the error says to
// Redistribute first. It does not communicate.
func (a Array[T]) Reshape(dims ...int) (Array[T], error) {
	s := a.space
	if s.parts != nil {
		return a, fmt.Errorf("dist: reshape a stack: reshape its parts")
	}
	sh, err := shape.New(dims...)
	if err != nil {
		return a, fmt.Errorf("dist: reshape %v: %w", s.shape, err)
	}
	if sh.Size() != s.shape.Size() {
		return a, fmt.Errorf("dist: reshape %v to %v: %d elements are not %d", s.shape, sh, s.shape.Size(), sh.Size())
	}
	l := s.layout
	if s.split {
		if l, err = s.inOrder(sh); err != nil {
			return a, err
		}
	}
	l.Mask = nil
	if !s.split && s.layout.Replicate == Scattered {
		l = Layout{Replicate: Unchecked}
	} else if !s.split {
		l.Grid, l.Axes, l.Counts = nil, nil, nil
	}
	t, err := s.Like(l, dims...)
	if err != nil {
		return a, err
	}
	return Of(t, a.local), nil
}

// Ravel returns a as an array of one axis. It is Reshape to its size.
func (a Array[T]) Ravel() (Array[T], error) { return a.Reshape(a.space.Size()) }

// inOrder returns the layout of s's blocks under another shape.
func (s *Space) inOrder(sh shape.Shape) (Layout, error) {
	cuts := s.cuts()
	axis := 0
	for axis < s.shape.Rank() && s.shape.Dim(axis) == 1 {
		axis++
	}
	if len(cuts) != 1 || cuts[0].axis != axis {
		return Layout{}, fmt.Errorf("dist: reshape %v: blocks do not follow each other in memory order: Redistribute to the first axis before", s)
	}
	_, _, inner := s.shape.Around(axis)
	_, counts := s.SplitBy(axis)
	to := 0
	for to < sh.Rank()-1 && sh.Dim(to) == 1 {
		to++
	}
	_, _, newInner := sh.Around(to)
	rows := make([]int, len(counts))
	for i, c := range counts {
		if newInner > 0 {
			if c*inner%newInner != 0 {
				return Layout{}, fmt.Errorf("dist: reshape %v to %v: the block of rank %d has %d elements, not a multiple of %d", s, sh, i, c*inner, newInner)
			}
			rows[i] = c * inner / newInner
		}
	}
	if newInner == 0 {
		rows = Balanced(sh.Dim(to), len(counts))
	}
	g := slices.IndexFunc(s.layout.Axes, func(a int) bool { return a == axis })
	axes := slices.Repeat([]int{Whole}, len(s.layout.Grid))
	all := make([][]int, len(axes))
	axes[g], all[g] = to, rows
	return Layout{Grid: s.layout.Grid, Axes: axes, Counts: all}, nil
}
