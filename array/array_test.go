package array_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/device/cpu"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

func host(t testing.TB) device.Device {
	t.Helper()
	d, err := cpu.New(cpu.Config{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func of[T scalar.Scalar](t testing.TB, d device.Device, v ...T) array.Array[T] {
	t.Helper()
	a, err := array.FromHost(d, shape.Of(len(v)), v)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func values[T scalar.Scalar](t testing.TB, a array.Array[T]) []T {
	t.Helper()
	v := make([]T, a.Len())
	if err := a.CopyOut(v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestVectors makes each operation once per element type; device/devicetest
// goes into the kernels.
func TestVectors(t *testing.T) {
	t.Run("float32", vectors[float32])
	t.Run("float64", vectors[float64])
	t.Run("complex64", vectors[complex64])
	t.Run("complex128", vectors[complex128])
}

func vectors[T scalar.Scalar](t *testing.T) {
	d := host(t)
	x, y := of[T](t, d, 1, -2, 3), of[T](t, d, 4, 5, -6)
	for name, c := range map[string]struct {
		call func(dst array.Array[T])
		want []T
	}{
		"Copy":      {func(dst array.Array[T]) { array.Copy(dst, x) }, []T{1, -2, 3}},
		"Fill":      {func(dst array.Array[T]) { array.Fill(dst, 7) }, []T{7, 7, 7}},
		"Axpby":     {func(dst array.Array[T]) { array.Axpby(2, x, 3, dst) }, []T{32, 26, 36}},
		"Combine":   {func(dst array.Array[T]) { array.Combine(dst, 2, x, 1, y) }, []T{6, 1, 0}},
		"Mul":       {func(dst array.Array[T]) { array.Mul(dst, x, y) }, []T{4, -10, -18}},
		"MulConj":   {func(dst array.Array[T]) { array.MulConj(dst, x, y) }, []T{4, -10, -18}},
		"Conj":      {func(dst array.Array[T]) { array.Conj(dst, x) }, []T{1, -2, 3}},
		"Threshold": {func(dst array.Array[T]) { array.Threshold(dst, x, device.SoftThreshold, 2) }, []T{0, 0, 1}},
	} {
		dst := of[T](t, d, 10, 10, 10)
		c.call(dst)
		if got := values(t, dst); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
	if got, err := array.Dot(x, y, true); err != nil || got != -24 {
		t.Errorf("Dot: got %v, want -24: %v", got, err)
	}
}

func TestViews(t *testing.T) {
	d := host(t)
	a := of[float64](t, d, 0, 1, 2, 3, 4, 5)
	m := a.Reshape(shape.Of(2, 3))
	if m.Shape() != shape.Of(2, 3) || m.Len() != 6 || m.Device() != d {
		t.Errorf("reshaped: %v, %d elements on %v", m.Shape(), m.Len(), m.Device())
	}
	array.Fill(m.Slice(2, 4), 9)
	if got := values(t, a); !slices.Equal(got, []float64{0, 1, 9, 9, 4, 5}) {
		t.Errorf("the slice and the array have different memory: %v", got)
	}
	if empty := a.Slice(6, 6); empty.Len() != 0 {
		t.Errorf("an empty slice has %d elements", empty.Len())
	}
	z := of(t, d, 1+2i, 3+4i)
	p := array.Parts[float64](z)
	if got := values(t, p); p.Shape() != shape.Of(2, 2) || !slices.Equal(got, []float64{1, 2, 3, 4}) {
		t.Errorf("parts: %v %v", p.Shape(), got)
	}
	array.Fill(p, 5)
	if got := values(t, z); got[1] != 5+5i {
		t.Errorf("parts have memory of their own: %v", got)
	}
	if none := array.Parts[float32](of[complex64](t, d)); none.Len() != 0 {
		t.Errorf("parts of nothing: %d", none.Len())
	}
}

// TestErrors are the mistakes that can come from input, and say what it was.
func TestErrors(t *testing.T) {
	d := host(t)
	a := of[float32](t, d, 1, 2)
	_, noDevice := array.New[float32](nil, shape.Of(1))
	_, tooLong := array.New[float64](d, shape.Of(1<<50))
	_, wrong := array.FromHost(d, shape.Of(2, 2), []float32{1})
	for want, err := range map[string]error{
		"no device":                        noDevice,
		"alloc [1125899906842624]":         tooLong,
		"1 elements given for shape [2 2]": wrong,
		"3 elements for shape [2], which":  a.CopyIn(make([]float32, 3)),
		"room for 1 elements, shape [2]":   a.CopyOut(make([]float32, 1)),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "array: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error that says %q", err, want)
		}
	}
	array.Array[float32]{}.Free() // the zero Array owns nothing
}

// TestPanics are a caller's bugs.
func TestPanics(t *testing.T) {
	d := host(t)
	a, b, other := of[float64](t, d, 1, 2), of[float64](t, d, 1, 2, 3), of[float64](t, host(t), 1, 2)
	deep := of[complex128](t, d, 1).Reshape(shape.Of(1, 1, 1, 1, 1, 1, 1, 1))
	var none array.Array[float64]
	for name, f := range map[string]func(){
		"Copy":             func() { array.Copy(a, b) },
		"Copy, devices":    func() { array.Copy(a, other) },
		"Axpby":            func() { array.Axpby(1, a, 1, b) },
		"Combine":          func() { array.Combine(a, 1, a, 1, b) },
		"Mul":              func() { array.Mul(a, b, a) },
		"MulConj":          func() { array.MulConj(b, b, a) },
		"Conj":             func() { array.Conj(a, b) },
		"Threshold":        func() { array.Threshold(a, b, device.HardThreshold, 1) },
		"Dot":              func() { array.Dot(a, b, true) },
		"Reshape":          func() { a.Reshape(shape.Of(3)) },
		"Slice":            func() { a.Slice(1, 3) },
		"Slice backwards":  func() { a.Slice(2, 1) },
		"Parts of a real":  func() { array.Parts[float32](a) },
		"Parts, precision": func() { array.Parts[float32](of[complex128](t, d, 1)) },
		"Parts, no axis":   func() { array.Parts[float64](deep) },
		"no array":         func() { array.Copy(none, none) },
		"Fill, none":       func() { array.Fill(none, 1) },
		"Dot, none":        func() { array.Dot(none, none, true) },
		"Slice, none":      func() { none.Slice(0, 0) },
		"CopyIn, none":     func() { none.CopyIn(nil) },
		"CopyOut, none":    func() { none.CopyOut(nil) },
	} {
		err := recovered(f)
		if e := (array.Error{}); !errors.As(err, &e) || !strings.HasPrefix(err.Error(), "array: ") {
			t.Errorf("%s: panic %v, want an array.Error", name, err)
		}
	}
}

func recovered(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}

func TestAllocs(t *testing.T) {
	d := host(t)
	x, y := of[complex64](t, d, 1, 2, 3), of[complex64](t, d, 1, 2, 3)
	for name, f := range map[string]func(){
		"Copy":    func() { array.Copy(x, y) },
		"Combine": func() { array.Combine(x, 1, x, 1, y) },
		"Mul":     func() { array.Mul(x, x, y) },
		"Dot":     func() { array.Dot(x, y, true) },
		"Slice":   func() { array.Fill(x.Slice(1, 2), 1) },
		"Reshape": func() { array.Fill(x.Reshape(shape.Of(1, 3)), 1) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func ExampleAxpby() {
	d, _ := cpu.New(cpu.Config{})
	defer d.Close()
	x, _ := array.FromHost(d, shape.Of(3), []float64{1, 2, 3})
	y, _ := array.FromHost(d, shape.Of(3), []float64{10, 20, 30})
	array.Axpby(2, x, 1, y) // y = 2x + y
	fmt.Println(y.Mem().Host)
	// Output: [12 24 36]
}
