package devicetest

import (
	"math"
	"math/cmplx"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

func fourierCases[T scalar.Scalar]() []testCase[T] {
	return []testCase[T]{
		{"fft", testFFT[T], func(o *operands[T]) error { return device.FFT(o.k, o.y, o.x, &o.transform, false) }},
		{"rfft", testRFFT[T], nil},
	}
}

// transforms are blocks and axes along which they are transformed.
var transforms = []device.DFT{
	{Dims: []int{1}, Axes: []int{0}}, {Dims: []int{3, 2}, Axes: []int{1}}, {Dims: []int{8}, Axes: []int{0}}, {Dims: []int{4, 15}, Axes: []int{1}},
	{Dims: []int{5, 64}, Axes: []int{1}}, {Dims: []int{2, 97}, Axes: []int{1}}, {Dims: []int{3, 210}, Axes: []int{1}}, {Dims: []int{2, 331}, Axes: []int{1}},
	{Dims: []int{0, 8}, Axes: []int{1}}, {Dims: []int{2, 0}, Axes: []int{1}},
	{Dims: []int{2, 4, 6}, Axes: []int{1, 2}}, {Dims: []int{3, 5, 7}, Axes: []int{2, 1}}, {Dims: []int{1, 9}, Axes: []int{0, 1}}, {Dims: []int{9, 1}, Axes: []int{0, 1}},
	{Dims: []int{2, 3, 4, 5}, Axes: []int{1, 2, 3}}, {Dims: []int{2, 3, 8}, Axes: []int{0, 1, 2}}, {Dims: []int{6, 5, 9}, Axes: []int{2, 0, 1}},
	{Dims: []int{7, 5}, Axes: []int{0}}, {Dims: []int{3, 6, 4}, Axes: []int{1}}, {Dims: []int{12, 33}, Axes: []int{0}}, {Dims: []int{4, 6, 3}, Axes: []int{0, 2}},
	{Dims: []int{4, 5, 6}, Axes: []int{2, 0}}, {Dims: []int{5, 4, 3, 2}, Axes: []int{1, 2}}, {Dims: []int{2, 3, 2, 3, 4}, Axes: []int{0, 1, 2, 3, 4}},
}

// fourier is the transform of a block, axis after axis.
func fourier(x []complex128, dims, axes []int, inverse bool) []complex128 {
	x = append([]complex128(nil), x...)
	sign := -2 * math.Pi
	if inverse {
		sign = -sign
	}
	for _, a := range axes {
		n, inner := dims[a], size(dims[a+1:])
		line := make([]complex128, n)
		for o := 0; o < len(x); o += n * inner {
			for j := range inner {
				for k := range line {
					line[k] = 0
					for i := range n {
						line[k] += x[o+i*inner+j] * cmplx.Rect(1, sign*float64(i*k%n)/float64(n))
					}
				}
				for k, v := range line {
					x[o+k*inner+j] = v
				}
			}
		}
	}
	return x
}

// halved returns the first n/2+1 coefficients along an axis.
func halved(x []complex128, dims []int, axis int) (half []complex128) {
	n, inner := dims[axis], size(dims[axis+1:])
	for o := 0; o < len(x); o += n * inner {
		half = append(half, x[o:o+(n/2+1)*inner]...)
	}
	return half
}

func size(n []int) int {
	all := 1
	for _, n := range n {
		all *= n
	}
	return all
}

func testFFT[T scalar.Scalar](s *suite[T]) {
	if !scalar.Of[T]().IsComplex() || s.lacks(device.PlanFFT(s.k, &device.DFT{Dims: []int{1}, Axes: []int{0}})) {
		return
	}
	for _, t := range transforms {
		for _, inverse := range []bool{false, true} {
			n := size(t.Dims)
			src, dst := s.random(n), s.poison(n)
			want := fourier(src.was(), t.Dims, t.Axes, inverse)
			for range 2 { // the plan made, and kept
				s.must("fft", device.FFT(s.k, dst.mem, src.mem, &t, inverse))
				dst.check(want, productTol[T](n), "fft of %v along %v, inverse=%v", t.Dims, t.Axes, inverse)
			}
			src.check(src.was(), 0, "source of the fft of %v along %v", t.Dims, t.Axes)
			s.must("fft", device.FFT(s.k, src.mem, src.mem, &t, inverse))
			src.check(want, productTol[T](n), "fft of %v along %v in place, inverse=%v", t.Dims, t.Axes, inverse)
			s.release()
		}
		t.Cache.Clear()
	}
	for n := 1; n <= 40; n++ { // more plans than one keeps
		src, dst := s.random(n), s.poison(n)
		s.must("fft", device.FFT(s.k, dst.mem, src.mem, &device.DFT{Dims: []int{n}, Axes: []int{0}}, false))
		dst.check(fourier(src.was(), []int{n}, []int{0}, false), productTol[T](n), "fft of %d", n)
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
	if s.d == nil || s.lacks(device.PlanFFT(s.k, &device.DFT{Dims: []int{1}, Axes: []int{0}, Real: true})) {
		return
	}
	f, err := device.KernelsFor[F](s.d)
	s.must("kernels", err)
	r := newSuite(s.t, s.d, f, s.seed)
	for _, t := range transforms {
		t.Real = true
		n, m := t.Sizes()
		src, dst := r.random(n), s.poison(m)
		want := halved(fourier(src.was(), t.Dims, t.Axes, false), t.Dims, t.Axes[len(t.Axes)-1])
		s.must("rfft", device.RFFT(s.k, dst.mem, src.mem, &t))
		dst.check(want, productTol[T](n), "rfft of %v along %v", t.Dims, t.Axes)
		src.check(src.was(), 0, "source of the rfft of %v along %v", t.Dims, t.Axes)

		coefs := make([]T, m)
		for i := range coefs {
			coefs[i] = narrow[T](want[i])
		}
		back, from := r.poison(n), s.put(coefs)
		was, points := src.was(), 1
		for _, a := range t.Axes {
			points *= t.Dims[a]
		}
		for i := range was {
			was[i] *= complex(float64(points), 0)
		}
		s.must("irfft", device.IRFFT(s.k, back.mem, from.mem, &t))
		back.check(was, productTol[T](n), "irfft of %v along %v", t.Dims, t.Axes)
		t.Cache.Clear()
		r.release()
		s.release()
	}
}
