package devicetest

import (
	"math"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

func axisCases[T scalar.Scalar]() []testCase[T] {
	return []testCase[T]{
		{"sumaxis", testSumAxis[T], func(o *operands[T]) error { o.k.SumAxis(o.six, o.x, 1, 6, 6); return nil }},
		{"normaxis", testNormAxis[T], func(o *operands[T]) error { return o.k.NormAxis(o.norms[:6], o.x, 1, 6, 6, 2) }},
		{"scanaxis", testScanAxis[T], func(o *operands[T]) error { o.k.ScanAxis(o.z, o.x, device.Mem[T]{}, 1, 36, 1, false); return nil }},
	}
}

func testSumAxis[T scalar.Scalar](s *suite[T]) {
	for _, b := range blocks {
		outer, n, inner := b[0], b[1], b[2]
		x, z := s.random(outer*n*inner), s.poison(outer*inner)
		want, was := make([]complex128, outer*inner), x.was()
		for o := range outer {
			for j := range inner {
				for _, v := range column(was, o, n, j, inner) {
					want[o*inner+j] += v
				}
			}
		}
		s.k.SumAxis(z.mem, x.mem, outer, n, inner)
		z.check(want, orderTol[T](n), "sumaxis %v", b)
		s.release()
	}
}

func testNormAxis[T scalar.Scalar](s *suite[T]) {
	for _, b := range blocks {
		outer, n, inner := b[0], b[1], b[2]
		x := s.random(outer * n * inner)
		was := x.was()
		for _, p := range norms {
			got := make([]float64, outer*inner)
			s.must("normaxis", s.k.NormAxis(got, x.mem, outer, n, inner, p))
			for o := range outer {
				for j := range inner {
					want := norm(column(was, o, n, j, inner), p, 1)
					if g := got[o*inner+j]; !(math.Abs(g-want) <= tol[T](n)*want) && g != want {
						s.errorf("normaxis %v, p=%v: element %d, %d is %v, want %v", b, p, o, j, g, want)
						return
					}
				}
			}
		}
		s.release()
	}
}

func testScanAxis[T scalar.Scalar](s *suite[T]) {
	for _, b := range blocks {
		outer, n, inner := b[0], b[1], b[2]
		for _, reverse := range []bool{false, true} {
			for _, starts := range []int{0, outer * inner} {
				x, start, z := s.random(outer*n*inner), s.random(starts), s.poison(outer*n*inner)
				want := scanAxis(x.was(), start.was(), outer, n, inner, reverse)
				s.k.ScanAxis(z.mem, x.mem, start.mem, outer, n, inner, reverse)
				z.check(want, orderTol[T](n), "scanaxis %v, reverse=%v, start=%v", b, reverse, starts > 0)
				s.k.ScanAxis(x.mem, x.mem, start.mem, outer, n, inner, reverse)
				x.check(want, orderTol[T](n), "scanaxis %v in place, reverse=%v, start=%v", b, reverse, starts > 0)
				s.release()
			}
		}
	}
}
