package dist

import (
	"context"
	"fmt"

	"github.com/golops/golops/array"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// Array is a vector of a Space: this rank's block of it, or a stack of Arrays.
// It is a header, passed by value like a slice.
type Array[T scalar.Scalar] struct {
	space *Space
	local array.Array[T]
	parts []Array[T]
}

// New allocates the zero vector of s. It does not communicate.
func New[T scalar.Scalar](s *Space) (Array[T], error) {
	a := Array[T]{space: s}
	for _, p := range s.parts {
		part, err := New[T](p)
		if err != nil {
			return a, err
		}
		a.parts = append(a.parts, part)
	}
	if s.parts != nil {
		return a, nil
	}
	var err error
	a.local, err = array.New[T](s.rank.Device, s.local)
	return a, err
}

// Of returns the array of s whose block is local, over the same memory. A
// block of the wrong size is a bug and panics.
func Of[T scalar.Scalar](s *Space, local array.Array[T]) Array[T] {
	return Array[T]{space: s, local: local.Reshape(s.local)}
}

// FromBlock returns an array with a copy of each rank's own block, which must
// have as many elements as the space gives the rank. It is collective.
func FromBlock[T scalar.Scalar](ctx context.Context, s *Space, block []T) (Array[T], error) {
	a, err := New[T](s)
	if err == nil && s.parts != nil {
		err = fmt.Errorf("a stack has no block: fill its parts")
	}
	if err == nil {
		err = a.local.CopyIn(block)
	}
	if err = Agree(ctx, s.Comm(), "dist: array from blocks", err); err != nil {
		return a, err
	}
	return a, a.Sync(ctx)
}

// FromFunc returns the array with element f(i) at global index i. f must not
// keep i. With Checked replication it is collective.
func FromFunc[T scalar.Scalar](ctx context.Context, s *Space, f func(i []int) T) (Array[T], error) {
	a, err := New[T](s)
	if err != nil {
		return a, err
	}
	if s.parts != nil {
		return a, fmt.Errorf("dist: a stack has no global index: fill its parts")
	}
	n := s.shape.Rank()
	i := append([]int(nil), s.box.Lo[:n]...)
	host := make([]T, s.local.Size())
	for k := range host {
		host[k] = f(i)
		for d := n - 1; d >= 0; d-- {
			if i[d]++; i[d] < s.box.Hi[d] {
				break
			}
			i[d] = s.box.Lo[d]
		}
	}
	if err := a.local.CopyIn(host); err != nil {
		return a, err
	}
	return a, a.Sync(ctx)
}

// Sync makes the copies of a Checked array equal to that of rank 0, or, in the
// debug mode of its layout, reports the first rank whose copy differs. Arrays
// of other layouts are left alone.
func (a Array[T]) Sync(ctx context.Context) error {
	for _, p := range a.parts {
		if err := p.Sync(ctx); err != nil {
			return err
		}
	}
	s := a.space
	if s.parts != nil || s.layout.Replicate != Checked || s.rank.Size() == 1 {
		return nil
	}
	if !s.layout.Debug {
		return s.Comm().Broadcast(ctx, buf(a.local), 0)
	}
	first, err := New[T](s)
	if err != nil {
		return err
	}
	array.Copy(first.local, a.local)
	if err := s.Comm().Broadcast(ctx, buf(first.local), 0); err != nil {
		return err
	}
	mine, want := make([]T, a.local.Len()), make([]T, a.local.Len())
	if err = a.local.CopyOut(mine); err == nil {
		err = first.local.CopyOut(want)
	}
	for i := range mine {
		if err == nil && mine[i] != want[i] && (mine[i] == mine[i] || want[i] == want[i]) {
			err = fmt.Errorf("element %d is %v, on rank 0 it is %v", i, mine[i], want[i])
		}
	}
	return Agree(ctx, s.Comm(), "dist: copies of a checked array differ", err)
}

// Free gives the memory of the array back to its device. Only the owner may.
func (a Array[T]) Free() {
	for _, p := range a.parts {
		p.Free()
	}
	a.local.Free()
}

// Space returns the space that a is a vector of.
func (a Array[T]) Space() *Space { return a.space }

// Local returns this rank's block. A stack has none and panics.
func (a Array[T]) Local() array.Array[T] {
	if a.parts != nil {
		panic("dist: Local of a stack: ask for a Part")
	}
	return a.local
}

// Alone returns this rank's block as an array of one rank, over the same
// memory, with the space that s.Alone made of a's space.
func (a Array[T]) Alone(s *Space) Array[T] { return Of(s, a.local) }

// Host returns a copy of this rank's block on the host.
func (a Array[T]) Host() ([]T, error) {
	h := make([]T, a.Local().Len())
	return h, a.local.CopyOut(h)
}

// buf is the memory of a block as ranks exchange it.
func buf[T scalar.Scalar](a array.Array[T]) comm.Buf { return comm.Of(a.Mem().Host) }
