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

func half(op func(a, b float32) float32) Reducer {
	return func(d, a, b unsafe.Pointer, n int) {
		D, A, B := slices3[scalar.Float16](d, a, b, n)
		for i := range D {
			D[i] = scalar.ToFloat16(op(A[i].Float32(), B[i].Float32()))
		}
	}
}

func brain(op func(a, b float32) float32) Reducer {
	return func(d, a, b unsafe.Pointer, n int) {
		D, A, B := slices3[scalar.BFloat16](d, a, b, n)
		for i := range D {
			D[i] = scalar.ToBFloat16(op(A[i].Float32(), B[i].Float32()))
		}
	}
}

func product(a, b float32) float32 { return a * b }
func smaller(a, b float32) float32 { return min(a, b) }
func larger(a, b float32) float32  { return max(a, b) }
