package comm

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"

	"github.com/golops/golops/scalar"
)

// Sums are what programs reduce with, so they use the vector units: Go's
// compiler does not. Everything else, and the last few elements, is plain Go.

//go:noescape
func addF32(d, a, b unsafe.Pointer, n int)

//go:noescape
func addF64(d, a, b unsafe.Pointer, n int)

//go:noescape
func addI32(d, a, b unsafe.Pointer, n int)

//go:noescape
func addI64(d, a, b unsafe.Pointer, n int)

//go:noescape
func addU8(d, a, b unsafe.Pointer, n int)

//go:noescape
func twiceF32(d, e, a, b unsafe.Pointer, n int)

//go:noescape
func twiceF64(d, e, a, b unsafe.Pointer, n int)

//go:noescape
func streamF32(d, e, a, b unsafe.Pointer, n int)

//go:noescape
func streamF64(d, e, a, b unsafe.Pointer, n int)

var avx2 = cpuid.CPU.Supports(cpuid.AVX2)

// vectorAdd adds as many whole blocks of 128 bytes of n elements as there are
// and returns the elements done.
func vectorAdd(dt scalar.DType, d, a, b unsafe.Pointer, n int) int {
	size := dt.Size()
	bytes := n * size &^ 127
	if !avx2 || bytes == 0 {
		return 0
	}
	switch dt {
	case scalar.Float32, scalar.Complex64:
		addF32(d, a, b, bytes)
	case scalar.Float64, scalar.Complex128:
		addF64(d, a, b, bytes)
	case scalar.Int32:
		addI32(d, a, b, bytes)
	case scalar.Int64:
		addI64(d, a, b, bytes)
	case scalar.Uint8:
		addU8(d, a, b, bytes)
	}
	return bytes / size
}

// vectorAddTwice is vectorAdd that writes the sum to d and to e. With stream
// it writes past the caches, if alignment allows, which saves reading lines
// that will be overwritten.
func vectorAddTwice(dt scalar.DType, d, e, a, b unsafe.Pointer, n int, stream bool) int {
	size := dt.Size()
	bytes := n * size &^ 127
	if !avx2 || bytes == 0 {
		return 0
	}
	stream = stream && (uintptr(d)|uintptr(e))%32 == 0
	switch dt {
	case scalar.Float32, scalar.Complex64:
		if stream {
			streamF32(d, e, a, b, bytes)
		} else {
			twiceF32(d, e, a, b, bytes)
		}
	case scalar.Float64, scalar.Complex128:
		if stream {
			streamF64(d, e, a, b, bytes)
		} else {
			twiceF64(d, e, a, b, bytes)
		}
	default:
		return 0
	}
	return bytes / size
}
