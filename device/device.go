// Package device defines where arrays live and the arithmetic that can be done
// there.
package device

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/scalar"
)

// ErrUnsupported reports a kernel or element type that a device lacks.
var ErrUnsupported = errors.New("not supported by this device")

// ErrClosed reports the use of a device, or of memory on it, after Close. A kernel
// that returns no error panics with an error that wraps it, or the next call that
// returns an error reports it.
var ErrClosed = errors.New("the device is closed")

// Device holds memory and runs kernels: the host or one GPU. A Device belongs to
// one rank and is used by one goroutine at a time.
type Device interface {
	String() string
	// Info says what the device is and what it can do. It never changes.
	Info() Info
	// Kernels returns the Kernels[T] of the element type, or nil. Callers that
	// know T use KernelsFor.
	Kernels(dt scalar.DType) any
	// Sync waits for all kernels and returns their first error.
	Sync(ctx context.Context) error
	Close() error
}

// Info says what a device is and what it can do. A zero field means that the device
// does not have it.
type Info struct {
	Platform string // "cuda" or "hip" for a GPU, "" for the host
	Index    int    // of a GPU among those that this process sees
	Threads  int    // of the host that kernels use; 0 means that kernels run elsewhere
	// Memory returns the bytes that are free and all bytes of the device. nil means
	// that arrays lie in the host's memory.
	Memory func() (free, total int)
	// OnWait registers a function that long waits for the device call now and then.
	// A communicator uses it to go on, and returns an error to end the wait. stop
	// removes the function. nil means that the host never waits for kernels.
	OnWait func(f func() error) (stop func())
	// AsyncSums says that DotInto, AxpyNormInto and NormInto do not wait for the sum.
	AsyncSums bool
}

// Mem is N elements on one device. Host is nil if N is 0 or if the memory is GPU
// memory.
type Mem[T scalar.Scalar] struct {
	Host []T
	Addr uintptr
	N    int
}

// SizeError is the panic value of a kernel whose arguments need more elements than
// the memory has. That is a caller's bug: the kernel would read or write beyond it.
type SizeError string

func (e SizeError) Error() string { return string(e) }

// MustHold panics with SizeError if a matrix of rows × cols does not fit into n
// elements. Kernels call it before they hand addresses to a native library, which
// checks no bounds.
func MustHold(kernel, matrix string, n, rows, cols int) {
	if rows < 0 || cols < 0 || cols > 0 && rows > n/cols {
		panic(SizeError(fmt.Sprintf("device: %s: %s has %d elements, need %d × %d", kernel, matrix, n, rows, cols)))
	}
}

// KernelsFor returns the kernels of d for T.
func KernelsFor[T scalar.Scalar](d Device) (Kernels[T], error) {
	if d == nil {
		return nil, errors.New("device: no device given")
	}
	k, ok := d.Kernels(scalar.Of[T]()).(Kernels[T])
	if !ok {
		return nil, fmt.Errorf("device: element type %v on %v: %w", scalar.Of[T](), d, ErrUnsupported)
	}
	return k, nil
}
