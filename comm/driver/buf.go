package driver

import (
	"unsafe"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// Buf is an array of elements of any type that a communicator reads or writes. It is a
// header, passed by value like a slice. The zero Buf is empty. It may be given where
// a rank's buffer is not used, such as dst of Reduce on a rank other than root.
type Buf struct {
	DType scalar.DType
	Place Place
	N     int            // elements, not bytes
	Ptr   unsafe.Pointer // first element; may be nil when N is 0
	Label Label          // what the elements mean; 0 means no label
}

// Place says which memory a Buf is in.
type Place uint8

// OnHost is memory that the host can read. OnDevice is memory of the GPU that the
// communicator was made for.
const (
	OnHost Place = iota
	OnDevice
)

func (p Place) String() string {
	if p == OnDevice {
		return "GPU memory"
	}
	return "host memory"
}

// OfMem wraps memory of a device, host or GPU, without a copy.
func OfMem[T scalar.Scalar](m device.Mem[T]) Buf {
	if m.Host != nil || m.N == 0 {
		return Of(m.Host)
	}
	return Buf{DType: scalar.Of[T](), N: m.N, Ptr: *(*unsafe.Pointer)(unsafe.Pointer(&m.Addr)), Place: OnDevice}
}

// Addr returns the address of the first element as a number.
func (b Buf) Addr() uintptr { return uintptr(b.Ptr) }

// Of wraps a slice. The communicator uses the slice's memory, without a copy.
func Of[T scalar.Element](s []T) Buf {
	return Buf{DType: scalar.Of[T](), N: len(s), Ptr: unsafe.Pointer(unsafe.SliceData(s))}
}

// As returns the elements of b as a slice over the same memory. It panics if
// b holds another element type.
func As[T scalar.Element](b Buf) []T {
	if b.N == 0 {
		return nil
	}
	if b.Place != OnHost {
		panic("comm: the host reads a buffer in " + b.Place.String())
	}
	if dt := scalar.Of[T](); dt != b.DType {
		panic("comm: buffer of " + b.DType.String() + " read as " + dt.String())
	}
	return unsafe.Slice((*T)(b.Ptr), b.N)
}

// Bytes returns the size of b's elements in bytes.
func (b Buf) Bytes() int { return b.N * b.DType.Size() }

// Slice returns elements lo to hi of b, over the same memory.
func (b Buf) Slice(lo, hi int) Buf {
	if lo < 0 || hi < lo || hi > b.N {
		panic("comm: slice bounds out of range")
	}
	if lo == hi {
		return Buf{DType: b.DType, Place: b.Place, Label: b.Label}
	}
	return Buf{DType: b.DType, Place: b.Place, N: hi - lo, Ptr: unsafe.Add(b.Ptr, lo*b.DType.Size()), Label: b.Label}
}

// Same reports whether a and b are the same memory. A caller asks for an
// operation in place by passing the same memory twice.
func Same(a, b Buf) bool { return a.Ptr == b.Ptr && a.N == b.N && a.DType == b.DType }

// overlap reports whether a and b share memory.
func overlap(a, b Buf) bool {
	if a.N == 0 || b.N == 0 {
		return false
	}
	al, bl := uintptr(a.Ptr), uintptr(b.Ptr)
	return al < bl+uintptr(b.Bytes()) && bl < al+uintptr(a.Bytes())
}
