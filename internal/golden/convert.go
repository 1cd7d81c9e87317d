package golden

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/golops/golops/scalar"
)

// Array returns the array of the case called key, in C order, as elements of
// T. It fails the test where a value has no exact T; real values are exact as
// complex ones of the same precision, complex ones are never real.
func Array[T scalar.Scalar](t testing.TB, c Case, key string) (shape []int, data []T) {
	t.Helper()
	return load1[T](t, c, key, true)
}

// Rounded is Array for values that need not be exact in T: PyLops returns
// some results in more precision than it was given.
func Rounded[T scalar.Scalar](t testing.TB, c Case, key string) (shape []int, data []T) {
	t.Helper()
	return load1[T](t, c, key, false)
}

// Ints returns the array of integers or truth values of the case called key,
// in C order; true is 1.
func Ints(t testing.TB, c Case, key string) (shape []int, data []int64) {
	t.Helper()
	a, err := c.read(key)
	if err == nil {
		data, err = ints(a)
	}
	if err != nil {
		t.Fatalf("golden: integers %q of %s: %v", key, c.Name, err)
	}
	return slices.Clone(a.shape), data
}

func load1[T scalar.Scalar](t testing.TB, c Case, key string, exact bool) ([]int, []T) {
	t.Helper()
	a, err := c.read(key)
	var data []T
	if err == nil {
		data, err = convert[T](a, exact)
	}
	if err != nil {
		t.Fatalf("golden: array %q of %s as %v: %v", key, c.Name, scalar.Of[T](), err)
	}
	return slices.Clone(a.shape), data
}

func ints(a array) ([]int64, error) {
	size := itemSize[a.descr]
	out := make([]int64, len(a.data)/size)
	for i := range out {
		b := a.data[i*size:]
		switch a.descr {
		case "i4":
			out[i] = int64(int32(binary.LittleEndian.Uint32(b)))
		case "i8":
			out[i] = int64(binary.LittleEndian.Uint64(b))
		case "b1":
			out[i] = int64(b[0])
		default:
			return nil, fmt.Errorf("stored as %s", a.descr)
		}
	}
	return out, nil
}

// wide returns the elements of a in the widest type there is.
func wide(a array) ([]complex128, error) {
	f4 := func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }
	f8 := func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }
	size := itemSize[a.descr]
	out := make([]complex128, len(a.data)/size)
	for i := range out {
		b := a.data[i*size:]
		switch a.descr {
		case "f4":
			out[i] = complex(f4(b), 0)
		case "f8":
			out[i] = complex(f8(b), 0)
		case "c8":
			out[i] = complex(f4(b), f4(b[4:]))
		case "c16":
			out[i] = complex(f8(b), f8(b[8:]))
		default:
			return nil, fmt.Errorf("stored as %s: see Ints", a.descr)
		}
	}
	return out, nil
}

func convert[T scalar.Scalar](a array, exact bool) ([]T, error) {
	dt := scalar.Of[T]()
	if stored := a.descr[0]; stored == 'c' && !dt.IsComplex() {
		return nil, fmt.Errorf("stored as %s, which is complex", a.descr)
	}
	in, err := wide(a)
	if err != nil {
		return nil, err
	}
	out := make([]T, len(in))
	for i, z := range in {
		var back complex128
		switch p := any(&out[i]).(type) {
		case *float32:
			*p = float32(real(z))
			back = complex(float64(*p), 0)
		case *float64:
			*p = real(z)
			back = z
		case *complex64:
			*p = complex64(z)
			back = complex128(*p)
		case *complex128:
			*p = z
			back = z
		}
		if exact && (!same(real(back), real(z)) || !same(imag(back), imag(z))) {
			return nil, fmt.Errorf("stored as %s: element %d is %v, which has no exact value", a.descr, i, z)
		}
	}
	return out, nil
}

// same is == that holds for NaN too.
func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
