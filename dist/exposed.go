package dist

import (
	"context"
	"fmt"

	"github.com/golops/golops/array"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// Way is how blocks travel between ranks.
type Way uint8

const (
	Messages Way = iota // the owner takes part
	OneSided            // ranks read and write windows on each other's memory
)

func (w Way) String() string {
	switch w {
	case Messages:
		return "messages"
	case OneSided:
		return "one-sided"
	}
	return fmt.Sprintf("Way(%d)", uint8(w))
}

// Exposed is memory of the ranks of a group that all of them read and add to without
// the help of its owner. Each element is written by Set or Add, never otherwise.
type Exposed[T scalar.Scalar] struct {
	group AxisGroup
	win   *comm.Window
}

// Expose opens a, of any length, to the ranks of a group. It is collective. It needs
// host memory, and a communicator with windows. Proc.Close closes it.
func Expose[T scalar.Scalar](ctx context.Context, r Proc, g AxisGroup, a array.Array[T]) (*Exposed[T], error) {
	w, err := r.openWindow(ctx, g.Comm, buf(a))
	if err != nil {
		return nil, err
	}
	return &Exposed[T]{g, w}, nil
}

// Set replaces this rank's elements and returns when those of all ranks are replaced.
// Before that all ranks must have called Done.
func (e *Exposed[T]) Set(ctx context.Context, a array.Array[T]) error {
	me := e.group.Rank()
	if err := e.win.Put(ctx, me, 0, buf(a)); err != nil {
		return err
	}
	if err := e.win.Flush(ctx, me); err != nil {
		return err
	}
	return e.group.Barrier(ctx)
}

// StartGet starts to copy elements from at on of the rank at a place to dst. They are
// there after Flush.
func (e *Exposed[T]) StartGet(ctx context.Context, dst array.Array[T], place, at int) error {
	return e.win.Get(ctx, buf(dst), place, at)
}

// Add adds a to the elements from at on of the rank at a place. The order in which the
// additions of several ranks happen is open.
func (e *Exposed[T]) Add(ctx context.Context, a array.Array[T], place, at int) error {
	return e.win.Accumulate(ctx, place, at, buf(a), comm.Sum)
}

// Flush waits for what this rank has started with the rank at a place.
func (e *Exposed[T]) Flush(ctx context.Context, place int) error { return e.win.Flush(ctx, place) }

// Done returns when all ranks have called it: until the next Set, none gets or adds.
func (e *Exposed[T]) Done(ctx context.Context) error { return e.group.Barrier(ctx) }
