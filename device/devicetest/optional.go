package devicetest

import (
	"math"
	"math/cmplx"
	"slices"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// The kernels that a device may lack.

// lacks notes that.
func (s *suite[T]) lacks(kernel string) {
	s.t.Logf("%v has no %s of %v", s.d, kernel, scalar.Of[T]())
}

func testAxpyNorm[T scalar.Scalar](s *suite[T]) {
	k, ok := s.k.(device.AxpyNormer[T])
	if !ok {
		s.lacks("AxpyNorm")
		return
	}
	for _, n := range sizes {
		for _, a := range []T{0, 1, s.number()} {
			x, y := s.random(n), s.random(n)
			want := combine(widen(a), x.was(), 1, y.was())
			got, err := k.AxpyNorm(a, x.mem, y.mem)
			s.must("axpynorm", err)
			y.check(want, tol[T](2), "axpynorm of %d, a=%v", n, a)
			if w := norm(want, 2, 1); !(math.Abs(got-w) <= tol[T](n)*w) {
				s.errorf("axpynorm of %d, a=%v: norm is %v, want %v", n, a, got, w)
			}
			s.release()
		}
	}
}

// testBandsSum adds up stencils and random matrices along some axes of blocks.
func testBandsSum[T scalar.Scalar](s *suite[T]) {
	k, ok := s.k.(device.StencilSum[T])
	if !ok {
		s.lacks("BandsSum")
		return
	}
	for _, c := range []struct{ dims, axes []int }{
		{[]int{9, 8, 70}, []int{0, 1, 2}}, {[]int{40, 33}, []int{0, 1}}, {[]int{33, 40}, []int{1, 0}}, {[]int{5, 6, 50}, []int{1, 2}},
		{[]int{17, 3, 65}, []int{0, 2}}, {[]int{6, 7, 40}, []int{0, 1}}, {[]int{3, 4, 5, 36}, []int{0, 1, 2, 3}}, {[]int{90}, []int{0}},
		{[]int{7, 1, 40}, []int{0, 1, 2}}, {[]int{30, 5}, []int{0, 1}}, {[]int{5, 0, 40}, []int{0, 2}}, {[]int{2, 2, 2, 2, 64}, []int{0, 1, 2, 3, 4}},
		{[]int{4, 100, 300}, []int{1, 2}}, {[]int{300, 4, 100}, []int{0, 1, 2}},
	} {
		for _, width := range []int{3, 5, 0} {
			s.bandsSum(k, c.dims, c.axes, width)
		}
	}
}

// bandsSum adds up stencils of the given width, or random matrices for 0.
func (s *suite[T]) bandsSum(k device.StencilSum[T], dims, axes []int, width int) {
	sum := &device.BandedSum[T]{}
	n, taps := 1, 0
	for _, d := range dims {
		n *= d
	}
	src, dst := s.random(n), s.poison(n)
	want, from := make([]complex128, n), src.was()
	for _, axis := range axes {
		outer, inner := 1, 1
		for i, d := range dims {
			if i < axis {
				outer *= d
			} else if i > axis {
				inner *= d
			}
		}
		p := device.BandedPart[T]{Banded: &device.Banded[T]{Outer: outer, Inner: inner, DstRows: dims[axis], SrcRows: dims[axis]}}
		ghost := s.random(0)
		switch {
		case width > 0:
			p.Banded = s.stencil(outer, dims[axis], inner, width)
		case p.DstRows > 0:
			ghost = s.random(s.randomBands(p.Banded))
			p.Ghost = ghost.mem
		}
		for group := range p.Groups {
			bands(want, from, ghost.was(), p.Banded, group, true)
		}
		taps += max(width, 40)
		sum.Parts = append(sum.Parts, p)
	}
	for range 2 { // made, and kept
		k.BandsSum(dst.mem, src.mem, sum)
		dst.check(want, productTol[T](taps), "sum of bands of %v along %v, width %d", dims, axes, width)
	}
	for _, p := range sum.Parts {
		p.Cache.Clear()
	}
	sum.Cache.Clear()
	s.release()
}

func testGemmBatch[T scalar.Scalar](s *suite[T]) {
	g, ok := s.k.(device.BatchGemmer[T])
	if !ok {
		s.lacks("GemmBatch")
		return
	}
	for _, d := range [][4]int{{0, 2, 3, 4}, {1, 2, 3, 4}, {3, 1, 1, 1}, {7, 5, 3, 4}, {4, 0, 3, 2}, {4, 3, 2, 0}, {20, 8, 8, 8}, {2, 33, 17, 40}} {
		batch, m, n, k := d[0], d[1], d[2], d[3]
		for _, opA := range transposes {
			opB, ab := transposes[s.rng.IntN(4)], s.scales()[s.rng.IntN(6)]
			a, b, c := s.random(batch*m*k), s.random(batch*k*n), s.random(batch*m*n)
			var want []complex128
			for i := range batch {
				want = append(want, gemm(opA, opB, m, n, k, widen(ab[0]), a.was()[i*m*k:], b.was()[i*k*n:], widen(ab[1]), c.was()[i*m*n:])...)
			}
			if ab[1] == 0 {
				c = s.poison(batch * m * n)
			}
			s.must("gemm of a batch", g.GemmBatch(batch, opA, opB, m, n, k, ab[0], a.mem, b.mem, ab[1], c.mem))
			c.check(want, productTol[T](k), "gemm %v, ops=%d,%d, alpha=%v, beta=%v", d, opA, opB, ab[0], ab[1])
			s.release()
		}
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
	k, ok := s.k.(interface {
		FFT(dst, src device.Mem[T], extents []int, batch int, inverse bool) error
	})
	if !ok {
		s.lacks("FFT")
		return
	}
	for _, e := range extents {
		for _, inverse := range []bool{false, true} {
			n := size(e.n) * e.batch
			src, dst := s.random(n), s.poison(n)
			want := fourier(src.was(), e.n, inverse)
			s.must("fft", k.FFT(dst.mem, src.mem, e.n, e.batch, inverse))
			dst.check(want, productTol[T](size(e.n)), "fft of %v, batch %d, inverse=%v", e.n, e.batch, inverse)
			src.check(src.was(), 0, "source of the fft of %v", e.n)
			s.must("fft", k.FFT(src.mem, src.mem, e.n, e.batch, inverse))
			src.check(want, productTol[T](size(e.n)), "fft of %v in place, batch %d, inverse=%v", e.n, e.batch, inverse)
			s.release()
		}
	}
	for n := 1; n <= 40; n++ { // more plans than one keeps
		src, dst := s.random(n), s.poison(n)
		s.must("fft", k.FFT(dst.mem, src.mem, []int{n}, 1, false))
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
	k, ok := s.k.(interface {
		RFFT(dst device.Mem[T], src device.Mem[F], extents []int, batch int) error
		IRFFT(dst device.Mem[F], src device.Mem[T], extents []int, batch int) error
	})
	if !ok || s.d == nil {
		s.lacks("RFFT")
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
		s.must("rfft", k.RFFT(dst.mem, src.mem, e.n, e.batch))
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
		s.must("irfft", k.IRFFT(back.mem, from.mem, e.n, e.batch))
		back.check(was, productTol[T](size(e.n)), "irfft of %v, batch %d", e.n, e.batch)
		r.release()
		s.release()
	}
}
