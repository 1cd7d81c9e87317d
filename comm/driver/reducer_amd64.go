package driver

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"

	"github.com/golops/golops/scalar"
)

// Most reductions are sums, so sums use the vector units, which Go's compiler
// does not. Other reductions and the last few elements are plain Go.

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
func add2F32(d, e, a, b unsafe.Pointer, n int)

//go:noescape
func add2F64(d, e, a, b unsafe.Pointer, n int)

//go:noescape
func stream2F32(d, e, a, b unsafe.Pointer, n int)

//go:noescape
func stream2F64(d, e, a, b unsafe.Pointer, n int)

var avx2 = cpuid.CPU.Supports(cpuid.AVX2)

// vectorAdd adds the whole blocks of 128 bytes within n elements. It returns how many
// elements it has done.
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

// vectorAddInto2 is vectorAdd that writes the sum to d and to e. With stream it
// bypasses the caches if d and e are aligned. That avoids reading cache lines that
// will be overwritten.
func vectorAddInto2(dt scalar.DType, d, e, a, b unsafe.Pointer, n int, stream bool) int {
	size := dt.Size()
	bytes := n * size &^ 127
	if !avx2 || bytes == 0 {
		return 0
	}
	stream = stream && (uintptr(d)|uintptr(e))%32 == 0
	switch dt {
	case scalar.Float32, scalar.Complex64:
		if stream {
			stream2F32(d, e, a, b, bytes)
		} else {
			add2F32(d, e, a, b, bytes)
		}
	case scalar.Float64, scalar.Complex128:
		if stream {
			stream2F64(d, e, a, b, bytes)
		} else {
			add2F64(d, e, a, b, bytes)
		}
	default:
		return 0
	}
	return bytes / size
}
