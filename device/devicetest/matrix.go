package devicetest

import (
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

func matrixCases[T scalar.Scalar]() []testCase[T] {
	return []testCase[T]{
		{"gemv", testGemv[T], func(o *operands[T]) error {
			return o.k.Gemv(device.NoTrans, 6, 6, 1, o.x, o.six, 0, o.z)
		}},
		{"gemm", testGemm[T], func(o *operands[T]) error {
			return o.k.Gemm(device.NoTrans, device.NoTrans, 6, 6, 6, 1, o.x, o.y, 0, o.z)
		}},
		{"gemmbatch", testGemmBatch[T], func(o *operands[T]) error {
			return device.GemmBatch(o.k, device.NoTrans, device.NoTrans, device.Batch{N: 2, A: 6, B: 6, C: 6}, 2, 2, 3, 1, o.x, o.y, 0, o.z)
		}},
		{"short", testShort[T], nil},
	}
}

var transposes = []device.Trans{device.NoTrans, device.Transpose, device.ConjTrans, device.ConjNoTrans}

// scales are pairs of alpha and beta.
func (s *suite[T]) scales() [][2]T {
	return [][2]T{{1, 0}, {1, 1}, {narrow[T](-1), narrow[T](0.5)}, {s.number(), s.number()}, {0, s.number()}, {s.number(), 0}}
}

func testGemv[T scalar.Scalar](s *suite[T]) {
	for _, d := range [][2]int{
		{0, 0}, {0, 3}, {3, 0}, {1, 1}, {1, 9}, {9, 1}, {2, 3}, {4, 4}, {5, 7}, {8, 16}, {17, 33}, {100, 31}, {33, 1025},
		{3, 12_001}, {12_001, 3}, {40, 1100}, {1100, 61},
	} {
		m, n := d[0], d[1]
		for _, op := range transposes {
			rows, cols := m, n
			if op == device.Transpose || op == device.ConjTrans {
				rows, cols = n, m
			}
			for _, ab := range s.scales() {
				a, x, y := s.random(m*n), s.random(cols), s.random(rows)
				want := gemm(op, device.NoTrans, rows, 1, cols, widen(ab[0]), a.was(), x.was(), widen(ab[1]), y.was())
				if ab[1] == 0 {
					y = s.poison(rows)
				}
				s.must("gemv", s.k.Gemv(op, m, n, ab[0], a.mem, x.mem, ab[1], y.mem))
				y.check(want, productTol[T](cols), "gemv %v, op=%d, alpha=%v, beta=%v", d, op, ab[0], ab[1])
				s.release()
			}
		}
	}
}

func testGemm[T scalar.Scalar](s *suite[T]) {
	for _, d := range [][3]int{
		{0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {1, 1, 1}, {1, 5, 3}, {5, 1, 3}, {2, 3, 4}, {4, 4, 4}, {5, 6, 7}, {8, 8, 8},
		{13, 17, 9}, {33, 1, 40}, {1, 33, 40}, {40, 33, 1}, {37, 41, 29}, {5, 300, 6}, {300, 5, 6},
	} {
		for _, opA := range transposes {
			for _, opB := range transposes {
				ab := s.scales()
				s.gemm(opA, opB, d[0], d[1], d[2], ab[s.rng.IntN(len(ab))])
			}
		}
		for _, ab := range s.scales() {
			s.gemm(transposes[s.rng.IntN(4)], transposes[s.rng.IntN(4)], d[0], d[1], d[2], ab)
		}
	}
	for _, d := range [][3]int{{130, 70, 300}, {65, 530, 40}, {70, 66, 515}, {3, 2, 2000}} { // past the sizes of blocks
		for range 4 {
			s.gemm(transposes[s.rng.IntN(4)], transposes[s.rng.IntN(4)], d[0], d[1], d[2], [2]T{s.number(), s.number()})
		}
	}
}

func (s *suite[T]) gemm(opA, opB device.Trans, m, n, k int, ab [2]T) {
	s.t.Helper()
	a, b, c := s.random(m*k), s.random(k*n), s.random(m*n)
	want := gemm(opA, opB, m, n, k, widen(ab[0]), a.was(), b.was(), widen(ab[1]), c.was())
	if ab[1] == 0 {
		c = s.poison(m * n)
	}
	s.must("gemm", s.k.Gemm(opA, opB, m, n, k, ab[0], a.mem, b.mem, ab[1], c.mem))
	c.check(want, productTol[T](k), "gemm %d x %d x %d, ops=%d,%d, alpha=%v, beta=%v", m, n, k, opA, opB, ab[0], ab[1])
	s.release()
}

// testGemmBatch multiplies batches, some with gaps between matrices, some with one
// factor for all products.
func testGemmBatch[T scalar.Scalar](s *suite[T]) {
	for _, d := range [][4]int{{0, 2, 3, 4}, {1, 2, 3, 4}, {3, 0, 2, 2}, {3, 2, 2, 0}, {2, 1, 1, 1}, {5, 4, 1, 3}, {4, 7, 5, 6}, {3, 33, 40, 41}} {
		batch, m, n, k := device.Batch{N: d[0]}, d[1], d[2], d[3]
		for i := range 8 {
			batch.A, batch.B, batch.C = m*k+i%3, k*n*(i%2), m*n+i%4
			ab := s.scales()[i%6]
			s.gemmBatch(transposes[s.rng.IntN(4)], transposes[s.rng.IntN(4)], batch, m, n, k, ab)
		}
	}
}

func (s *suite[T]) gemmBatch(opA, opB device.Trans, batch device.Batch, m, n, k int, ab [2]T) {
	s.t.Helper()
	a, b, c := s.random(batch.Holds(batch.A, m, k)), s.random(batch.Holds(batch.B, k, n)), s.random(batch.Holds(batch.C, m, n))
	want := c.was() // gaps keep what they have
	for i := range batch.N {
		product := gemm(opA, opB, m, n, k, widen(ab[0]), a.was()[i*batch.A:][:m*k], b.was()[i*batch.B:][:k*n], widen(ab[1]), want[i*batch.C:][:m*n])
		copy(want[i*batch.C:], product)
	}
	s.must("gemmbatch", device.GemmBatch(s.k, opA, opB, batch, m, n, k, ab[0], a.mem, b.mem, ab[1], c.mem))
	c.check(want, productTol[T](k), "gemmbatch of %+v, %d x %d x %d, ops=%d,%d, alpha=%v, beta=%v", batch, m, n, k, opA, opB, ab[0], ab[1])
	s.release()
}

// testShort multiplies matrices that memory is too short for: each is a panic
// with SizeError, and nothing is written.
func testShort[T scalar.Scalar](s *suite[T]) {
	const m, n, k = 40, 50, 60 // large enough for a native library
	for short := range 3 {
		sizes := [3]int{m * k, k * n, m * n}
		sizes[short]--
		a, b, c := s.random(sizes[0]), s.random(sizes[1]), s.random(sizes[2])
		was := c.was()
		s.refuses("gemm", short, func() error { return s.k.Gemm(device.NoTrans, device.NoTrans, m, n, k, 1, a.mem, b.mem, 0, c.mem) })
		c.check(was, 0, "gemm that was refused")
		sizes = [3]int{m * 100, 100, m}
		sizes[short]--
		a, b, c = s.random(sizes[0]), s.random(sizes[1]), s.random(sizes[2])
		was = c.was()
		s.refuses("gemv", short, func() error { return s.k.Gemv(device.NoTrans, m, 100, 1, a.mem, b.mem, 0, c.mem) })
		c.check(was, 0, "gemv that was refused")
		s.release()
	}
}

func (s *suite[T]) refuses(kernel string, short int, f func() error) {
	defer func() {
		if e, ok := recover().(device.SizeError); !ok {
			s.errorf("%s with operand %d too short: got %v, want a panic with SizeError", kernel, short, e)
		}
	}()
	s.must(kernel, f())
}
