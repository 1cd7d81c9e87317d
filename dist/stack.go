package dist

import (
	"fmt"
	"math"
	"slices"

	"github.com/golops/golops/scalar"
)

// Stack returns the space of stacked vectors, one of each space. Spaces may be
// stacks themselves. All must lie on the same ranks and share their mask.
func Stack(parts ...*Space) (*Space, error) {
	if len(parts) == 0 {
		return nil, fmt.Errorf("dist: a stack of no spaces")
	}
	a := parts[0]
	t, size := &Space{parts: slices.Clone(parts), sum: newScratch()}, 0
	for i, p := range parts {
		if p == nil {
			return nil, fmt.Errorf("dist: stack: space %d is nil", i)
		}
		if !p.sameRanks(a) {
			return nil, fmt.Errorf("dist: stack: %s: space 0 is %v, space %d is %v", a.ranksDiffer(p), a, i, p)
		}
		if p.Size() > math.MaxInt-size {
			return nil, fmt.Errorf("dist: stack: %d spaces up to %v have more elements than an int can count", i+1, p)
		}
		size += p.Size()
		t.split = t.split || p.split
	}
	t.proc, t.group, t.layout.Mask = a.proc, a.group, a.layout.Mask
	return t, nil
}

// StackOf returns the stack of these arrays, over their memory.
func StackOf[T scalar.Scalar](parts ...Array[T]) (Array[T], error) {
	spaces := make([]*Space, len(parts))
	for i, p := range parts {
		spaces[i] = p.space
	}
	s, err := Stack(spaces...)
	if err != nil {
		return Array[T]{}, err
	}
	return Array[T]{space: s, parts: slices.Clone(parts)}, nil
}

// Parts returns the spaces of a stack, nil of any other space.
func (s *Space) Parts() []*Space { return slices.Clone(s.parts) }

// Part returns array i of a stack.
func (a Array[T]) Part(i int) Array[T] {
	if i < 0 || i >= len(a.parts) {
		panic(LayoutError(fmt.Sprintf("dist: part %d of an array of %v, which has %d", i, a.space, len(a.parts))))
	}
	return a.parts[i]
}

// NumParts returns how many arrays a stack has, 0 for an array that is none.
func (a Array[T]) NumParts() int { return len(a.parts) }
