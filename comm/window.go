package comm

import (
	"context"
	"errors"
	"fmt"
)

// LockKind says who else may hold a lock on the same target.
type LockKind uint8

// The kinds of lock.
const (
	Shared LockKind = iota
	Exclusive
)

// Window gives ranks access to each other's memory. Offsets are in elements of the
// target's buffer. All buffers have the element type of the window. An epoch lies
// between two Fences, or between Lock and Unlock of the target. Every access is
// within an epoch. Accumulate and GetAccumulate are atomic for each element. Other
// accesses that conflict within one epoch leave undefined values.
type Window interface {
	// Put copies src into target's buffer at offset.
	Put(ctx context.Context, target, offset int, src Buf) error
	// Get copies target's buffer from offset into dst. The data is there after
	// Fence, Unlock or Flush.
	Get(ctx context.Context, dst Buf, target, offset int) error
	// Accumulate replaces each element x of target's buffer by op(x, src).
	Accumulate(ctx context.Context, target, offset int, src Buf, op Op) error
	// GetAccumulate is Accumulate that leaves the elements' old values in dst.
	GetAccumulate(ctx context.Context, dst Buf, target, offset int, src Buf, op Op) error
	// Fence ends an epoch of all ranks and starts the next. It is collective.
	Fence(ctx context.Context) error
	// Lock starts an epoch on one target; Unlock completes and ends it.
	Lock(ctx context.Context, target int, kind LockKind) error
	Unlock(ctx context.Context, target int) error
	// LockAll starts a shared epoch on every target; UnlockAll ends it.
	LockAll(ctx context.Context) error
	UnlockAll(ctx context.Context) error
	// Flush completes this rank's accesses to target within the epoch.
	Flush(ctx context.Context, target int) error
	// Close ends access to the buffer. It is collective. Later calls return
	// ErrClosed; a second Close does nothing.
	Close(ctx context.Context) error
}

// Windower is a Comm that offers windows.
type Windower interface {
	// Window exposes buf, which may be empty, to all ranks. It is collective,
	// and all ranks give the same element type.
	Window(ctx context.Context, buf Buf) (Window, error)
}

// NewWindow exposes buf to all ranks of c. It returns errors.ErrUnsupported if c has
// no windows.
func NewWindow(ctx context.Context, c Comm, buf Buf) (Window, error) {
	w, ok := c.(Windower)
	if !ok {
		return nil, fmt.Errorf("comm: window over %v: %w", c, errors.ErrUnsupported)
	}
	return w.Window(ctx, buf)
}
