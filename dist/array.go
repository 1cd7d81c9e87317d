package dist

import (
	"context"
	"fmt"

	"github.com/golops/golops/array"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// Array is a vector of a Space: this rank's block of it, or the blocks of a stack.
// It is a header, passed by value like a slice.
type Array[T scalar.Scalar] struct {
	space  *Space
	local  array.Array[T]   // the block, unless the space is a stack
	blocks []array.Array[T] // of a stack: one for each leaf of the space
}

// New allocates the zero vector of s. It does not communicate.
func New[T scalar.Scalar](s *Space) (Array[T], error) {
	given("New", s)
	a := Array[T]{space: s}
	if s.parts != nil {
		a.blocks = make([]array.Array[T], len(s.leaves))
	}
	for i, leaf := range s.leaves {
		b, err := array.New[T](s.proc.Device, leaf.local)
		if err != nil {
			a.Free()
			return Array[T]{}, fmt.Errorf("dist: new array: %w", err)
		}
		*a.block(i) = b
	}
	return a, nil
}

// Wrap returns the array of s whose block is local, over the same memory. A
// block of the wrong size is a bug and panics.
func Wrap[T scalar.Scalar](s *Space, local array.Array[T]) Array[T] {
	given("Wrap", s)
	if local.Device() == nil && local.Len() == 0 && s.proc.Device != nil {
		panic(LayoutError("dist: Wrap: the block was never made: use array.New"))
	}
	return Array[T]{space: s, local: local.Reshape(s.local)}
}

// FromBlock returns an array with a copy of each rank's own block, which must
// have as many elements as the space gives the rank. It is collective. The
// copies of a Checked array become that of rank 0.
func FromBlock[T scalar.Scalar](ctx context.Context, s *Space, block []T) (Array[T], error) {
	a, err := New[T](s)
	if err == nil && s.parts != nil {
		err = fmt.Errorf("a stack has no block: fill its parts")
	}
	if err == nil {
		err = a.local.CopyIn(block)
	}
	if err = Agree(ctx, s.Comm(), "dist: array from blocks", err); err == nil {
		err = a.Sync(ctx)
	}
	return a.orFree(err)
}

// FromFunc returns the array with element f(i) at global index i. f must not
// keep i. With Checked replication it is collective.
func FromFunc[T scalar.Scalar](ctx context.Context, s *Space, f func(i []int) T) (Array[T], error) {
	given("FromFunc", s)
	if s.parts != nil {
		return Array[T]{}, fmt.Errorf("dist: array from function: a stack has no global index: fill its parts")
	}
	a, err := New[T](s)
	if err != nil {
		return a, err
	}
	n := s.shape.NDim()
	i := append([]int(nil), s.box.Lo[:n]...)
	return a.orFree(a.fill(ctx, func(host []T) {
		for k := range host {
			host[k] = f(i)
			for d := n - 1; d >= 0; d-- {
				if i[d]++; i[d] < s.box.Hi[d] {
					break
				}
				i[d] = s.box.Lo[d]
			}
		}
	}))
}

// fill sets the elements of a block to those that f sets.
func (a Array[T]) fill(ctx context.Context, f func(host []T)) error {
	host, err := device.Make[T](a.local.Len())
	if err != nil {
		return fmt.Errorf("dist: fill an array: %w", err)
	}
	f(host)
	if err := a.local.CopyIn(host); err != nil {
		return err
	}
	return a.Sync(ctx)
}

// orFree returns a, or frees it if there is an error.
func (a Array[T]) orFree(err error) (Array[T], error) {
	if err != nil {
		a.Free()
		return Array[T]{}, err
	}
	return a, nil
}

// Sync makes the copies of a Checked array equal to that of rank 0, or, in the
// debug mode of its layout, reports a rank whose copy differs and where. Arrays
// of other layouts are left alone. It is collective.
func (a Array[T]) Sync(ctx context.Context) error {
	for i, leaf := range a.given("Sync").leaves {
		var err error
		switch {
		case leaf.layout.Replicate != Checked || leaf.proc.Size() == 1:
		case leaf.layout.Debug:
			err = a.Leaf(i).compare(ctx)
		default:
			err = leaf.Comm().Broadcast(ctx, buf(*a.block(i)).Labelled(labelSync), 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compare reports the first element that is not what it is on rank 0. NaN
// equals NaN here.
func (a Array[T]) compare(ctx context.Context) error {
	s := a.space
	mine, err := a.Host()
	want := append([]T(nil), mine...)
	if err = Agree(ctx, s.Comm(), "dist: compare copies of an array", err); err != nil {
		return err
	}
	if err := s.Comm().Broadcast(ctx, comm.Of(want).Labelled(labelSync), 0); err != nil {
		return err
	}
	for i, v := range mine {
		if w := want[i]; v != w && (v == v || w == w) {
			err = fmt.Errorf("element %v is %v, on rank 0 it is %v", s.index(i), v, w)
			break
		}
	}
	return Agree(ctx, s.Comm(), "dist: copies of a checked array differ", err)
}

// index returns the global index of element i of this rank's block.
func (s *Space) index(i int) []int {
	at := make([]int, s.shape.NDim())
	for a := len(at) - 1; a >= 0; a-- {
		n := s.local.Dim(a)
		at[a] = s.box.Lo[a] + i%n
		i /= n
	}
	return at
}

// Free gives the memory of the array back to its device. Only the owner may.
func (a Array[T]) Free() {
	a.local.Free()
	for i := range a.blocks {
		a.blocks[i].Free()
	}
}

// Space returns the space that a is a vector of.
func (a Array[T]) Space() *Space { return a.space }

// Local returns this rank's block. A stack has none and panics.
func (a Array[T]) Local() array.Array[T] {
	if a.blocks != nil || a.space == nil {
		a.noLocal()
	}
	return a.local
}

func (a *Array[T]) noLocal() {
	a.given("Local")
	panic(LayoutError("dist: local block of a stack: ask for a Part"))
}

// Alone returns this rank's block as an array of one rank, over the same
// memory, with the space that s.Alone made of a's space.
func (a Array[T]) Alone(s *Space) Array[T] {
	a.given("Alone")
	given("Alone", s)
	for i, leaf := range s.leaves {
		a.block(i).Reshape(leaf.local) // panics unless the blocks are those of s
	}
	a.space = s
	return a
}

// Host returns a copy of this rank's block on the host, of a stack those of all
// its parts one after another.
func (a Array[T]) Host() ([]T, error) {
	s := a.given("Host")
	h, err := device.Make[T](s.local.Size())
	if err != nil {
		return nil, fmt.Errorf("dist: copy a block to the host: %w", err)
	}
	at := 0
	for i, leaf := range s.leaves {
		n := leaf.local.Size()
		if err := a.block(i).CopyOut(h[at : at+n]); err != nil {
			return nil, err
		}
		at += n
	}
	return h, nil
}

// buf is the memory of a block as ranks exchange it.
func buf[T scalar.Scalar](a array.Array[T]) comm.Buf { return comm.OfMem(a.Mem()) }
