package driver

import (
	"unsafe"

	"github.com/golops/golops/scalar"
)

// Reductions of 16-bit floats compute in float32 and round each result to 16 bits, as
// GPUs do. A sum over many ranks is rounded once per addition.

func addHalf(d, a, b unsafe.Pointer, n int) {
	D, A, B := slices3[scalar.Float16](d, a, b, n)
	for i := range D {
		D[i] = scalar.ToFloat16(A[i].Float32() + B[i].Float32())
	}
}

func addBrain(d, a, b unsafe.Pointer, n int) {
	D, A, B := slices3[scalar.BFloat16](d, a, b, n)
	for i := range D {
		D[i] = scalar.ToBFloat16(A[i].Float32() + B[i].Float32())
	}
}

type float16 interface {
	scalar.Float16 | scalar.BFloat16
	Float32() float32
}

// rounded reduces elements that round makes of float32.
func rounded[T float16](op func(a, b float32) float32, round func(float32) T) Reducer {
	return func(d, a, b unsafe.Pointer, n int) {
		D, A, B := slices3[T](d, a, b, n)
		for i := range D {
			D[i] = round(op(A[i].Float32(), B[i].Float32()))
		}
	}
}

func divideRounded[T float16](d unsafe.Pointer, n, by int, round func(float32) T) {
	s := unsafe.Slice((*T)(d), n)
	for i := range s {
		s[i] = round(s[i].Float32() / float32(by))
	}
}

func product(a, b float32) float32 { return a * b }
func smaller(a, b float32) float32 { return min(a, b) }
func larger(a, b float32) float32  { return max(a, b) }
