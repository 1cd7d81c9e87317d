package cpu

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"
)

//go:noescape
func tapsF64(dst *float64, src *unsafe.Pointer, c *float64, taps, n, add, rows, step, stride, shift int)

//go:noescape
func tapsF32(dst *float32, src *unsafe.Pointer, c *float32, taps, n, add, rows, step, stride, shift int)

//go:noescape
func wideTapsF64(dst *float64, src *unsafe.Pointer, c *float64, taps, n, add, rows, step, stride, shift int)

//go:noescape
func wideTapsF32(dst *float32, src *unsafe.Pointer, c *float32, taps, n, add, rows, step, stride, shift int)

// wideTaps says that sums of taps use registers of 64 bytes. Results are the same.
var wideTaps = cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.BMI2)

// tapsVector sets rows of dst to, or increases them by, the sum of runs, each with its
// factor. There is at least one. The first row is dst, others begin stride components
// after the one before. Runs are as long as dst; for the first row they begin shift
// components after src, and for others step components after those before.
func tapsVector[F float](dst []F, src []unsafe.Pointer, c []F, add bool, rows, step, stride, shift int) {
	flag := 0
	if add {
		flag = 1
	}
	size := int(unsafe.Sizeof(F(0)))
	n := size * len(dst)
	step, stride, shift = size*step, size*stride, size*shift
	switch {
	case size == 8 && wideTaps:
		wideTapsF64(ptr[float64](dst), &src[0], ptr[float64](c), len(src), n, flag, rows, step, stride, shift)
	case size == 8:
		tapsF64(ptr[float64](dst), &src[0], ptr[float64](c), len(src), n, flag, rows, step, stride, shift)
	case wideTaps:
		wideTapsF32(ptr[float32](dst), &src[0], ptr[float32](c), len(src), n, flag, rows, step, stride, shift)
	default:
		tapsF32(ptr[float32](dst), &src[0], ptr[float32](c), len(src), n, flag, rows, step, stride, shift)
	}
}
