package cpu

import (
	"fmt"
	"unsafe"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// kernels is the arithmetic of one element type.
type kernels[T scalar.Scalar] struct {
}

var (
	_ device.Kernels[float32]    = (*kernels[float32])(nil)
	_ device.Kernels[float64]    = (*kernels[float64])(nil)
	_ device.Kernels[complex64]  = (*kernels[complex64])(nil)
	_ device.Kernels[complex128] = (*kernels[complex128])(nil)
)

func memOf[T scalar.Scalar](x []T) device.Mem[T] {
	if len(x) == 0 {
		return device.Mem[T]{}
	}
	return device.Mem[T]{Host: x, Addr: uintptr(unsafe.Pointer(unsafe.SliceData(x))), N: len(x)}
}

func (k *kernels[T]) Alloc(n int) (m device.Mem[T], err error) {
	defer func() { // make panics for a length that no memory can hold
		if r := recover(); r != nil {
			err = fmt.Errorf("cpu: alloc %d %v: %v", n, scalar.Of[T](), r)
		}
	}()
	return memOf(make([]T, n)), nil
}

// Free leaves the memory to the collector.
func (k *kernels[T]) Free(device.Mem[T]) {}

func (k *kernels[T]) Slice(m device.Mem[T], lo, hi int) device.Mem[T] {
	return memOf(m.Host[lo:hi:hi])
}

func (k *kernels[T]) CopyIn(dst device.Mem[T], src []T) error {
	copy(dst.Host, src)
	return nil
}

func (k *kernels[T]) CopyOut(dst []T, src device.Mem[T]) error {
	copy(dst, src.Host)
	return nil
}
