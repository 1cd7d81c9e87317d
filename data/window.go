package data

import (
	"github.com/golops/golops/array"
	"github.com/golops/golops/scalar"
)

// window goes through the elements of a block in order, on the host. Where the
// block is on a device with memory of its own, a part of it at a time is copied.
type window[T scalar.Scalar] struct {
	block    array.Array[T]
	at       int // elements of the block before room
	room     []T // the block itself if the host reads it
	next, to int // elements of room that were given out, and that are to be
}

func newWindow[T scalar.Scalar](block array.Array[T]) *window[T] {
	w := &window[T]{block: block, room: block.Mem().Host, to: block.Len()}
	if w.room == nil {
		w.room, w.to = make([]T, min(block.Len(), max(1, chunk/scalar.Of[T]().Size()))), 0
	}
	return w
}

func (w *window[T]) hidden() bool { return w.block.Mem().Host == nil }

// write returns room for at most n elements, the next ones of the block.
func (w *window[T]) write(n int) ([]T, error) {
	if w.hidden() && w.next == w.to {
		if err := w.flush(); err != nil {
			return nil, err
		}
		w.to = min(len(w.room), w.block.Len()-w.at)
	}
	return w.take(n), nil
}

// flush copies what was written to the device.
func (w *window[T]) flush() error {
	if !w.hidden() || w.next == 0 {
		return nil
	}
	err := w.block.Slice(w.at, w.at+w.next).CopyIn(w.room[:w.next])
	w.at, w.next, w.to = w.at+w.next, 0, 0
	return err
}

// read returns at most n elements, the next ones of the block.
func (w *window[T]) read(n int) ([]T, error) {
	if w.hidden() && w.next == w.to {
		w.at, w.next, w.to = w.at+w.to, 0, min(len(w.room), w.block.Len()-w.at-w.to)
		if err := w.block.Slice(w.at, w.at+w.to).CopyOut(w.room[:w.to]); err != nil {
			return nil, err
		}
	}
	return w.take(n), nil
}

func (w *window[T]) take(n int) []T {
	n = min(n, w.to-w.next)
	w.next += n
	return w.room[w.next-n : w.next]
}
