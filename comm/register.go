package comm

import (
	"context"
	"errors"
	"fmt"
)

// Registrar is a Comm that may move device memory faster once the library
// behind it knows the memory, as between GPUs with NVLink or over InfiniBand.
// What it cannot do, because the library is too old or the hardware lacks it, is
// errors.ErrUnsupported on all ranks: other memory moves as ever.
//
// Both buffers of a call must be known on all ranks, or none; and in memory of a
// symmetric Alloc all ranks use the same offsets.
type Registrar interface {
	// Register makes device memory of the caller known to the collectives of this
	// group. It is collective; ranks may bring different amounts, or nothing.
	Register(ctx context.Context, b Buf) (Registration, error)
	// Alloc returns n bytes of new device memory that are known to the collectives
	// of this group. With symmetric, they form one window with those of the other
	// ranks, who ask for the same n. It is collective.
	Alloc(ctx context.Context, n int, symmetric bool) (Registration, error)
}

// Registration is device memory that a Registrar knows.
type Registration interface {
	// Buf is the memory, that of Alloc as uint8.
	Buf() Buf
	// Close makes the memory unknown, and frees what Alloc gave. All ranks do so
	// before they use it again, and after all calls that use it have completed.
	// Closing the communicator does it too.
	Close(ctx context.Context) error
}

// Register makes b known to c, or says that c cannot.
func Register(ctx context.Context, c Comm, b Buf) (Registration, error) {
	r, ok := c.(Registrar)
	if !ok {
		return nil, fmt.Errorf("comm: register memory with %v: %w", c, errors.ErrUnsupported)
	}
	return r.Register(ctx, b)
}

// AllocRegistered returns n bytes of device memory that c knows, or says that c
// cannot.
func AllocRegistered(ctx context.Context, c Comm, n int, symmetric bool) (Registration, error) {
	r, ok := c.(Registrar)
	if !ok {
		return nil, fmt.Errorf("comm: register memory with %v: %w", c, errors.ErrUnsupported)
	}
	return r.Alloc(ctx, n, symmetric)
}
