package devicetest

import (
	"errors"
	"math"
	"math/cmplx"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

func sumCases[T scalar.Scalar]() []testCase[T] {
	return []testCase[T]{
		{"dot", testDot[T], func(o *operands[T]) error { _, err := o.k.Dot(o.x, o.y, true); return err }},
		{"axpynorm", testAxpyNorm[T], func(o *operands[T]) error { _, err := o.k.AxpyNorm(1, o.x, o.y); return err }},
		{"sum", testSum[T], func(o *operands[T]) error { _, err := o.k.Sum(o.x); return err }},
		{"norm", testNorm[T], func(o *operands[T]) error { _, err := o.k.Norm(o.x, 2, 1); return err }},
		{"minmax", testMinMax[T], func(o *operands[T]) error { _, _, err := o.k.MinMax(o.x); return err }},
		{"repeat", testRepeat[T], nil}, {"wide sums", testWideSums[T], nil}, {"nan", testNaN[T], nil},
		{"sums into memory", testSumsInto[T], nil},
	}
}

// testSumsInto wants the sums that stay on a device to be those that come back.
func testSumsInto[T scalar.Scalar](s *suite[T]) {
	if s.d == nil {
		return
	}
	c, err := device.KernelsFor[complex128](s.d)
	s.must("kernels", err)
	dst := newSuite(s.t, s.d, c, s.seed)
	for _, n := range sizes {
		x, y, a := s.random(n), s.random(n), s.number()
		sum := dst.poison(1)
		s.must("dot into", device.DotInto(s.k, c, sum.mem, x.mem, y.mem, true))
		want, err := s.k.Dot(x.mem, y.mem, true)
		s.must("dot", err)
		sum.check([]complex128{want}, 0, "dot into memory of %d", n)
		z := s.put(y.all[y.off : y.off+n])
		s.must("axpynorm into", device.AxpyNormInto(s.k, c, sum.mem, a, x.mem, y.mem))
		size, err := s.k.AxpyNorm(a, x.mem, z.mem)
		s.must("axpynorm", err)
		sum.check([]complex128{complex(size, 0)}, 0, "axpynorm into memory of %d", n)
		y.check(combine(widen(a), x.was(), 1, y.was()), tol[T](2), "axpynorm into memory of %d", n)
		for _, p := range []float64{0, 0.5, 1, 2, 3} {
			s.must("norm into", device.NormInto(s.k, c, sum.mem, x.mem, p))
			size, err := s.k.Norm(x.mem, p, 1)
			s.must("norm", err)
			sum.check([]complex128{complex(size, 0)}, 0, "norm with p = %g into memory of %d", p, n)
		}
		s.release()
		dst.release()
	}
}

// sumTol is the tolerance of a sum of n products that must accumulate in 64
// bits, relative to the sum of their sizes.
func sumTol(n int) float64 { return 4 * 0x1p-52 * math.Sqrt(float64(max(n, 1))) }

func (s *suite[T]) checkSum(got, want complex128, sizes float64, n int, err error, format string, args ...any) {
	s.t.Helper()
	s.must("sum", err)
	if d := cmplx.Abs(got - want); !(d <= sumTol(n)*sizes) {
		s.errorf(format+": %v, want %v (off by %.2g of %.2g)", append(args, got, want, d, sumTol(n)*sizes)...)
	}
}

func testDot[T scalar.Scalar](s *suite[T]) {
	for _, n := range sizes {
		for _, conj := range []bool{false, true} {
			x, y := s.random(n), s.random(n)
			got, err := s.k.Dot(x.mem, y.mem, conj)
			s.checkSum(got, dot(x.was(), y.was(), conj), 5*float64(n), n, err, "dot %d, conj=%v", n, conj)
			got, err = s.k.Dot(x.mem, x.mem, conj)
			s.checkSum(got, dot(x.was(), x.was(), conj), 5*float64(n), n, err, "dot %d with itself, conj=%v", n, conj)
			s.release()
		}
	}
}

func testAxpyNorm[T scalar.Scalar](s *suite[T]) {
	for _, n := range sizes {
		for _, a := range []T{0, 1, s.number()} {
			x, y := s.random(n), s.random(n)
			want := combine(widen(a), x.was(), 1, y.was())
			got, err := s.k.AxpyNorm(a, x.mem, y.mem)
			s.must("axpynorm", err)
			y.check(want, tol[T](2), "axpynorm of %d, a=%v", n, a)
			if w := norm(want, 2, 1); !(math.Abs(got-w) <= tol[T](n)*w) {
				s.errorf("axpynorm of %d, a=%v: norm is %v, want %v", n, a, got, w)
			}
			s.release()
		}
	}
}

func testSum[T scalar.Scalar](s *suite[T]) {
	for _, n := range sizes {
		x := s.random(n)
		var want complex128
		for _, v := range x.was() {
			want += v
		}
		got, err := s.k.Sum(x.mem)
		s.checkSum(got, want, 2*float64(n), n, err, "sum %d", n)
		s.release()
	}
}

var norms = some(2, 1, 0, math.Inf(1), math.Inf(-1), 0.5, 3, 4, 1.7, -1)

func testNorm[T scalar.Scalar](s *suite[T]) {
	for _, n := range sizes {
		x := s.numbers(n)
		for i := range x {
			if s.rng.IntN(10) == 0 && n > 10 {
				x[i] = 0
			}
		}
		for _, p := range norms {
			for _, scale := range []float64{1, 0.25, -2} {
				if n > 10_000 && scale != 1 {
					continue
				}
				v := s.put(x)
				want := norm(v.was(), p, math.Abs(scale))
				got, err := s.k.Norm(v.mem, p, scale)
				s.must("norm", err)
				limit := sumTol(n) * want
				if p != 2 {
					limit += tol[T](1) * want // of |x| and of the power
				}
				if !(math.Abs(got-want) <= limit) && got != want {
					s.errorf("norm %d, p=%v, scale=%v: %v, want %v", n, p, scale, got, want)
				}
				s.release()
			}
		}
	}
}

func testMinMax[T scalar.Scalar](s *suite[T]) {
	for _, n := range sizes {
		x := s.random(n)
		lo, hi, err := s.k.MinMax(x.mem)
		if scalar.Of[T]().IsComplex() {
			if !errors.Is(err, device.ErrUnsupported) {
				s.errorf("minmax of complex numbers: %v, want ErrUnsupported", err)
			}
			continue
		}
		s.must("minmax", err)
		wantLo, wantHi := math.Inf(1), math.Inf(-1)
		for _, v := range x.was() {
			wantLo, wantHi = min(wantLo, real(v)), max(wantHi, real(v))
		}
		if lo != wantLo || hi != wantHi {
			s.errorf("minmax %d: %v to %v, want %v to %v", n, lo, hi, wantLo, wantHi)
		}
		s.release()
	}
}

// testRepeat wants the same bits from the same numbers, wherever they lie.
func testRepeat[T scalar.Scalar](s *suite[T]) {
	for _, n := range sizes {
		x, y := s.numbers(n), s.numbers(n)
		var first [3]complex128
		for try := range 5 {
			u, v := s.put(x), s.put(y)
			var now [3]complex128
			var err error
			now[0], err = s.k.Dot(u.mem, v.mem, true)
			s.must("dot", err)
			now[1], err = s.k.Sum(u.mem)
			s.must("sum", err)
			r, err := s.k.Norm(u.mem, 2, 1)
			s.must("norm", err)
			now[2] = complex(r, 0)
			if try == 0 {
				first = now
			} else if now != first {
				s.errorf("dot, sum and norm of %d: first %v, then %v", n, first, now)
			}
			s.release()
		}
	}
}

// testWideSums adds small numbers to a large one that swallows each of them in
// 32 bits, but not in 64.
func testWideSums[T scalar.Scalar](s *suite[T]) {
	const big = 1 << 24
	for _, n := range []int{100, 70_001, 1_200_001} {
		x, ones := make([]T, n), make([]T, n)
		for i := range x {
			x[i], ones[i] = 1, 1
		}
		x[0] = big
		u, v := s.put(x), s.put(ones)
		want := float64(big + n - 1)
		got, err := s.k.Sum(u.mem)
		if s.must("sum", err); real(got) != want {
			s.errorf("sum of 2^24 and %d ones: %v, want %v", n-1, got, want)
		}
		got, err = s.k.Dot(u.mem, v.mem, true)
		if s.must("dot", err); real(got) != want {
			s.errorf("dot of 2^24 and %d ones: %v, want %v", n-1, got, want)
		}
		r, err := s.k.Norm(u.mem, 1, 1)
		if s.must("norm", err); r != want {
			s.errorf("norm of 2^24 and %d ones: %v, want %v", n-1, r, want)
		}
		r, err = s.k.Norm(u.mem, 2, 1)
		if s.must("norm", err); r != big*big+float64(n-1) {
			s.errorf("norm² of 2^24 and %d ones: %v, want %v", n-1, r, big*big+float64(n-1))
		}
		z := s.poison(1)
		s.k.SumAxis(z.mem, u.mem, 1, n, 1)
		z.check([]complex128{widen(narrow[T](complex(want, 0)))}, 0, "sumaxis of 2^24 and %d ones", n-1)
		s.release()
	}
}

// testNaN hides one NaN, or one Inf, among ordinary numbers.
func testNaN[T scalar.Scalar](s *suite[T]) {
	for _, n := range []int{1, 7, 64, 40_001} {
		for _, special := range []float64{math.NaN(), math.Inf(1)} {
			x := s.numbers(n)
			at := s.rng.IntN(n)
			x[at] = narrow[T](complex(special, 1))
			v := s.put(x)
			for _, p := range norms {
				want := norm(v.was(), p, 1)
				if math.IsNaN(special) {
					want = special
				}
				got, err := s.k.Norm(v.mem, p, 1)
				s.must("norm", err)
				if !near[float64](complex(got, 0), complex(want, 0), tol[T](n)) {
					s.errorf("norm of %d with %v at %d, p=%v: %v, want %v", n, special, at, p, got, want)
				}
				one := make([]float64, 1)
				s.must("normaxis", s.k.NormAxis(one, v.mem, 1, n, 1, p))
				if !near[float64](complex(one[0], 0), complex(want, 0), tol[T](n)) {
					s.errorf("normaxis of %d with %v at %d, p=%v: %v, want %v", n, special, at, p, one[0], want)
				}
			}
			got, err := s.k.Sum(v.mem)
			s.must("sum", err)
			if real(got) == real(got) != (special == special) || !(math.IsNaN(real(got)) || math.IsInf(real(got), 1)) {
				s.errorf("sum of %d with %v at %d: %v", n, special, at, got)
			}
			for _, kind := range []device.ThresholdKind{device.SoftThreshold, device.HardThreshold, device.HalfThreshold} {
				s.thresholdOf(x, at, kind)
			}
			if !scalar.Of[T]().IsComplex() {
				lo, hi, err := s.k.MinMax(v.mem)
				s.must("minmax", err)
				if math.IsNaN(special) != (math.IsNaN(lo) && math.IsNaN(hi)) || (!math.IsNaN(special) && hi != special) {
					s.errorf("minmax of %d with %v at %d: %v to %v", n, special, at, lo, hi)
				}
			}
			s.release()
		}
	}
}

// thresholdOf wants a NaN at x[at] to stay one and every other element to be
// ordinary.
func (s *suite[T]) thresholdOf(x []T, at int, kind device.ThresholdKind) {
	s.t.Helper()
	v := s.put(x)
	s.k.Threshold(v.mem, v.mem, kind, 0.5)
	got := make([]T, len(x))
	s.must("copy out", s.k.CopyOut(got, v.mem))
	for i, g := range got {
		if x[i] == x[i] && i == at {
			continue // Inf, of which a complex device may make NaN
		}
		if (g == g) != (x[i] == x[i]) {
			s.errorf("threshold, kind=%d: element %d is %v, was %v", kind, i, g, x[i])
		}
	}
}
