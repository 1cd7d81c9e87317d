package dist

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/golops/golops/array"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// checkWay returns why r cannot go a way, on every rank. The first call that asks for
// OneSided is collective.
func (r Proc) checkWay(ctx context.Context, w Way) error {
	if w == Messages || r.Size() == 1 || r.shared.putsWork {
		return nil
	}
	one, err := array.New[float64](r.Device, shape.Of(1))
	if err := comm.Agree(ctx, r.Comm, err); err != nil {
		return err
	}
	r.shared.hidden = one.Mem().Host == nil
	one.Free()
	if err := r.OneSided(ctx); err != nil {
		return fmt.Errorf("layout with way OneSided: %w", err)
	}
	r.shared.putsWork = true
	return nil
}

// mailbox is host memory of each rank of a Proc into which others put elements of one
// type. Exchanges share it, because a window takes long to make, and MPI has room for a
// few thousand only. It grows by one window at a time.
type mailbox[T scalar.Scalar] struct {
	boxes []*box[T]
}

// box is one window of a mailbox and this rank's memory of it.
type box[T scalar.Scalar] struct {
	win  *comm.Window
	mem  []T
	over array.Array[T] // mem, if arrays are in host memory
	used int
	// live counts the exchanges with memory here. When the last one is gone, all of the
	// memory is free. Cleanups run beside the rank.
	live atomic.Int32
}

// mailboxOf returns the mailbox of a Proc for elements of type T.
func mailboxOf[T scalar.Scalar](r Proc) *mailbox[T] {
	for _, m := range r.shared.mailboxes {
		if m, ok := m.(*mailbox[T]); ok {
			return m
		}
	}
	m := &mailbox[T]{}
	r.shared.mailboxes = append(r.shared.mailboxes, m)
	return m
}

// take returns n elements of this rank's memory: the number of their box, -1 for none, and
// their place in it. It is collective. It opens a window if any rank has no room.
func (m *mailbox[T]) take(ctx context.Context, r Proc, n int) (number, at int, err error) {
	short, more := []int32{0}, 0
	if number, _ = m.find(n); number < 0 && n > 0 {
		short[0], more = 1, max(n, 2*m.size())
	}
	if err := r.AllReduce(ctx, comm.Of(short), comm.Of(short).Labelled(labelPut), comm.Max); err != nil {
		return 0, 0, err
	}
	if short[0] != 0 {
		if err := m.grow(ctx, r, more); err != nil {
			return 0, 0, err
		}
	}
	if number, at = m.find(n); number >= 0 {
		b := m.boxes[number]
		b.used = at + n
		b.live.Add(1)
	}
	return number, at, nil
}

// find returns a box with room for n elements, or -1 if there is none or n is 0.
func (m *mailbox[T]) find(n int) (number, at int) {
	for i, b := range m.boxes {
		if n == 0 {
			break
		}
		if b.live.Load() == 0 {
			b.used = 0
		}
		if len(b.mem)-b.used >= n {
			return i, b.used
		}
	}
	return -1, 0
}

// size returns how many elements all boxes hold.
func (m *mailbox[T]) size() (n int) {
	for _, b := range m.boxes {
		n += len(b.mem)
	}
	return n
}

// grow opens a window over n more elements. It is collective, and n may differ.
func (m *mailbox[T]) grow(ctx context.Context, r Proc, n int) error {
	b := &box[T]{}
	var err error
	if !r.shared.hidden {
		b.over, err = array.New[T](r.Device, shape.Of(n))
		b.mem = b.over.Mem().Host
	} else {
		b.mem = make([]T, n)
	}
	if err := comm.Agree(ctx, r.Comm, err); err != nil {
		return err
	}
	if b.win, err = r.openWindow(ctx, r.Comm, comm.Of(b.mem)); err != nil {
		return err
	}
	m.boxes = append(m.boxes, b)
	return nil
}

// openWindow opens memory to a group, for as long as r is open.
func (r Proc) openWindow(ctx context.Context, c *comm.Comm, b comm.Buf) (*comm.Window, error) {
	w, err := c.Window(ctx, b)
	if err == nil {
		err = w.LockAll(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("dist: one-sided: %w", err)
	}
	r.shared.windows = append(r.shared.windows, w)
	return w, nil
}

// distinct returns the peers of all legs, each once.
func distinct(legs ...[]leg) (peers []int) {
	for _, l := range slices.Concat(legs...) {
		if !slices.Contains(peers, l.peer) {
			peers = append(peers, l.peer)
		}
	}
	return peers
}
