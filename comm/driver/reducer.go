package driver

import (
	"unsafe"

	"github.com/golops/golops/scalar"
)

// Reducer sets d[i] = a[i] op b[i] for n elements; d may be a or b.
type Reducer func(d, a, b unsafe.Pointer, n int)

// ReducerOf returns the function for op on elements of type dt, or nil if op makes
// no sense for them. For Average it is the sum; call Divide afterwards.
func ReducerOf(op Op, dt scalar.DType) Reducer {
	if op == Average {
		op = Sum
	}
	return reducers[op][dt]
}

// reducers has one function for each op and element type. A call looks it up once,
// so that loops hold no switch. The entry is nil where op makes no sense.
var reducers = [...][scalar.Brain + 1]Reducer{
	Sum: {1: add[uint8], add[int32], add[int64], add[float32], add[float64], add[complex64], add[complex128],
		addHalf, addBrain},
	Prod: {1: mul[uint8], mul[int32], mul[int64], mul[float32], mul[float64], mul[complex64], mul[complex128],
		rounded(product, scalar.ToFloat16), rounded(product, scalar.ToBFloat16)},
	Min: {1: minimum[uint8], minimum[int32], minimum[int64], minimum[float32], minimum[float64],
		scalar.Half: rounded(smaller, scalar.ToFloat16), scalar.Brain: rounded(smaller, scalar.ToBFloat16)},
	Max: {1: maximum[uint8], maximum[int32], maximum[int64], maximum[float32], maximum[float64],
		scalar.Half: rounded(larger, scalar.ToFloat16), scalar.Brain: rounded(larger, scalar.ToBFloat16)},
	Replace: {1: second[uint8], second[int32], second[int64], second[float32], second[float64], second[complex64],
		second[complex128], second[scalar.Float16], second[scalar.BFloat16]},
	NoOp: {1: first[uint8], first[int32], first[int64], first[float32], first[float64], first[complex64],
		first[complex128], first[scalar.Float16], first[scalar.BFloat16]},
}

type number interface {
	uint8 | int32 | int64 | scalar.Scalar
}

func add[T number](d, a, b unsafe.Pointer, n int) {
	done := vectorAdd(scalar.Of[T](), d, a, b, n)
	D, A, B := slices3[T](d, a, b, n)
	for i := done; i < len(D); i++ {
		D[i] = A[i] + B[i]
	}
}

// AddInto2 sets d[i] = e[i] = a[i] + b[i] for n elements in one pass over memory.
// It returns false and does nothing if it has no loop for dt. stream says that the
// memory is far larger than the caches.
func AddInto2(dt scalar.DType, d, e, a, b unsafe.Pointer, n int, stream bool) bool {
	done := vectorAddInto2(dt, d, e, a, b, n, stream)
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

func mul[T number](d, a, b unsafe.Pointer, n int) {
	D, A, B := slices3[T](d, a, b, n)
	for i := range D {
		D[i] = A[i] * B[i]
	}
}

type ordered interface {
	uint8 | int32 | int64 | float32 | float64
}

// minimum and maximum keep NaN: a reduction never hides one.
func minimum[T ordered](d, a, b unsafe.Pointer, n int) {
	D, A, B := slices3[T](d, a, b, n)
	for i := range D {
		D[i] = min(A[i], B[i])
	}
}

func maximum[T ordered](d, a, b unsafe.Pointer, n int) {
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

// Divide turns the sum over by ranks into their average.
func Divide(d unsafe.Pointer, dt scalar.DType, n, by int) {
	switch dt {
	case scalar.Uint8:
		for i, s := 0, unsafe.Slice((*uint8)(d), n); i < n; i++ {
			s[i] = uint8(int(s[i]) / by)
		}
	case scalar.Int32:
		divideBy[int32](d, n, int32(by))
	case scalar.Int64:
		divideBy[int64](d, n, int64(by))
	case scalar.Float32:
		divideBy[float32](d, n, float32(by))
	case scalar.Float64:
		divideBy[float64](d, n, float64(by))
	case scalar.Complex64: // as pairs of reals: a division by a real number
		divideBy[float32](d, 2*n, float32(by))
	case scalar.Complex128:
		divideBy[float64](d, 2*n, float64(by))
	case scalar.Half:
		divideRounded(d, n, by, scalar.ToFloat16)
	case scalar.Brain:
		divideRounded(d, n, by, scalar.ToBFloat16)
	}
}

func divideBy[T int32 | int64 | float32 | float64](d unsafe.Pointer, n int, by T) {
	s := unsafe.Slice((*T)(d), n)
	for i := range s {
		s[i] /= by
	}
}
