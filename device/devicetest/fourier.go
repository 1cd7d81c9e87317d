package devicetest

import (
	"math"
	"math/cmplx"
	"slices"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

func fourierCases[T scalar.Scalar]() []testCase[T] {
	return []testCase[T]{
		{"fft", testFFT[T], func(o *operands[T]) error { return device.FFT(o.k, o.y, o.x, o.extents, 1, false) }},
		{"rfft", testRFFT[T], nil},
	}
}

// extents are those of Fourier transforms, and how many.
var extents = []struct {
	n     []int
	batch int
}{
	{[]int{1}, 1}, {[]int{2}, 3}, {[]int{8}, 1}, {[]int{15}, 4}, {[]int{64}, 5}, {[]int{97}, 2}, {[]int{210}, 3}, {[]int{8}, 0}, {[]int{0}, 2},
	{[]int{4, 6}, 2}, {[]int{5, 7}, 3}, {[]int{1, 9}, 2}, {[]int{9, 1}, 2}, {[]int{3, 4, 5}, 2}, {[]int{2, 3, 8}, 1}, {[]int{6, 5, 9}, 2},
}

// fourier is the transform of batch blocks, axis after axis.
func fourier(x []complex128, n []int, inverse bool) []complex128 {
	x = slices.Clone(x)
	sign := -2 * math.Pi
	if inverse {
		sign = -sign
	}
	inner := 1
	for a := len(n) - 1; a >= 0; a-- {
		block := n[a] * inner
		line := make([]complex128, n[a])
		for o := 0; o < len(x); o += block {
			for j := range inner {
				for k := range line {
					line[k] = 0
					for i := range n[a] {
						line[k] += x[o+i*inner+j] * cmplx.Rect(1, sign*float64(i*k%n[a])/float64(n[a]))
					}
				}
				for k, v := range line {
					x[o+k*inner+j] = v
				}
			}
		}
		inner = block
	}
	return x
}

func size(n []int) int {
	all := 1
	for _, n := range n {
		all *= n
	}
	return all
}

func testFFT[T scalar.Scalar](s *suite[T]) {
	if !scalar.Of[T]().IsComplex() {
		return
	}
	if s.lacks(device.FFT(s.k, device.Mem[T]{}, device.Mem[T]{}, []int{0}, 0, false)) {
		return
	}
	for _, e := range extents {
		for _, inverse := range []bool{false, true} {
			n := size(e.n) * e.batch
			src, dst := s.random(n), s.poison(n)
			want := fourier(src.was(), e.n, inverse)
			s.must("fft", device.FFT(s.k, dst.mem, src.mem, e.n, e.batch, inverse))
			dst.check(want, productTol[T](size(e.n)), "fft of %v, batch %d, inverse=%v", e.n, e.batch, inverse)
			src.check(src.was(), 0, "source of the fft of %v", e.n)
			s.must("fft", device.FFT(s.k, src.mem, src.mem, e.n, e.batch, inverse))
			src.check(want, productTol[T](size(e.n)), "fft of %v in place, batch %d, inverse=%v", e.n, e.batch, inverse)
			s.release()
		}
	}
	for n := 1; n <= 40; n++ { // more plans than one keeps
		src, dst := s.random(n), s.poison(n)
		s.must("fft", device.FFT(s.k, dst.mem, src.mem, []int{n}, 1, false))
		dst.check(fourier(src.was(), []int{n}, false), productTol[T](n), "fft of %d", n)
		s.release()
	}
}

func testRFFT[T scalar.Scalar](s *suite[T]) {
	switch scalar.Of[T]() {
	case scalar.Complex64:
		realFourier[T, float32](s)
	case scalar.Complex128:
		realFourier[T, float64](s)
	}
}

func realFourier[T scalar.Scalar, F float32 | float64](s *suite[T]) {
	if s.d == nil || s.lacks(device.RFFT(s.k, device.Mem[T]{}, device.Mem[F]{}, []int{0}, 0)) {
		return
	}
	f, err := device.KernelsFor[F](s.d)
	s.must("kernels", err)
	r := newSuite(s.t, s.d, f, s.seed)
	for _, e := range extents {
		half := slices.Clone(e.n) // of the coefficients
		last := len(half) - 1
		half[last] = half[last]/2 + 1
		n, m := size(e.n)*e.batch, size(half)*e.batch
		src, dst := r.random(n), s.poison(m)
		all := fourier(src.was(), e.n, false)
		var want []complex128
		for i := 0; i < len(all); i += e.n[last] {
			want = append(want, all[i:i+half[last]]...)
		}
		if n == 0 {
			m, dst, want = 0, s.poison(0), nil
		}
		s.must("rfft", device.RFFT(s.k, dst.mem, src.mem, e.n, e.batch))
		dst.check(want, productTol[T](size(e.n)), "rfft of %v, batch %d", e.n, e.batch)
		src.check(src.was(), 0, "source of the rfft of %v", e.n)

		coefs := make([]T, m)
		for i := range coefs {
			coefs[i] = narrow[T](want[i])
		}
		back, from := r.poison(n), s.put(coefs)
		was := src.was()
		for i := range was {
			was[i] *= complex(float64(size(e.n)), 0)
		}
		s.must("irfft", device.IRFFT(s.k, back.mem, from.mem, e.n, e.batch))
		back.check(was, productTol[T](size(e.n)), "irfft of %v, batch %d", e.n, e.batch)
		r.release()
		s.release()
	}
}
