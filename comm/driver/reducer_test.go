package driver

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/golops/golops/scalar"
)

// TestAddAgrees compares the vector loops with plain Go at every length and
// alignment around a block.
func TestAddAgrees(t *testing.T) {
	testAdd[uint8](t)
	testAdd[int32](t)
	testAdd[int64](t)
	testAdd[float32](t)
	testAdd[float64](t)
	testAdd[complex64](t)
	testAdd[complex128](t)
}

func testAdd[T scalar.Element](t *testing.T) {
	dt := scalar.Of[T]()
	t.Run(dt.String(), func(t *testing.T) {
		const room = 700
		a, b := make([]T, room), make([]T, room)
		for i := range a {
			a[i], b[i] = small[T](i), small[T](3*i+1)
		}
		for n := range 300 {
			for _, off := range []int{0, 1, 5} {
				for _, stream := range []bool{false, true} {
					d, e := make([]T, room), make([]T, room)
					ReducerOf(Sum, dt)(unsafe.Pointer(&d[off]), unsafe.Pointer(&a[off]), unsafe.Pointer(&b[off]), n)
					check(t, "add", n, off, d, a, b)
					d = make([]T, room)
					if AddInto2(dt, unsafe.Pointer(&d[off]), unsafe.Pointer(&e[off]), unsafe.Pointer(&a[off]), unsafe.Pointer(&b[off]), n, stream) {
						check(t, "first of two", n, off, d, a, b)
						check(t, "second of two", n, off, e, a, b)
					}
				}
			}
		}
	})
}

func small[T scalar.Element](i int) T {
	var z T
	switch p := any(&z).(type) {
	case *uint8:
		*p = uint8(i)
	case *int32:
		*p = int32(i)
	case *int64:
		*p = int64(i) << 33
	case *float32:
		*p = float32(i)
	case *float64:
		*p = float64(i)
	case *complex64:
		*p = complex(float32(i), float32(2*i))
	case *complex128:
		*p = complex(float64(i), float64(2*i))
	}
	return z
}

func check[T scalar.Element](t *testing.T, what string, n, off int, d, a, b []T) {
	t.Helper()
	for i := range d {
		var want T
		if i >= off && i < off+n {
			want = a[i] + b[i]
		}
		if d[i] != want {
			t.Fatalf("%s: n=%d offset=%d: element %d is %v, want %v", what, n, off, i, d[i], want)
		}
	}
}

// BenchmarkReducer counts the bytes read and written.
func BenchmarkReducer(b *testing.B) {
	const n = 1 << 12
	for _, op := range []Op{Sum, Prod, Max} {
		for _, dt := range []scalar.DType{scalar.Float32, scalar.Float64} {
			b.Run(fmt.Sprintf("%v/%v", op, dt), func(b *testing.B) {
				x, y := make([]float64, n), make([]float64, n)
				b.SetBytes(int64(3 * n * dt.Size()))
				for b.Loop() {
					ReducerOf(op, dt)(unsafe.Pointer(&x[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), n)
				}
			})
		}
	}
}
