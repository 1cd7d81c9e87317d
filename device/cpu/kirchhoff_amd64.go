package cpu

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"
)

// The loop of Stack without weights uses the vector units where the processor
// has them. What is left of a run, and all else, is plain Go.

//go:noescape
func stackF64(image, trace, src, rec *float64, last, n int)

//go:noescape
func stackF32(image, trace, src, rec *float32, last, n int)

var vectors = cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3)

// stackVector adds one trace to the first points of a part of an image and
// returns how many it has done.
func stackVector[F float](image, trace, src, rec []F) int {
	if !vectors || len(trace) < 2 || len(trace) > 1<<30 {
		return 0
	}
	last := len(trace) - 1
	if unsafe.Sizeof(image[0]) == 8 {
		n := len(image) &^ 3
		if n > 0 {
			stackF64(ptr[float64](image), ptr[float64](trace), ptr[float64](src), ptr[float64](rec), last, n)
		}
		return n
	}
	n := len(image) &^ 7
	if n > 0 {
		stackF32(ptr[float32](image), ptr[float32](trace), ptr[float32](src), ptr[float32](rec), last, n)
	}
	return n
}

// ptr is the memory of x as numbers of type E, which F is.
func ptr[E, F float](x []F) *E { return (*E)(unsafe.Pointer(unsafe.SliceData(x))) }
