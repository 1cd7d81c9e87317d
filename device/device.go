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

// ErrClosed reports the use of a device, or of memory on it, after Close. Kernels
// that return no error panic with an error that wraps it, or leave it to the next
// call that returns one.
var ErrClosed = errors.New("the device is closed")

// Device is one place that holds memory and runs kernels, such as the host or
// readNumber GPU. A Device belongs to one rank and is used by one goroutine at a time.
type Device interface {
	String() string
	// Kernels returns the Kernels[T] of the element type, or nil. KernelsFor
	// is the typed way to ask.
	Kernels(dt scalar.DType) any
	// Sync returns when all kernels have ended, with the first error of any.
	Sync(ctx context.Context) error
	Close() error
}

// Mem is N elements on one device. Host is non-nil exactly when the host can
// read them and N is not 0.
type Mem[T scalar.Scalar] struct {
	Host []T
	Addr uintptr
	N    int
}

// SizeError is the value of a panic over memory that is too short for what a
// kernel was asked to do: a caller's bug that would reach into memory of others.
type SizeError string

func (e SizeError) Error() string { return string(e) }

// MustHold panics with SizeError unless n elements are enough for a matrix of rows ×
// cols. Go's slices notice by themselves; native libraries get addresses and read
// or write on.
func MustHold(kernel, matrix string, n, rows, cols int) {
	if rows < 0 || cols < 0 || cols > 0 && rows > n/cols {
		panic(SizeError(fmt.Sprintf("device: %s: %s has %d elements, need %d × %d", kernel, matrix, n, rows, cols)))
	}
}

// KernelsFor returns the kernels of d for T. It is the one place where a
// type-erased device becomes a typed one.
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
