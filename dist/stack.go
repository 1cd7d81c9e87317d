package dist

import (
	"fmt"
	"math"
	"slices"

	"github.com/golops/golops/array"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// Stack returns the space of stacked vectors, one of each space. Spaces may be
// stacks themselves. All must lie on the same ranks and share their mask.
func Stack(parts ...*Space) (*Space, error) {
	if len(parts) == 0 {
		return nil, fmt.Errorf("dist: a stack of no spaces")
	}
	a := parts[0]
	t, size, local := &Space{parts: slices.Clone(parts)}, 0, 0
	for i, p := range parts {
		if p == nil {
			return nil, fmt.Errorf("dist: stack: space %d is nil", i)
		}
		if why := a.ranksDiffer(p); why != "" {
			return nil, fmt.Errorf("dist: stack: %s: space 0 is %v, space %d is %v", why, a, i, p)
		}
		if p.Size() > math.MaxInt-size {
			return nil, fmt.Errorf("dist: stack: %d spaces up to %v have more elements than an int can count", i+1, p)
		}
		size += p.Size()
		local += p.local.Size()
		t.split = t.split || p.split
		t.leaves = append(t.leaves, p.leaves...)
	}
	t.shape, t.local = shape.Of(size), shape.Of(local)
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
	a := Array[T]{space: s, blocks: make([]array.Array[T], 0, len(s.leaves))}
	for _, p := range parts {
		for i := range p.space.leaves {
			a.blocks = append(a.blocks, *p.block(i))
		}
	}
	return a, nil
}

// Parts returns the spaces of a stack, nil of any other space.
func (s *Space) Parts() []*Space { return slices.Clone(s.parts) }

// Leaves returns the spaces of the arrays that a stack consists of, however deep it
// nests, in order. Any other space has one leaf: itself.
func (s *Space) Leaves() []*Space { return slices.Clone(s.leaves) }

// Part returns array i of a stack, over the same memory.
func (a Array[T]) Part(i int) Array[T] {
	if i < 0 || i >= a.NumParts() {
		panic(LayoutError(fmt.Sprintf("dist: part %d of an array of %v, which has %d", i, a.space, a.NumParts())))
	}
	first := 0
	for _, p := range a.space.parts[:i] {
		first += len(p.leaves)
	}
	p := a.space.parts[i]
	if p.parts == nil {
		return Array[T]{space: p, local: a.blocks[first]}
	}
	return Array[T]{space: p, blocks: a.blocks[first : first+len(p.leaves)]}
}

// NumParts returns how many arrays a stack has, 0 for an array that is none.
func (a Array[T]) NumParts() int {
	if a.space == nil {
		return 0
	}
	return len(a.space.parts)
}

// NumLeaves returns how many arrays a stack consists of, however deep it nests, 1
// for an array that is none.
func (a Array[T]) NumLeaves() int { return len(a.given("NumLeaves").leaves) }

// Leaf returns array i of those that a stack consists of, over the same memory. It
// is never a stack. Leaf 0 of any other array is the array.
func (a Array[T]) Leaf(i int) Array[T] {
	return Array[T]{space: a.given("Leaf").leaves[i], local: *a.block(i)}
}

// block returns the block of leaf i.
func (a *Array[T]) block(i int) *array.Array[T] {
	if a.blocks == nil {
		return &a.local
	}
	return &a.blocks[i]
}
