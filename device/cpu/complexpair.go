package cpu

import (
	"unsafe"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// float is a component of an element: the element itself, or one half of a complex
// one. Loops are generic over it. Go computes products of complex64 in 64 bits,
// component by component, which takes twice as long as the loops here.
type float interface{ float32 | float64 }

// pair is a complex element with the memory layout of Go's complex numbers.
type pair[F float] struct{ re, im F }

// flat returns the components of a block of elements: one per real element, two per
// complex element. A real factor acts on both alike.
func (k *kernels[T, F]) flat(m device.Mem[T]) []F {
	return unsafe.Slice((*F)(unsafe.Pointer(unsafe.SliceData(elements(m)))), m.N*k.components)
}

// elements returns memory as a slice. Memory without one, as internal/fakegpu has it,
// is found by its address.
func elements[T scalar.Scalar](m device.Mem[T]) []T {
	if m.Host == nil && m.N > 0 {
		return unsafe.Slice(*(**T)(unsafe.Pointer(&m.Addr)), m.N)
	}
	return m.Host
}

// pairs returns flat components as complex elements.
func pairs[F float](x []F) []pair[F] {
	return unsafe.Slice((*pair[F])(unsafe.Pointer(unsafe.SliceData(x))), len(x)/2)
}

// split returns a factor as a pair. It must be inlined, or v escapes to the heap.
func (k *kernels[T, F]) split(v T) pair[F] {
	if k.components == 1 {
		return pair[F]{re: *(*F)(unsafe.Pointer(&v))}
	}
	return *(*pair[F])(unsafe.Pointer(&v))
}

// memOf returns host memory as a device sees it.
func memOf[T scalar.Scalar](x []T) device.Mem[T] {
	if len(x) == 0 {
		return device.Mem[T]{}
	}
	return device.Mem[T]{Host: x, Addr: uintptr(unsafe.Pointer(unsafe.SliceData(x))), N: len(x)}
}
