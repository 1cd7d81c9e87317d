package comm

import (
	"unsafe"

	"github.com/golops/golops/scalar"
)

// Reducer sets d[i] = a[i] op b[i] for n elements; d may be a or b.
type Reducer func(d, a, b unsafe.Pointer, n int)

// ReducerOf returns the arithmetic of a reduction for communicators, nil where it
// makes no sense. That of Average is a sum, to be followed by Divide.
func ReducerOf(op Op, dt scalar.DType) Reducer { return folds[op][dt] }

// folds has one function for each op and element type, so that a call looks
// up its arithmetic once and loops hold no switch. A nil entry makes no sense.
var folds = [...][8]Reducer{
	Sum:     {1: add[uint8], add[int32], add[int64], add[float32], add[float64], add[complex64], add[complex128]},
	Prod:    {1: mul[uint8], mul[int32], mul[int64], mul[float32], mul[float64], mul[complex64], mul[complex128]},
	Min:     {1: least[uint8], least[int32], least[int64], least[float32], least[float64]},
	Max:     {1: most[uint8], most[int32], most[int64], most[float32], most[float64]},
	Average: {1: add[uint8], add[int32], add[int64], add[float32], add[float64], add[complex64], add[complex128]},
	Replace: {1: second[uint8], second[int32], second[int64], second[float32], second[float64], second[complex64],
		second[complex128]},
	NoOp: {1: first[uint8], first[int32], first[int64], first[float32], first[float64], first[complex64],
		first[complex128]},
}

func add[T scalar.Element](d, a, b unsafe.Pointer, n int) {
	done := vectorAdd(scalar.Of[T](), d, a, b, n)
	D, A, B := slices3[T](d, a, b, n)
	for i := done; i < len(D); i++ {
		D[i] = A[i] + B[i]
	}
}

// AddInto2 sets d[i] = e[i] = a[i] + b[i] for n elements in one pass over
// memory, and reports false, having done nothing, where it has no such loop.
// stream says that the memory is far larger than the caches.
func AddInto2(dt scalar.DType, d, e, a, b unsafe.Pointer, n int, stream bool) bool {
	done := vectorAddTwice(dt, d, e, a, b, n, stream)
	if done == 0 {
		return false
	}
	if left := n - done; left > 0 {
		at := done * dt.Size()
		f := ReducerOf(Sum, dt)
		f(unsafe.Add(d, at), unsafe.Add(a, at), unsafe.Add(b, at), left)
		Move(unsafe.Add(e, at), unsafe.Add(d, at), left*dt.Size())
	}
	return true
}

func mul[T scalar.Element](d, a, b unsafe.Pointer, n int) {
	D, A, B := slices3[T](d, a, b, n)
	for i := range D {
		D[i] = A[i] * B[i]
	}
}

type ordered interface {
	uint8 | int32 | int64 | float32 | float64
}

// least and most keep NaN: a reduction never hides one.
func least[T ordered](d, a, b unsafe.Pointer, n int) {
	D, A, B := slices3[T](d, a, b, n)
	for i := range D {
		D[i] = min(A[i], B[i])
	}
}

func most[T ordered](d, a, b unsafe.Pointer, n int) {
	D, A, B := slices3[T](d, a, b, n)
	for i := range D {
		D[i] = max(A[i], B[i])
	}
}

func second[T scalar.Element](d, _, b unsafe.Pointer, n int) {
	var z T
	Move(d, b, n*int(unsafe.Sizeof(z)))
}

func first[T scalar.Element](d, a, _ unsafe.Pointer, n int) {
	var z T
	Move(d, a, n*int(unsafe.Sizeof(z)))
}

func slices3[T any](d, a, b unsafe.Pointer, n int) (D, A, B []T) {
	D, A, B = unsafe.Slice((*T)(d), n), unsafe.Slice((*T)(a), n), unsafe.Slice((*T)(b), n)
	return D, A[:len(D)], B[:len(D)] // lets the compiler drop the bounds checks
}

// Move copies bytes; d and s may overlap.
func Move(d, s unsafe.Pointer, bytes int) {
	if d != s && bytes > 0 {
		copy(unsafe.Slice((*byte)(d), bytes), unsafe.Slice((*byte)(s), bytes))
	}
}

// Divide turns a sum over ranks into their average.
func Divide(d unsafe.Pointer, dt scalar.DType, n, by int) {
	switch dt {
	case scalar.Uint8:
		for i, s := 0, unsafe.Slice((*uint8)(d), n); i < n; i++ {
			s[i] = uint8(int(s[i]) / by)
		}
	case scalar.Int32:
		quotient[int32](d, n, int32(by))
	case scalar.Int64:
		quotient[int64](d, n, int64(by))
	case scalar.Float32:
		quotient[float32](d, n, float32(by))
	case scalar.Float64:
		quotient[float64](d, n, float64(by))
	case scalar.Complex64: // as pairs of reals: a division by a real number
		quotient[float32](d, 2*n, float32(by))
	case scalar.Complex128:
		quotient[float64](d, 2*n, float64(by))
	}
}

func quotient[T int32 | int64 | float32 | float64](d unsafe.Pointer, n int, by T) {
	s := unsafe.Slice((*T)(d), n)
	for i := range s {
		s[i] /= by
	}
}
