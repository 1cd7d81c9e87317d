package cpu

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"
)

var vectors = cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3)

// pointRun is the arguments of the loops in assembly. Factors are nil without
// weights.
type pointRun struct {
	image, trace, src, rec unsafe.Pointer
	s0, r0, s1, r1         unsafe.Pointer
	last, bytes            int // the last sample; the bytes of a run
}

//go:noescape
func spreadF64(run *pointRun)

//go:noescape
func spreadF32(run *pointRun)

//go:noescape
func stackF64(run *pointRun)

//go:noescape
func stackF32(run *pointRun)

// vectorRun returns how many of n points the vector units take, and their arguments.
func vectorRun[F float](image, trace []F, samples int, w *pairRows[F]) (int, pointRun) {
	size := int(unsafe.Sizeof(F(0)))
	n := len(image) &^ (32/size - 1)
	if !vectors || n == 0 || samples < 2 || samples > 1<<24 { // 32 bits hold an index into the sums of a trace
		return 0, pointRun{}
	}
	return n, pointRun{
		image: unsafe.Pointer(&image[0]), trace: unsafe.Pointer(&trace[0]), src: unsafe.Pointer(&w.src[0]), rec: unsafe.Pointer(&w.rec[0]),
		s0: unsafe.Pointer(unsafe.SliceData(w.s0)), r0: unsafe.Pointer(unsafe.SliceData(w.r0)),
		s1: unsafe.Pointer(unsafe.SliceData(w.s1)), r1: unsafe.Pointer(unsafe.SliceData(w.r1)),
		last: samples - 1, bytes: n * size,
	}
}

// spreadVector is spreadPoints for the first points, and returns how many.
func spreadVector[F float](sums, image []F, samples int, w *pairRows[F]) int {
	n, run := vectorRun(image, sums, samples, w)
	switch {
	case n == 0:
	case unsafe.Sizeof(F(0)) == 8:
		spreadF64(&run)
	default:
		spreadF32(&run)
	}
	return n
}

// stackVector is stackPoints for the first points, and returns how many.
func stackVector[F float](image, trace []F, w *pairRows[F]) int {
	n, run := vectorRun(image, trace, len(trace), w)
	switch {
	case n == 0:
	case unsafe.Sizeof(F(0)) == 8:
		stackF64(&run)
	default:
		stackF32(&run)
	}
	return n
}

// ptr is the memory of x as numbers of type E, which F is.
func ptr[E, F float](x []F) *E { return (*E)(unsafe.Pointer(unsafe.SliceData(x))) }
