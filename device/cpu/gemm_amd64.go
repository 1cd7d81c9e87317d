package cpu

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"
)

//go:noescape
func tileF64(c, a, b *float64, stride, depth int, alpha float64)

//go:noescape
func tileF32(c, a, b *float32, stride, depth int, alpha float32)

// wider says that the processor has wider vector units than are used here, so
// that a native library may multiply matrices faster.
var wider = cpuid.CPU.Supports(cpuid.AVX512F)

// vectorTile returns the rows and columns of the tiles of C that the vector units
// multiply, 0 if there are none: six rows of two registers.
func vectorTile[F float]() (rows, cols int) {
	if !vectors {
		return 0, 0
	}
	return 6, 64 / int(unsafe.Sizeof(F(0)))
}

// tileVector adds alpha times the product of two strips to a tile of C, whose
// rows are stride elements apart.
func tileVector[F float](c, a, b []F, stride, depth int, alpha F) {
	if unsafe.Sizeof(F(0)) == 8 {
		tileF64(ptr[float64](c), ptr[float64](a), ptr[float64](b), 8*stride, depth, float64(alpha))
	} else {
		tileF32(ptr[float32](c), ptr[float32](a), ptr[float32](b), 4*stride, depth, float32(alpha))
	}
}
