package array

import (
	"fmt"
	"unsafe"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// Copy sets dst = src.
func Copy[T scalar.Scalar](dst, src Array[T]) { same("Copy", &dst, &src); dst.k.Copy(dst.mem, src.mem) }

// Widen sets dst = src, from 32 to 64 bits: T is float64 and N is float32, or T is
// complex128 and N is complex64. It returns device.ErrUnsupported where the device
// lacks its kernel.
func Widen[T, N scalar.Scalar](dst Array[T], src Array[N]) error {
	dst.made("Widen")
	src.holds("Widen", "src", dst.mem.N, dst.dev)
	if t, n := scalar.Of[T](), scalar.Of[N](); t.IsComplex() != n.IsComplex() || t.Size() != 2*n.Size() {
		panic(Error{fmt.Sprintf("array: Widen: %v does not become %v", n, t)})
	}
	k, err := device.KernelsFor[float64](dst.dev)
	if err != nil {
		return err
	}
	return device.Widen(k, parts[float64](dst.mem), parts[float32](src.mem))
}

// parts returns memory as that of its components.
func parts[F, T scalar.Scalar](m device.Mem[T]) device.Mem[F] {
	n := m.N * int(unsafe.Sizeof(*new(T))/unsafe.Sizeof(*new(F)))
	f := device.Mem[F]{Addr: m.Addr, N: n}
	if len(m.Host) > 0 {
		f.Host = unsafe.Slice((*F)(unsafe.Pointer(unsafe.SliceData(m.Host))), n)
	}
	return f
}

// Fill sets every element of dst to v.
func Fill[T scalar.Scalar](dst Array[T], v T) { dst.made("Fill"); dst.k.Fill(dst.mem, v) }

// Axpby sets y = a·x + b·y. With b = 0, y is not read.
func Axpby[T scalar.Scalar](a T, x Array[T], b T, y Array[T]) {
	same("Axpby", &x, &y)
	y.k.Axpby(a, x.mem, b, y.mem)
}

// Combine sets dst = a·x + b·y. dst may be x or y.
func Combine[T scalar.Scalar](dst Array[T], a T, x Array[T], b T, y Array[T]) {
	same("Combine", &dst, &x)
	same("Combine", &dst, &y)
	dst.k.Combine(dst.mem, a, x.mem, b, y.mem)
}

// Mul sets dst = x·y, element by element. dst may be x or y.
func Mul[T scalar.Scalar](dst, x, y Array[T]) { mul("Mul", dst, x, y, false) }

// MulConj sets dst = conj(x)·y, element by element. dst may be x or y.
func MulConj[T scalar.Scalar](dst, x, y Array[T]) { mul("MulConj", dst, x, y, true) }

func mul[T scalar.Scalar](op string, dst, x, y Array[T], conj bool) {
	same(op, &dst, &x)
	same(op, &dst, &y)
	dst.k.Mul(dst.mem, x.mem, y.mem, conj)
}

// MulAxis sets dst[o,i,j] = d[i]·x[o,i,j], or conj(d[i])·x[o,i,j], of blocks with
// outer × len(d) × inner elements. dst may be x.
func MulAxis[T scalar.Scalar](dst, d, x Array[T], outer, inner int, conj bool) {
	same("MulAxis", &dst, &x)
	d.holds("MulAxis", "d", d.mem.N, dst.dev)
	dst.holds("MulAxis", "dst", device.Size(outer, d.mem.N, inner), dst.dev)
	dst.k.MulAxis(dst.mem, d.mem, x.mem, outer, inner, conj)
}

// Conj sets dst = conj(x). dst may be x.
func Conj[T scalar.Scalar](dst, x Array[T]) { same("Conj", &dst, &x); dst.k.Conj(dst.mem, x.mem) }

// Threshold shrinks each element of x towards zero. dst may be x.
func Threshold[T scalar.Scalar](dst, x Array[T], kind device.ThresholdKind, t float64) {
	same("Threshold", &dst, &x)
	dst.k.Threshold(dst.mem, x.mem, kind, t)
}
