package golops

import (
	"context"
	"fmt"

	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// Space is a space of vectors: their element type, their shape, and how they lie
// on the ranks.
type Space[T Scalar] struct {
	w *World
	s *dist.Space
}

// NewSpace returns the space of arrays of T of this shape with this layout, such
// as dist.Split(1) or dist.Replicated.
func NewSpace[T Scalar](w *World, l dist.Layout, dims ...int) Space[T] {
	return Space[T]{w, Must(dist.NewSpace(w.Context(), w.proc, l, dims...))}
}

// As returns the space of the same shape and layout with elements of U.
func As[U, T Scalar](s Space[T]) Space[U] { return Space[U]{s.World(), s.s} }

// With returns the space of the same shape with another layout.
func (s Space[T]) With(l dist.Layout) Space[T] { return NewSpace[T](s.World(), l, s.Shape()...) }

// Alone returns the space of this rank's block, in the world of this rank only.
func (s Space[T]) Alone() Space[T] { return Space[T]{s.World().Alone(), s.s.Alone()} }

// World returns the world that the space is in.
func (s Space[T]) World() *World {
	if s.w == nil {
		fail("the Space was never made: use World.Real, World.Complex or NewSpace")
	}
	return s.w
}

func (s Space[T]) ctx() context.Context { return s.World().ctx }

// Dist returns the space as packages below this one take it.
func (s Space[T]) Dist() *dist.Space { s.World(); return s.s }

// Shape returns the number of elements along each axis, over all ranks.
func (s Space[T]) Shape() []int { return s.Dist().Shape().Dims() }

// Size returns the number of elements over all ranks.
func (s Space[T]) Size() int { return s.Dist().Size() }

// Parts returns the spaces of a stack, nil of any other space.
func (s Space[T]) Parts() []Space[T] {
	var parts []Space[T]
	for _, p := range s.Dist().Parts() {
		parts = append(parts, Space[T]{s.w, p})
	}
	return parts
}

// Layout returns how the space lies on the ranks, as With and NewSpace take it.
func (s Space[T]) Layout() dist.Layout {
	if s.Dist().Parts() != nil {
		fail("layout: %v is a stack, whose parts have layouts of their own", s)
	}
	return s.s.Layout()
}

func (s Space[T]) String() string {
	if s.w == nil {
		return "no space"
	}
	return fmt.Sprintf("%v of %v", scalar.Of[T](), s.s)
}

// Zero returns the zero vector.
func (s Space[T]) Zero() Vec[T] { return Vec[T]{s.World(), Must(dist.New[T](s.s))} }

// Func returns the vector with element f(i) at index i of the whole array.
func (s Space[T]) Func(f func(i []int) T) Vec[T] {
	if f == nil {
		fail("func: the function is nil")
	}
	return Vec[T]{s.w, Must(dist.FromFunc(s.ctx(), s.s, f))}
}

// FuncReal is Func for programs that serve real and complex elements alike.
func (s Space[T]) FuncReal(f func(i []int) float64) Vec[T] {
	if f == nil {
		fail("func: the function is nil")
	}
	return s.Func(func(i []int) T { return scalar.From[T](complex(f(i), 0)) })
}

// Random returns a vector of numbers between -1 and 1 that depend on the seed and
// on the index only, not on the number of ranks.
func (s Space[T]) Random(seed uint64) Vec[T] {
	return Vec[T]{s.w, Must(dist.Random[T](s.ctx(), s.Dist(), seed))}
}

// Normal returns a vector of normal numbers whose standard deviation is size, such as
// noise. They depend on the seed and on the index only, as those of Random do.
func (s Space[T]) Normal(size float64, seed uint64) Vec[T] {
	return Vec[T]{s.w, Must(dist.Normal[T](s.ctx(), s.Dist(), size, seed))}
}

// Block returns the vector whose blocks the ranks give, each its own.
func (s Space[T]) Block(block []T) Vec[T] {
	return Vec[T]{s.w, Must(dist.FromBlock(s.ctx(), s.s, block))}
}

// Scatter returns the vector whose elements rank 0 gives, the last axis running
// fastest. The other ranks give nil.
func (s Space[T]) Scatter(global []T) Vec[T] {
	return Vec[T]{s.w, Must(dist.Scatter(s.ctx(), s.s, global))}
}

// Load returns the vector in a .npy file of this shape. Each rank reads its own
// block.
func (s Space[T]) Load(path string) (Vec[T], error) {
	a, err := data.Load[T](s.ctx(), path, s.s)
	return Vec[T]{s.w, a}, err
}
