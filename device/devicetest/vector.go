package devicetest

import (
	"math"
	"slices"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

func vectorCases[T scalar.Scalar]() []testCase[T] {
	return []testCase[T]{
		{"memory", testMemory[T], func(o *operands[T]) error { o.k.Copy(o.y, o.x); return nil }},
		{"fill", testFill[T], func(o *operands[T]) error { o.k.Fill(o.y, 1); return nil }},
		{"axpby", testAxpby[T], func(o *operands[T]) error { o.k.Axpby(1, o.x, 1, o.y); return nil }},
		{"combine", testCombine[T], func(o *operands[T]) error { o.k.Combine(o.z, 1, o.x, 1, o.y); return nil }},
		{"mul", testMul[T], func(o *operands[T]) error { o.k.Mul(o.z, o.x, o.y, true); return nil }},
		{"mulaxis", testMulAxis[T], func(o *operands[T]) error { o.k.MulAxis(o.z, o.six, o.y, 6, 1, false); return nil }},
		{"conj", testConj[T], func(o *operands[T]) error { o.k.Conj(o.z, o.x); return nil }},
		{"threshold", testThreshold[T], func(o *operands[T]) error { o.k.Threshold(o.z, o.x, device.SoftThreshold, 1); return nil }},
		{"widen", testWiden[T], nil},
	}
}

func testMemory[T scalar.Scalar](s *suite[T]) {
	for _, n := range sizes {
		m, err := s.k.Alloc(n)
		s.must("alloc", err)
		if m.N != n || (m.Host != nil && len(m.Host) != n) || (n == 0 && m.Host != nil) {
			s.errorf("alloc %d: N is %d and the host sees %d", n, m.N, len(m.Host))
		}
		got := s.numbers(n)
		s.must("copy out", s.k.CopyOut(got, m))
		if i := slices.IndexFunc(got, func(v T) bool { return v != 0 }); i >= 0 {
			s.errorf("alloc %d: element %d is %v, want 0", n, i, got[i])
		}
		s.k.Free(m)
		x, y := s.random(n), s.random(n)
		s.k.Copy(y.mem, x.mem)
		y.check(x.was(), 0, "copy %d", n)
		x.check(x.was(), 0, "source of copy %d", n)
		s.release()
	}
	v := s.random(10)
	a := s.k.Slice(v.mem, 3, 9)
	b := s.k.Slice(a, 1, 3)
	got := make([]T, 2)
	s.must("copy out", s.k.CopyOut(got, b))
	if want := v.all[v.off+4 : v.off+6]; !slices.Equal(got, want) {
		s.errorf("slice of a slice: %v, want %v", got, want)
	}
	if a.N != 6 || b.N != 2 || (v.mem.Host != nil && len(b.Host) != 2) {
		s.errorf("slices of 6 and 2 elements have %d and %d", a.N, b.N)
	}
	if e := s.k.Slice(a, 6, 6); e.N != 0 || e.Host != nil {
		s.errorf("an empty slice has %d elements, and the host sees %v", e.N, e.Host)
	}
}

func testFill[T scalar.Scalar](s *suite[T]) {
	for _, n := range sizes {
		x, v := s.random(n), s.number()
		s.k.Fill(x.mem, v)
		x.check(slices.Repeat([]complex128{widen(v)}, n), 0, "fill %d", n)
		s.release()
	}
}

func testAxpby[T scalar.Scalar](s *suite[T]) {
	for _, n := range sizes {
		for _, ab := range s.coefs(n) {
			a, b := ab[0], ab[1]
			x, y := s.random(n), s.random(n)
			want := combine(widen(a), x.was(), widen(b), y.was())
			if b == 0 {
				y = s.poison(n)
			}
			s.k.Axpby(a, x.mem, b, y.mem)
			y.check(want, tol[T](1), "axpby %d, a=%v, b=%v", n, a, b)
			x.check(x.was(), 0, "source of axpby %d, a=%v, b=%v", n, a, b)
			s.k.Axpby(a, x.mem, b, x.mem)
			x.check(combine(widen(a), x.was(), widen(b), x.was()), tol[T](1), "axpby %d in place, a=%v, b=%v", n, a, b)
			s.release()
		}
	}
}

func testCombine[T scalar.Scalar](s *suite[T]) {
	for _, n := range sizes {
		for _, ab := range s.coefs(n) {
			a, b := ab[0], ab[1]
			x, y, z := s.random(n), s.random(n), s.poison(n)
			want := combine(widen(a), x.was(), widen(b), y.was())
			s.k.Combine(z.mem, a, x.mem, b, y.mem)
			z.check(want, tol[T](1), "combine %d, a=%v, b=%v", n, a, b)
			u, v := s.put(x.all[x.off:x.off+n]), s.put(y.all[y.off:y.off+n])
			s.k.Combine(u.mem, a, u.mem, b, y.mem)
			u.check(want, tol[T](1), "combine %d into x, a=%v, b=%v", n, a, b)
			s.k.Combine(v.mem, a, x.mem, b, v.mem)
			v.check(want, tol[T](1), "combine %d into y, a=%v, b=%v", n, a, b)
			s.release()
		}
	}
}

func testMul[T scalar.Scalar](s *suite[T]) {
	for _, n := range sizes {
		for _, conj := range []bool{false, true} {
			x, y, z := s.random(n), s.random(n), s.poison(n)
			want := mulAxis(x.was(), y.was(), 1, 1, conj)
			s.k.Mul(z.mem, x.mem, y.mem, conj)
			z.check(want, tol[T](1), "mul %d, conj=%v", n, conj)
			u, v := s.put(x.all[x.off:x.off+n]), s.put(y.all[y.off:y.off+n])
			s.k.Mul(u.mem, u.mem, y.mem, conj)
			u.check(want, tol[T](1), "mul %d into x, conj=%v", n, conj)
			s.k.Mul(v.mem, x.mem, v.mem, conj)
			v.check(want, tol[T](1), "mul %d into y, conj=%v", n, conj)
			s.release()
		}
	}
}

// testWiden runs among the cases of float64.
func testWiden[T scalar.Scalar](s *suite[T]) {
	k, is := any(s.k).(device.Kernels[float64])
	if !is || s.d == nil || s.lacks(device.Widen(k, device.Mem[float64]{}, device.Mem[float32]{})) {
		return
	}
	f, err := device.KernelsFor[float32](s.d)
	s.must("kernels", err)
	to, from := newSuite(s.t, s.d, k, s.seed), newSuite(s.t, s.d, f, s.seed)
	for _, n := range sizes {
		x, y := from.random(n), to.poison(n)
		s.must("widen", device.Widen(k, y.mem, x.mem))
		y.check(x.was(), 0, "widen %d", n)
		x.check(x.was(), 0, "source of widen %d", n)
		to.release()
		from.release()
	}
	x, y := from.put([]float32{float32(math.Inf(1)), float32(math.NaN()), 0x1p-149, -0.1}), to.poison(4)
	s.must("widen", device.Widen(k, y.mem, x.mem))
	y.check(x.was(), 0, "widen of infinite, missing and small numbers")
	to.release()
	from.release()
}

// blocks are outer × n × inner of kernels that work along an axis.
var blocks = some([][3]int{
	{1, 1, 1}, {0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {1, 7, 1}, {1, 1, 7}, {7, 1, 1}, {5, 9, 1}, {4, 6, 2}, {2, 5, 3}, {3, 8, 5},
	{2, 3, 17}, {6, 31, 4}, {3, 33, 33}, {2, 5, 1030}, {1, 40_001, 1}, {1, 2, 20_001}, {20_001, 2, 1}, {200, 201, 1},
	{7, 71, 83}, {1, 12_001, 3}, {1, 121, 300},
}...)

func testMulAxis[T scalar.Scalar](s *suite[T]) {
	for _, b := range blocks {
		outer, n, inner := b[0], b[1], b[2]
		for _, conj := range []bool{false, true} {
			d, x, z := s.random(n), s.random(outer*n*inner), s.poison(outer*n*inner)
			want := mulAxis(d.was(), x.was(), outer, inner, conj)
			s.k.MulAxis(z.mem, d.mem, x.mem, outer, inner, conj)
			z.check(want, tol[T](1), "mulaxis %v, conj=%v", b, conj)
			s.k.MulAxis(x.mem, d.mem, x.mem, outer, inner, conj)
			x.check(want, tol[T](1), "mulaxis %v in place, conj=%v", b, conj)
			s.release()
		}
	}
}

func testConj[T scalar.Scalar](s *suite[T]) {
	for _, n := range sizes {
		x, z := s.random(n), s.poison(n)
		want := x.was()
		for i := range want {
			want[i] = conjIf(true, want[i])
		}
		s.k.Conj(z.mem, x.mem)
		z.check(want, 0, "conj %d", n)
		s.k.Conj(x.mem, x.mem)
		x.check(want, 0, "conj %d in place", n)
		s.release()
	}
}

func testThreshold[T scalar.Scalar](s *suite[T]) {
	for _, kind := range []device.ThresholdKind{device.SoftThreshold, device.HardThreshold, device.HalfThreshold} {
		for _, t := range []float64{0, 0.01, 0.3, 0.8, 10} {
			for _, n := range sizes {
				if n > 10_000 && t != 0.3 {
					continue
				}
				x := s.numbers(n)
				for i := range x { // a few zeros and large numbers
					switch s.rng.IntN(8) {
					case 0:
						x[i] = 0
					case 1:
						x[i] *= narrow[T](1e4)
					}
				}
				u, z := s.put(x), s.poison(n)
				want := threshold(u.was(), kind, t)
				s.k.Threshold(z.mem, u.mem, kind, t)
				z.check(want, tol[T](4), "threshold %d, kind=%d, t=%g", n, kind, t)
				s.k.Threshold(u.mem, u.mem, kind, t)
				u.check(want, tol[T](4), "threshold %d in place, kind=%d, t=%g", n, kind, t)
				s.release()
			}
		}
		// On the border an element goes, as it does in PyLops.
		border := map[device.ThresholdKind]float64{device.SoftThreshold: 2, device.HardThreshold: 2, device.HalfThreshold: math.Pow(8/math.Cbrt(54), 1.5) * (1 + 1e-6)}
		x := s.put([]T{narrow[T](2), narrow[T](-2)})
		s.k.Threshold(x.mem, x.mem, kind, border[kind])
		x.check([]complex128{0, 0}, 0, "threshold on the border, kind=%d", kind)
	}
}
