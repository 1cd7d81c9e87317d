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

// adders add blocks of 128 bytes. pairAdders write the sum to two places, the second of
// each pair past the caches.
var (
	adders = [scalar.Brain + 1]func(d, a, b unsafe.Pointer, bytes int){
		scalar.Uint8: addU8, scalar.Int32: addI32, scalar.Int64: addI64,
		scalar.Float32: addF32, scalar.Complex64: addF32, scalar.Float64: addF64, scalar.Complex128: addF64,
	}
	pairAdders = [scalar.Brain + 1][2]func(d, e, a, b unsafe.Pointer, bytes int){
		scalar.Float32: {add2F32, stream2F32}, scalar.Complex64: {add2F32, stream2F32},
		scalar.Float64: {add2F64, stream2F64}, scalar.Complex128: {add2F64, stream2F64},
	}
)

// vectorAdd adds the whole blocks of 128 bytes within n elements. It returns how many
// elements it has done.
func vectorAdd(dt scalar.DType, d, a, b unsafe.Pointer, n int) int {
	size := dt.Size()
	bytes := n * size &^ 127
	if !avx2 || bytes == 0 || adders[dt] == nil {
		return 0
	}
	adders[dt](d, a, b, bytes)
	return bytes / size
}

// vectorAddInto2 is vectorAdd that writes the sum to d and to e. With stream it
// bypasses the caches if d and e are aligned. That avoids reading cache lines that
// will be overwritten.
func vectorAddInto2(dt scalar.DType, d, e, a, b unsafe.Pointer, n int, stream bool) int {
	size := dt.Size()
	bytes := n * size &^ 127
	if !avx2 || bytes == 0 || pairAdders[dt][0] == nil {
		return 0
	}
	add := pairAdders[dt][0]
	if stream && (uintptr(d)|uintptr(e))%32 == 0 {
		add = pairAdders[dt][1]
	}
	add(d, e, a, b, bytes)
	return bytes / size
}
