// Package array provides the dense N-d block that one rank holds on one device.
//
// Functions here do arithmetic only. They take dst first, never allocate and,
// unless a number comes back to the host, return no error: a mismatched length
// or device is a caller's bug and panics with Error; a failed kernel comes out
// of the next function that returns an error.
package array

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// Error is the value of every panic of this package.
type Error struct{ msg string }

func (e Error) Error() string { return e.msg }

// Array is a contiguous block of elements on one device, the last axis running
// fastest. It is a header, passed by value like a slice.
type Array[T scalar.Scalar] struct {
	mem   device.Mem[T]
	shape shape.Shape
	dev   device.Device
	k     device.Kernels[T]
	own   *owner
}

// owner stands for memory that the garbage collector does not see. All arrays
// over that memory point to it. When the last of them is gone, its cleanup gives
// the memory back to the device.
type owner struct{ gone runtime.Cleanup }

// New allocates an array of zeros. Memory that is not given back by Free goes
// back when no array over it is left.
func New[T scalar.Scalar](d device.Device, s shape.Shape) (Array[T], error) {
	k, err := device.KernelsFor[T](d)
	if err != nil {
		return Array[T]{}, fmt.Errorf("array: %w", err)
	}
	m, err := k.Alloc(s.Size())
	if err != nil {
		return Array[T]{}, fmt.Errorf("array: alloc %v of %v on %v: %w", s, scalar.Of[T](), d, err)
	}
	a := Array[T]{mem: m, shape: s, dev: d, k: k}
	if free := device.Reclaim(k); free != nil && m.N > 0 {
		a.own = new(owner)
		a.own.gone = runtime.AddCleanup(a.own, free, m)
	}
	return a, nil
}

// FromHost allocates an array with a copy of the elements of src.
func FromHost[T scalar.Scalar](d device.Device, s shape.Shape, src []T) (Array[T], error) {
	if len(src) != s.Size() {
		return Array[T]{}, fmt.Errorf("array: %d elements given for shape %v, which has %d", len(src), s, s.Size())
	}
	a, err := New[T](d, s)
	if err != nil {
		return Array[T]{}, err
	}
	if err := a.CopyIn(src); err != nil {
		a.Free()
		return Array[T]{}, fmt.Errorf("array: copy %v to %v: %w", s, d, err)
	}
	return a, nil
}

// Free gives the memory back to the device. Only the owner, who called New, may.
func (a Array[T]) Free() {
	if a.own != nil {
		a.own.gone.Stop()
	}
	if a.k != nil {
		a.k.Free(a.mem)
	}
}

// Len returns the number of elements.
func (a Array[T]) Len() int { return a.mem.N }

// Shape returns the extents of the block.
func (a Array[T]) Shape() shape.Shape { return a.shape }

// Mem returns the memory of the block.
func (a Array[T]) Mem() device.Mem[T] { return a.mem }

// Device returns where the block lives.
func (a Array[T]) Device() device.Device { return a.dev }

// Slice returns elements lo to hi, in memory order, as an array of one axis
// over the same memory.
func (a Array[T]) Slice(lo, hi int) Array[T] {
	a.made("slice")
	if lo < 0 || hi < lo || hi > a.mem.N {
		panic(Error{fmt.Sprintf("array: slice %d to %d of %v, which has %d elements", lo, hi, a.shape, a.mem.N)})
	}
	a.mem = a.k.Slice(a.mem, lo, hi)
	a.shape = shape.Of(hi - lo)
	return a
}

// Reshape returns the same elements under another shape of the same size.
func (a Array[T]) Reshape(s shape.Shape) Array[T] {
	if s.Size() != a.mem.N {
		panic(Error{fmt.Sprintf("array: reshape %v to %v: %d elements are not %d", a.shape, s, a.mem.N, s.Size())})
	}
	a.shape = s
	return a
}

// CopyIn fills a from host memory.
func (a Array[T]) CopyIn(src []T) error {
	if len(src) != a.mem.N {
		return fmt.Errorf("array: copy in: %d elements for shape %v, which has %d", len(src), a.shape, a.mem.N)
	}
	a.made("copy in")
	return a.k.CopyIn(a.mem, src)
}

// CopyOut copies a to host memory and waits for pending kernels.
func (a Array[T]) CopyOut(dst []T) error {
	if len(dst) != a.mem.N {
		return fmt.Errorf("array: copy out: room for %d elements, shape %v has %d", len(dst), a.shape, a.mem.N)
	}
	a.made("copy out")
	return a.k.CopyOut(dst, a.mem)
}

// Overlap reports whether two arrays share memory. They come by address because
// to copy their headers takes longer.
func Overlap[X, Y scalar.Scalar](x *Array[X], y *Array[Y]) bool {
	a, b := x.mem.Addr, y.mem.Addr
	return a < b+uintptr(y.mem.N)*unsafe.Sizeof(*new(Y)) && b < a+uintptr(x.mem.N)*unsafe.Sizeof(*new(X)) && x.mem.N > 0 && y.mem.N > 0
}

// Parts returns a complex array as a real one of two axes, elements and then the
// real and the imaginary part, over the same memory. R must be the real type of C.
func Parts[R, C scalar.Scalar](a Array[C]) Array[R] {
	a.made("Parts")
	if dc := scalar.Of[C](); !dc.IsComplex() || dc.Size() != 2*scalar.Of[R]().Size() {
		panic(Error{fmt.Sprintf("array: parts of %v are not %v", dc, scalar.Of[R]())})
	}
	if a.shape.NDim() == shape.MaxNDim {
		panic(Error{fmt.Sprintf("array: parts of %v: no room for another axis: Reshape first", a.shape)})
	}
	k, err := device.KernelsFor[R](a.dev)
	if err != nil {
		panic(Error{err.Error()})
	}
	return Array[R]{mem: parts[R](a.mem), shape: shape.Of(a.mem.N, 2), dev: a.dev, k: k, own: a.own}
}

// made panics for the zero Array, which has no device.
func (a *Array[T]) made(op string) {
	if a.k == nil {
		neverMade(op)
	}
}

// neverMade panics. It is a separate function so that made is inlined.
func neverMade(op string) {
	panic(Error{"array: " + op + ": the array was never made: use New or FromHost"})
}

// same panics unless a and b have as many elements and are on one device.
func same[T scalar.Scalar](op string, a, b *Array[T]) {
	if a.k == nil || a.dev != b.dev || a.mem.N != b.mem.N {
		mismatch(op, a, b)
	}
}

// on panics unless a and b are on one device.
func on[T scalar.Scalar](op string, a, b *Array[T]) {
	if a.k == nil || a.dev != b.dev {
		mismatch(op, a, b)
	}
}

func mismatch[T scalar.Scalar](op string, a, b *Array[T]) {
	a.made(op)
	panic(Error{fmt.Sprintf("array: %s: %v on %v does not match %v on %v", op, a.shape, a.dev, b.shape, b.dev)})
}

// holds panics unless the array has n elements and is on d. name is that of the
// argument.
func (a *Array[T]) holds(op, name string, n int, d device.Device) {
	a.made(op)
	if a.mem.N != n || a.dev != d {
		panic(Error{fmt.Sprintf("array: %s: %s has %d elements on %v, needs %d on %v", op, name, a.mem.N, a.dev, n, d)})
	}
}

// must panics if a description does not fit its arrays.
func must(op string, err error) {
	if err != nil {
		panic(Error{fmt.Sprintf("array: %s: %v", op, err)})
	}
}
