package comm

import (
	"context"
	"fmt"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/trace"
)

// Window gives ranks access to each other's memory. Offsets are in elements of the
// target's buffer. All buffers have the element type of the window. An epoch lies
// between two Fences, or between Lock and Unlock of the target. Every access is
// within an epoch. Accumulate and GetAccumulate are atomic for each element. Other
// accesses that conflict within one epoch leave undefined values.
type Window struct {
	c      *Comm
	w      driver.Window
	buf    Buf
	counts []int // sizes of all ranks' buffers
	held   []bool
	all    bool // LockAll holds every target
	closed bool // this rank has closed it
	access driver.Access
}

// Window exposes buf, which may be empty, to all ranks. It is collective, and all
// ranks give the same element type. It returns errors.ErrUnsupported if the transport
// has no windows.
func (c *Comm) Window(ctx context.Context, buf Buf) (*Window, error) {
	switch {
	case c.closed:
		return nil, ErrClosed
	case c.oneSided == nil:
		return nil, c.unsupported("window")
	}
	q := driver.Call{Dst: buf}
	q.CheckWindow()
	w, counts, err := c.oneSided.Window(ctx, &q)
	if err != nil {
		return nil, err
	}
	return &Window{c: c, w: w, buf: buf, counts: counts, held: make([]bool, c.size)}, nil
}

// OneSided returns why ranks cannot write to each other's memory, or nil. It is
// collective, and all ranks get an error or none does: it opens a window and closes it.
func (c *Comm) OneSided(ctx context.Context) error {
	if err := c.info.NoPut; err != nil {
		return err
	}
	w, err := c.Window(ctx, Of(make([]uint8, 1)))
	if err := Agree(ctx, c, err); err != nil {
		return err
	}
	return w.Close(ctx)
}

func (w *Window) run(ctx context.Context, name string) error {
	if w.closed || w.c.closed {
		return ErrClosed
	}
	if err := w.access.Check(name, w.buf, w.counts); err != nil {
		return err
	}
	reg := trace.Begin(ctx, name)
	defer reg.End()
	return w.w.Access(ctx, &w.access)
}

// Put copies src into target's buffer at offset.
func (w *Window) Put(ctx context.Context, target, offset int, src Buf) error {
	w.access = driver.Access{Target: target, Offset: offset, Src: src, Op: Replace}
	return w.run(ctx, "Put")
}

// Get copies target's buffer from offset into dst. The data is there after
// Fence, Unlock or Flush.
func (w *Window) Get(ctx context.Context, dst Buf, target, offset int) error {
	w.access = driver.Access{Target: target, Offset: offset, Dst: dst, Op: NoOp}
	return w.run(ctx, "Get")
}

// Accumulate replaces each element x of target's buffer by op(x, src).
func (w *Window) Accumulate(ctx context.Context, target, offset int, src Buf, op Op) error {
	w.access = driver.Access{Target: target, Offset: offset, Src: src, Op: op, Atomic: true}
	return w.run(ctx, "Accumulate")
}

// GetAccumulate is Accumulate that leaves the elements' old values in dst.
func (w *Window) GetAccumulate(ctx context.Context, dst Buf, target, offset int, src Buf, op Op) error {
	w.access = driver.Access{Target: target, Offset: offset, Dst: dst, Src: src, Op: op, Atomic: true}
	return w.run(ctx, "GetAccumulate")
}

// Fence ends an epoch of all ranks and starts the next. It is collective.
func (w *Window) Fence(ctx context.Context) error {
	if w.closed || w.c.closed {
		return ErrClosed
	}
	reg := trace.Begin(ctx, "Fence")
	defer reg.End()
	return w.w.Fence(ctx)
}

// Lock starts an epoch on one target; Unlock completes and ends it.
func (w *Window) Lock(ctx context.Context, target int, kind LockKind) error {
	if err := w.check("Lock", target); err != nil {
		return err
	}
	if w.held[target] || w.all {
		return fmt.Errorf("comm: Lock: this rank holds a lock on rank %d already", target)
	}
	err := w.w.Lock(ctx, target, kind)
	w.held[target] = err == nil
	return err
}

// Unlock completes this rank's accesses to target and ends the epoch.
func (w *Window) Unlock(ctx context.Context, target int) error {
	if err := w.check("Unlock", target); err != nil {
		return err
	}
	if !w.held[target] {
		return fmt.Errorf("comm: Unlock: this rank holds no lock on rank %d", target)
	}
	w.held[target] = false
	return w.w.Unlock(ctx, target)
}

// LockAll starts a shared epoch on every target; UnlockAll ends it.
func (w *Window) LockAll(ctx context.Context) error {
	if w.closed || w.c.closed {
		return ErrClosed
	}
	if t := w.locked(); t >= 0 {
		return fmt.Errorf("comm: LockAll: this rank holds a lock on rank %d already", t)
	}
	err := w.w.Lock(ctx, driver.Everyone, Shared)
	w.all = err == nil
	return err
}

// UnlockAll completes this rank's accesses and ends the epoch of LockAll.
func (w *Window) UnlockAll(ctx context.Context) error {
	switch {
	case w.closed || w.c.closed:
		return ErrClosed
	case !w.all:
		return fmt.Errorf("comm: UnlockAll: this rank holds no lock on rank 0")
	}
	w.all = false
	return w.w.Unlock(ctx, driver.Everyone)
}

// Flush completes this rank's accesses to target within the epoch.
func (w *Window) Flush(ctx context.Context, target int) error {
	if err := w.check("Flush", target); err != nil {
		return err
	}
	return w.w.Flush(ctx, target)
}

// Sync lets this rank read, in its own buffer, what others have put there. They have
// flushed it and then sent a message, which this rank has received. All of that is within
// an epoch that the rank holds on itself.
func (w *Window) Sync(ctx context.Context) error {
	if w.closed || w.c.closed {
		return ErrClosed
	}
	return w.w.Sync(ctx)
}

// Close ends access to the buffer. It is collective. Later calls return
// ErrClosed; a second Close does nothing.
func (w *Window) Close(ctx context.Context) error {
	if w.closed {
		return nil
	}
	var fault error
	if t := w.locked(); t >= 0 {
		fault = fmt.Errorf("comm: Close: this rank holds a lock on rank %d of the window: call Unlock first", t)
	}
	if err := w.w.Close(ctx, fault); err != nil {
		return err
	}
	w.closed = true
	return nil
}

// locked returns a target that this rank holds a lock on, or -1.
func (w *Window) locked() int {
	if w.all {
		return 0
	}
	for t, held := range w.held {
		if held {
			return t
		}
	}
	return -1
}

func (w *Window) check(name string, target int) error {
	switch {
	case w.closed || w.c.closed:
		return ErrClosed
	case target < 0 || target >= len(w.counts):
		return fmt.Errorf("comm: %s: target is rank %d, must be from 0 to %d", name, target, len(w.counts)-1)
	}
	return nil
}
