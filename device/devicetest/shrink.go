package devicetest

import (
	"math"
	"math/cmplx"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

func shrinkCases[T scalar.Scalar]() []testCase[T] {
	return []testCase[T]{
		{"shrink", testShrink[T], func(o *operands[T]) error {
			o.k.Shrink(device.One(o.z), device.One(o.x), device.Shrinkage{Kind: device.ShrinkSoft, T: 1})
			return nil
		}},
		{"shrink sum", testShrinkSum[T], func(o *operands[T]) error {
			_, _, err := o.k.ShrinkSum(device.One(o.x), device.Shrinkage{Kind: device.ShrinkSoft, T: 1})
			return err
		}},
	}
}

// shrinkages has the kinds with numbers that fall among those of a suite.
var shrinkages = []device.Shrinkage{
	{Kind: device.ShrinkSoft, T: 0.8}, {Kind: device.ShrinkSoft}, {Kind: device.ShrinkKeep, T: 0.8}, {Kind: device.ShrinkClip, T: 0.8},
	{Kind: device.ShrinkHuber, T: 0.4, U: 0.9}, {Kind: device.ShrinkLog, T: 0.3, U: 1.3}, {Kind: device.ShrinkBox, T: -0.4, U: 0.7},
	{Kind: device.ShrinkBox, T: math.Inf(-1), U: 0.7}, {Kind: device.ShrinkAbove, T: 0.3}, {Kind: device.ShrinkInverse, T: 0.7},
	{Kind: device.ShrinkPower, T: 0.3, U: -0.5}, {Kind: device.ShrinkLeast, T: 0.3, U: 0.5},
}

// large reports whether large blocks are tested: the other kinds differ in a formula only.
func large(by device.Shrinkage) bool {
	return by.Kind == device.ShrinkSoft || by.Kind == device.ShrinkBox && by.T > -1
}

// tuple returns so many blocks of n numbers, with a few zeros in the same places.
func (s *suite[T]) tuple(count, n int) (t device.Tuple[T], all []vec[T]) {
	zero := make([]bool, n)
	for i := range zero {
		zero[i] = s.rng.IntN(8) == 0
	}
	for k := range count {
		x := s.numbers(n)
		for i, z := range zero {
			if z {
				x[i] = 0
			}
		}
		v := s.put(x)
		t.Part[k], all = v.mem, append(all, v)
	}
	t.Count = count
	return t, all
}

func testShrink[T scalar.Scalar](s *suite[T]) {
	for _, by := range shrinkages {
		for _, count := range []int{1, 2, device.MaxTuple} {
			for _, n := range sizes {
				if n > 1000 && (count != 2 || !large(by)) {
					continue
				}
				x, parts := s.tuple(count, n)
				dst, out := device.Tuple[T]{Count: count}, make([]vec[T], count)
				for k := range count {
					out[k] = s.poison(n)
					dst.Part[k] = out[k].mem
				}
				want, _, _ := shrink(parts, by)
				s.k.Shrink(dst, x, by)
				for k, v := range out {
					v.check(want[k], tol[T](4), "shrink %d of %d, %+v, part %d", n, count, by, k)
				}
				s.k.Shrink(x, x, by)
				for k, v := range parts {
					v.check(want[k], tol[T](4), "shrink %d of %d in place, %+v, part %d", n, count, by, k)
				}
				s.release()
			}
		}
		s.shrinkNaN(by)
	}
}

// shrinkNaN wants a NaN to stay one and its neighbours to be ordinary.
func (s *suite[T]) shrinkNaN(by device.Shrinkage) {
	x := s.numbers(7)
	x[3] = narrow[T](complex(math.NaN(), math.NaN()))
	v, got := s.put(x), make([]T, 7)
	s.k.Shrink(device.One(v.mem), device.One(v.mem), by)
	s.must("copy out", s.k.CopyOut(got, v.mem))
	for i, g := range got {
		if (g == g) != (i != 3) {
			s.errorf("shrink of NaN, %+v: element %d is %v, was %v", by, i, g, x[i])
		}
	}
	sum, _, err := s.k.ShrinkSum(device.One(s.put(x).mem), by)
	if s.must("shrink sum", err); !math.IsNaN(sum) {
		s.errorf("shrink sum of NaN, %+v: %v", by, sum)
	}
	s.release()
}

func testShrinkSum[T scalar.Scalar](s *suite[T]) {
	for _, by := range shrinkages {
		for _, count := range []int{1, 3} {
			for _, n := range sizes {
				if n > 1000 && !large(by) {
					continue
				}
				x, parts := s.tuple(count, n)
				_, sum, many := shrink(parts, by)
				got, counted, err := s.k.ShrinkSum(x, by)
				s.must("shrink sum", err)
				if !(math.Abs(got-sum) <= 1e-11*(1+sum)) || counted != many {
					s.errorf("shrink sum %d of %d, %+v: %v and %v, want %v and %v", n, count, by, got, counted, sum, many)
				}
				s.release()
			}
		}
	}
	if scalar.Of[T]().Size() >= 8 && !(scalar.Of[T]() == scalar.Complex64) { // squares leave the range of float64
		for _, size := range []float64{1e-200, 1e200} {
			x := device.Tuple[T]{Count: 2}
			x.Part[0], x.Part[1] = s.put([]T{narrow[T](complex(3*size, 0))}).mem, s.put([]T{narrow[T](complex(4*size, 0))}).mem
			got, _, err := s.k.ShrinkSum(x, device.Shrinkage{Kind: device.ShrinkSoft})
			if s.must("shrink sum", err); !(math.Abs(got-5*size) <= 1e-14*size) {
				s.errorf("the length of 3 and 4 times %g is %v", size, got)
			}
		}
	}
}

// shrink is Shrink and ShrinkSum, one vector after another.
func shrink[T scalar.Scalar](x []vec[T], by device.Shrinkage) (y [][]complex128, sum, count float64) {
	y = make([][]complex128, len(x))
	for k := range x {
		y[k] = x[k].was()
	}
	for i := range y[0] {
		r := 0.0
		for k := range y {
			r = math.Hypot(r, cmplx.Abs(y[k][i]))
		}
		switch by.Kind {
		case device.ShrinkBox:
			for k := range y {
				v := y[k][i]
				y[k][i] = complex(min(max(real(v), by.T), by.U), imag(v))
				if scalar.Of[T]().IsComplex() {
					y[k][i] = complex(real(y[k][i]), min(max(imag(v), by.T), by.U))
				}
				for _, d := range []float64{math.Abs(real(y[k][i] - v)), math.Abs(imag(y[k][i] - v))} {
					if sum += d; d > 0 {
						count++
					}
				}
			}
			continue
		case device.ShrinkAbove:
			r = real(y[0][i])
		}
		if r > by.T {
			count++
		}
		f, term := shrinkOne(r, by)
		sum += term
		for k := range y {
			if y[k][i] *= complex(f, 0); by.Kind >= device.ShrinkAbove {
				y[k][i] = complex(term, 0)
			}
		}
	}
	return y, sum, count
}

// shrinkOne returns the factor of a vector of length r and what it adds to a sum.
func shrinkOne(r float64, by device.Shrinkage) (f, term float64) {
	t, u := by.T, by.U
	switch by.Kind {
	case device.ShrinkSoft:
		return max(r-t, 0) / max(r, math.SmallestNonzeroFloat64), max(r-t, 0)
	case device.ShrinkKeep:
		if r > t {
			return 1, r
		}
		return 0, 0
	case device.ShrinkClip:
		return min(1, t/max(r, math.SmallestNonzeroFloat64)), min(r, t)
	case device.ShrinkHuber:
		if term = r - t/2; r <= t {
			term = r * r / (2 * t)
		}
		return 1 - t/max(r, u), term
	case device.ShrinkLog:
		cost := func(z float64) float64 { return t*math.Log(u*z+1) + (z-r)*(z-r)/2 }
		z := 0.0
		if d := (u*r-1)*(u*r-1) - 4*u*(t*u-r); d >= 0 {
			if s := (u*r - 1 + math.Sqrt(d)) / (2 * u); s > 0 && cost(s) < cost(0) {
				z = s
			}
		}
		return z / max(r, math.SmallestNonzeroFloat64), math.Log(u*r + 1)
	case device.ShrinkInverse:
		return 0, 1 / (1 + t*r*r)
	case device.ShrinkPower:
		return 0, math.Pow(r+t, u)
	case device.ShrinkLeast:
		return 0, math.Pow(max(r, t), u)
	}
	return 0, max(r-t, 0) // above
}
