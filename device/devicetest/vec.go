package devicetest

import (
	"math"
	"math/cmplx"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// vec is a view of device memory at an odd offset, and what was written to the
// memory as a whole.
type vec[T scalar.Scalar] struct {
	s     *suite[T]
	mem   device.Mem[T] // the view
	whole device.Mem[T]
	all   []T // of whole
	off   int
}

// put brings x to the device, with a few other elements around it.
func (s *suite[T]) put(x []T) vec[T] {
	s.t.Helper()
	v := vec[T]{s: s, off: s.rng.IntN(4)}
	v.all = s.numbers(v.off + len(x) + s.rng.IntN(4))
	copy(v.all[v.off:], x)
	m, err := s.k.Alloc(len(v.all))
	s.must("alloc", err)
	s.live = append(s.live, m)
	s.must("copy in", s.k.CopyIn(m, v.all))
	v.whole, v.mem = m, s.k.Slice(m, v.off, v.off+len(x))
	return v
}

// random is put of n random numbers.
func (s *suite[T]) random(n int) vec[T] { return s.put(s.numbers(n)) }

// poison is put of n NaNs, for a destination that a kernel must not read.
func (s *suite[T]) poison(n int) vec[T] {
	x := make([]T, n)
	for i := range x {
		x[i] = narrow[T](cmplx.NaN())
	}
	return s.put(x)
}

// was returns the elements that the view began with.
func (v vec[T]) was() []complex128 { return wide(v.all[v.off : v.off+v.mem.N]) }

// check compares the view with want, and its surroundings with what they were.
// The tolerance is relative to want where it is above one.
func (v vec[T]) check(want []complex128, tol float64, format string, args ...any) {
	v.s.t.Helper()
	got := make([]T, len(v.all))
	v.s.must("copy out", v.s.k.CopyOut(got, v.whole))
	wanted := wide(v.all)
	copy(wanted[v.off:], want[:v.mem.N])
	bad := 0
	for i, g := range wide(got) {
		w, eps := wanted[i], tol
		if i < v.off || i >= v.off+v.mem.N {
			eps = 0
		}
		if near[T](g, w, eps) {
			continue
		}
		if bad++; bad <= 3 {
			v.s.errorf(format+": element %d of %d is %v, want %v (tolerance %.2g)",
				append(args, i-v.off, v.mem.N, got[i], w, eps)...)
		}
	}
	if bad > 3 {
		v.s.errorf(format+": %d elements are wrong", append(args, bad)...)
	}
}

// near reports whether got is want within the tolerance. NaN is NaN, and of a
// real type only the real part counts.
func near[T scalar.Scalar](got, want complex128, tol float64) bool {
	if got == want {
		return true
	}
	if !scalar.Of[T]().IsComplex() {
		want = complex(real(want), 0)
	}
	switch {
	case got == want:
		return true
	case cmplx.IsNaN(want) || cmplx.IsNaN(got):
		return cmplx.IsNaN(want) && cmplx.IsNaN(got)
	case cmplx.IsInf(want) || cmplx.IsInf(got):
		return false
	}
	d := got - want
	if max(math.Abs(real(d)), math.Abs(imag(d))) <= 0.7*tol {
		return true // the usual case
	}
	return cmplx.Abs(d) <= tol*max(1, cmplx.Abs(want))
}

// tol is the tolerance of a sum of n terms in the arithmetic of T.
func tol[T scalar.Scalar](n int) float64 {
	eps := 0x1p-52
	if dt := scalar.Of[T](); dt == scalar.Float32 || dt == scalar.Complex64 {
		eps = 0x1p-23
	}
	return 8 * eps * math.Sqrt(float64(max(n, 1)))
}

// productTol is the tolerance of a sum of n products, added in the arithmetic of
// T: on its way the sum is larger than at its end, by some √n.
func productTol[T scalar.Scalar](n int) float64 {
	return tol[T](n) * max(4, math.Sqrt(float64(n))/2)
}

// orderTol is the tolerance of a sum of n terms in 64 bits, in another order than
// the oracle's. Where T has 32 bits, only its own rounding shows.
func orderTol[T scalar.Scalar](n int) float64 {
	if dt := scalar.Of[T](); dt == scalar.Float32 || dt == scalar.Complex64 {
		return tol[T](n)
	}
	return productTol[T](n)
}

func widen[T scalar.Scalar](x T) complex128 {
	switch x := any(x).(type) {
	case float32:
		return complex(float64(x), 0)
	case float64:
		return complex(x, 0)
	case complex64:
		return complex128(x)
	}
	return any(x).(complex128)
}

func wide[T scalar.Scalar](x []T) []complex128 {
	w := make([]complex128, len(x))
	for i := range x {
		w[i] = widen(x[i])
	}
	return w
}

// narrow returns c as a T, without its imaginary part for a real T.
func narrow[T scalar.Scalar](c complex128) T {
	var z T
	switch p := any(&z).(type) {
	case *float32:
		*p = float32(real(c))
	case *float64:
		*p = real(c)
	case *complex64:
		*p = complex64(c)
	case *complex128:
		*p = c
	}
	return z
}
