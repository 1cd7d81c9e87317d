package comm

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// The types that users and drivers share: see package driver.
type (
	Buf           = driver.Buf
	Label         = driver.Label
	Op            = driver.Op
	Leg           = driver.Leg
	LockKind      = driver.LockKind
	Registration  = driver.Registration
	AbortError    = driver.AbortError
	MismatchError = driver.MismatchError
	RankError     = driver.RankError
)

// The reductions. Average divides the sum by the number of ranks; for
// integers the quotient is truncated towards zero. Replace and NoOp exist for
// Window.Accumulate and Window.GetAccumulate only.
const (
	Sum     = driver.Sum
	Prod    = driver.Prod
	Min     = driver.Min
	Max     = driver.Max
	Average = driver.Average
	Replace = driver.Replace
	NoOp    = driver.NoOp
)

// OnHost is memory that the host can read. OnDevice is memory of the GPU that the
// communicator was made for.
const (
	OnHost   = driver.OnHost
	OnDevice = driver.OnDevice
)

// The kinds of lock.
const (
	Shared    = driver.Shared
	Exclusive = driver.Exclusive
)

// Nobody is the rank that SendRecv neither sends to nor receives from. NoColor is the
// color of a rank that joins no group of a Split.
const (
	Nobody  = driver.Nobody
	NoColor = driver.NoColor
)

// ErrClosed is the error of a call on a communicator or a window that this rank
// has closed.
var ErrClosed = driver.ErrClosed

// Of wraps a slice. The communicator uses the slice's memory, without a copy.
func Of[T scalar.Element](s []T) Buf { return driver.Of(s) }

// OfMem wraps memory of a device, host or GPU, without a copy.
func OfMem[T scalar.Scalar](m device.Mem[T]) Buf { return driver.OfMem(m) }

// As returns the elements of b as a slice over the same memory. It panics if
// b holds another element type.
func As[T scalar.Element](b Buf) []T { return driver.As[T](b) }

// LabelOf packs text into a Label. It keeps the first eight bytes.
func LabelOf(text string) Label { return driver.LabelOf(text) }

// unsupported is the error of an ability that the driver does not have.
func (c *Comm) unsupported(what string) error {
	return fmt.Errorf("comm: %s over %v: %w", what, c, errors.ErrUnsupported)
}

// Register registers GPU memory for the collectives of this group, which may make them
// faster: see driver.Registrar. It is collective. It returns errors.ErrUnsupported if
// the transport registers no memory.
func (c *Comm) Register(ctx context.Context, b Buf) (Registration, error) {
	switch {
	case c.closed:
		return nil, ErrClosed
	case c.registrar == nil:
		return nil, c.unsupported("registered memory")
	}
	return c.registrar.Register(ctx, b)
}

// AllocRegistered allocates n bytes of GPU memory that are registered. With symmetric,
// the memory of all ranks forms one window, and all ranks must give the same n. It is
// collective.
func (c *Comm) AllocRegistered(ctx context.Context, n int, symmetric bool) (Registration, error) {
	switch {
	case c.closed:
		return nil, ErrClosed
	case c.registrar == nil:
		return nil, c.unsupported("registered memory")
	}
	return c.registrar.Alloc(ctx, n, symmetric)
}
