package comm

import (
	"context"
	"errors"
	"fmt"
)

// Registrar is a Comm that may send registered GPU memory faster, for example over
// NVLink or InfiniBand. If the library is too old or the hardware lacks support, its
// calls return errors.ErrUnsupported on all ranks. Memory that is not registered
// works as before.
//
// Both buffers of a call must be registered on all ranks, or on none. In memory of a
// symmetric Alloc all ranks must use the same offsets.
type Registrar interface {
	// Register registers GPU memory of the caller for the collectives of this group.
	// It is collective. Ranks may register different amounts, or nothing.
	Register(ctx context.Context, b Buf) (Registration, error)
	// Alloc allocates n bytes of GPU memory and registers them for the collectives
	// of this group. With symmetric, the memory of all ranks forms one window, and all
	// ranks must give the same n. It is collective.
	Alloc(ctx context.Context, n int, symmetric bool) (Registration, error)
}

// Registration is registered GPU memory.
type Registration interface {
	// Buf returns the memory. That of Alloc has the type uint8.
	Buf() Buf
	// Close ends the registration and frees memory of Alloc. All ranks must close
	// it after all calls that use the memory have completed. Closing the communicator
	// does it too.
	Close(ctx context.Context) error
}

// Register registers b with c. It returns errors.ErrUnsupported if c is no Registrar.
func Register(ctx context.Context, c Comm, b Buf) (Registration, error) {
	r, ok := c.(Registrar)
	if !ok {
		return nil, fmt.Errorf("comm: register memory with %v: %w", c, errors.ErrUnsupported)
	}
	return r.Register(ctx, b)
}

// AllocRegistered allocates n bytes of GPU memory that are registered with c. It
// returns errors.ErrUnsupported if c is no Registrar.
func AllocRegistered(ctx context.Context, c Comm, n int, symmetric bool) (Registration, error) {
	r, ok := c.(Registrar)
	if !ok {
		return nil, fmt.Errorf("comm: register memory with %v: %w", c, errors.ErrUnsupported)
	}
	return r.Alloc(ctx, n, symmetric)
}
