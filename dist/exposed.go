package dist

import (
	"context"
	"fmt"
	"slices"

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
// the help of its owner. Each element is written by Set or Add, never otherwise. Windows
// are over host memory: arrays in GPU memory are copied to it and from it.
type Exposed[T scalar.Scalar] struct {
	group  AxisGroup
	win    *comm.Window
	hidden bool // arrays are in GPU memory
	ways   []staged[T]
	spare  [][]T // host memory that is not in use
}

// staged is host memory on its way to a place, or from it to an array.
type staged[T scalar.Scalar] struct {
	host  []T
	to    array.Array[T] // the zero Array if the elements are on their way to the place
	place int
}

// Expose opens a copy of a, which may have any length, to the ranks of a group, or a
// itself if it is in host memory. It is collective among the ranks of r. It needs a
// communicator with windows. Proc.Close closes it.
func Expose[T scalar.Scalar](ctx context.Context, r Proc, g AxisGroup, a array.Array[T]) (*Exposed[T], error) {
	if err := r.checkWay(ctx, OneSided); err != nil {
		return nil, fmt.Errorf("dist: %w", err)
	}
	e := &Exposed[T]{group: g, hidden: r.shared.hidden}
	b := buf(a)
	if e.hidden {
		host := make([]T, a.Len())
		var err error
		if a.Len() > 0 {
			err = a.CopyOut(host)
		}
		if err := Agree(ctx, r.Comm, "dist: one-sided", err); err != nil {
			return nil, err
		}
		b = comm.Of(host)
	}
	var err error
	e.win, err = r.openWindow(ctx, g.Comm, b)
	return e, err
}

// stage returns n elements of host memory, which Flush gives back.
func (e *Exposed[T]) stage(n, place int, to array.Array[T]) []T {
	i := slices.IndexFunc(e.spare, func(h []T) bool { return cap(h) >= n })
	if i < 0 {
		i = len(e.spare)
		e.spare = append(e.spare, make([]T, n))
	}
	h := e.spare[i][:n]
	e.spare = slices.Delete(e.spare, i, i+1)
	e.ways = append(e.ways, staged[T]{h, to, place})
	return h
}

// out returns the elements of a in host memory, on their way to a place.
func (e *Exposed[T]) out(a array.Array[T], place int) (comm.Buf, error) {
	if !e.hidden || a.Len() == 0 {
		return buf(a), nil
	}
	h := e.stage(a.Len(), place, array.Array[T]{})
	return comm.Of(h), a.CopyOut(h)
}

// Set replaces this rank's elements and returns when those of all ranks are replaced.
// Before that all ranks must have called Done.
func (e *Exposed[T]) Set(ctx context.Context, a array.Array[T]) error {
	me := e.group.Rank()
	b, err := e.out(a, me)
	if err != nil {
		return err
	}
	if err := e.win.Put(ctx, me, 0, b); err != nil {
		return err
	}
	if err := e.Flush(ctx, me); err != nil {
		return err
	}
	return e.group.Barrier(ctx)
}

// StartGet starts to copy elements from at on of the rank at a place to dst. They are
// there after Flush.
func (e *Exposed[T]) StartGet(ctx context.Context, dst array.Array[T], place, at int) error {
	b := buf(dst)
	if e.hidden && dst.Len() > 0 {
		b = comm.Of(e.stage(dst.Len(), place, dst))
	}
	return e.win.Get(ctx, b, place, at)
}

// Add adds a to the elements from at on of the rank at a place. The order in which the
// additions of several ranks happen is open.
func (e *Exposed[T]) Add(ctx context.Context, a array.Array[T], place, at int) error {
	b, err := e.out(a, place)
	if err != nil {
		return err
	}
	return e.win.Accumulate(ctx, place, at, b, comm.Sum)
}

// Flush waits for what this rank has started with the rank at a place.
func (e *Exposed[T]) Flush(ctx context.Context, place int) error {
	err := e.win.Flush(ctx, place)
	left := e.ways[:0]
	for _, w := range e.ways {
		if w.place != place {
			left = append(left, w)
			continue
		}
		if w.to.Len() > 0 && err == nil {
			err = w.to.CopyIn(w.host)
		}
		e.spare = append(e.spare, w.host)
	}
	clear(e.ways[len(left):])
	e.ways = left
	return err
}

// Done returns when all ranks have called it: until the next Set, none gets or adds.
func (e *Exposed[T]) Done(ctx context.Context) error { return e.group.Barrier(ctx) }
