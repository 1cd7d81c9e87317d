package devicetest

import (
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

func boxCases[T scalar.Scalar]() []testCase[T] {
	return []testCase[T]{
		{"copynd", testCopyND[T], func(o *operands[T]) error { o.k.CopyND(o.y, o.x, &o.box, false); return nil }},
		{"transpose", testTransposes[T], nil},
		{"gather", testGather[T], func(o *operands[T]) error { o.k.Gather(o.y, o.x, &o.sparse); return nil }},
	}
}

// testCopyND copies random boxes of every rank between blocks whose axes come
// in any order and direction, with gaps.
func testCopyND[T scalar.Scalar](s *suite[T]) {
	for rank := range shape.MaxNDim + 1 {
		for range 40 / thin {
			dims := make([]int, rank)
			for i := range dims {
				dims[i] = []int{1, 2, 3, 3, 5, 9}[s.rng.IntN(max(2, 7-rank))]
			}
			if rank > 0 && s.rng.IntN(12) == 0 {
				dims[s.rng.IntN(rank)] = 0
			}
			c := &device.Strided{Shape: shape.Of(dims...)}
			var nd, ns int
			c.Dst, c.DstAt, nd = s.strides(dims)
			c.Src, c.SrcAt, ns = s.strides(dims)
			if rank > 0 && s.rng.IntN(6) == 0 { // a row that is repeated
				axis := s.rng.IntN(rank)
				if c.Src[axis] < 0 {
					c.SrcAt += c.Src[axis] * max(dims[axis]-1, 0)
				}
				c.Src[axis] = 0
			}
			s.copyBox(c, nd, ns)
		}
	}
}

// strides returns strides of a block in which a box of dims lies, where it
// begins, and how many elements the block has.
func (s *suite[T]) strides(dims []int) (st [shape.MaxNDim]int, at, n int) {
	n = 1
	for _, axis := range s.rng.Perm(len(dims)) {
		st[axis] = n
		room := max(dims[axis], 1) + s.rng.IntN(2)*s.rng.IntN(3)
		if s.rng.IntN(4) == 0 {
			at += n * max(dims[axis]-1, 0)
			st[axis] = -n
		}
		n *= room
	}
	front := s.rng.IntN(3)
	return st, at + front, n + front
}

func (s *suite[T]) copyBox(c *device.Strided, nd, ns int) {
	s.t.Helper()
	for _, add := range []bool{false, true} {
		dst, src := s.random(nd), s.random(ns)
		want := dst.was()
		copyND(want, src.was(), c, add)
		s.k.CopyND(dst.mem, src.mem, c, add)
		dst.check(want, tol[T](1), "copynd %+v, add=%v", *c, add)
		src.check(src.was(), 0, "source of copynd %+v, add=%v", *c, add)
		s.release()
	}
}

// box is extents and strides.
type box struct{ dims, dst, src []int }

// testTransposes copies boxes that are large enough for tiles and threads.
func testTransposes[T scalar.Scalar](s *suite[T]) {
	for _, b := range some([]box{
		{[]int{150, 301}, []int{301, 1}, []int{1, 150}},                                    // matrix transpose
		{[]int{301, 150}, []int{1, 301}, []int{150, 1}},                                    // and back
		{[]int{33, 65}, []int{65, 1}, []int{1, 33}},                                        // tiles that do not fill
		{[]int{3, 12_000}, []int{1, 3}, []int{12_000, 1}},                                  // interleave
		{[]int{12_000, 3}, []int{1, 12_000}, []int{3, 1}},                                  // and apart
		{[]int{20, 30, 60}, []int{1800, 60, 1}, []int{60, 1200, 1}},                        // rows stay whole
		{[]int{20, 30, 60}, []int{1800, 60, 1}, []int{1, 1200, 20}},                        // nothing does
		{[]int{20, 30, 60}, []int{30, 1, 600}, []int{1800, 60, 1}},                         // last axis first
		{[]int{20, 30, 60}, []int{1800, 60, 1}, []int{1800, 60, 1}},                        // one run
		{[]int{20, 30, 60}, []int{3600, 120, 2}, []int{1800, 60, 1}},                       // into every second
		{[]int{20, 30, 60}, []int{1800, 60, 1}, []int{3600, 120, 2}},                       // from every second
		{[]int{40, 50, 10}, []int{500, 10, 1}, []int{3000, 60, 1}},                         // a slab
		{[]int{2, 3, 4, 30, 50}, []int{1, 2, 6, 24, 720}, []int{18000, 6000, 1500, 50, 1}}, // all reversed
		{[]int{40_000}, []int{1}, []int{0}},                                                // a constant
		{[]int{600, 70}, []int{70, 1}, []int{1, 0}},                                        // rows of a constant
		{[]int{600, 70}, []int{70, 1}, []int{0, 1}},                                        // the same row
	}...) {
		c := &device.Strided{Shape: shape.Of(b.dims...)}
		copy(c.Dst[:], b.dst)
		copy(c.Src[:], b.src)
		nd, ns := 1, 1
		for i, d := range b.dims {
			nd, ns = nd+(d-1)*b.dst[i], ns+(d-1)*b.src[i]
		}
		s.copyBox(c, nd, ns)
		for i, d := range b.dims { // backwards in the source
			c.SrcAt, c.Src[i] = c.SrcAt+(d-1)*c.Src[i], -c.Src[i]
		}
		s.copyBox(c, nd, ns)
	}
}

func testGather[T scalar.Scalar](s *suite[T]) {
	for _, n := range []int{1, 5, 100, 40_003} {
		for _, rows := range sizes {
			for _, most := range []int{1, 3, 20} {
				if n*most > 1e5 && rows > 1000 {
					continue // the oracle would take long
				}
				m := &device.Sparse[T]{First: make([]int, rows+1)}
				for i := range rows {
					k := 1
					if most > 1 {
						k = s.rng.IntN(most)
					}
					for range k {
						m.At = append(m.At, s.rng.IntN(n))
					}
					m.First[i+1] = len(m.At)
				}
				for _, w := range [][]T{nil, s.numbers(len(m.At))} {
					m.W = w
					m.Cache.Clear()
					src, dst := s.random(n), s.poison(rows)
					s.k.Gather(dst.mem, src.mem, m)
					dst.check(gather(src.was(), m), tol[T](most), "gather %d from %d, %d per row, weights=%v", rows, n, most, w != nil)
					s.release()
				}
			}
		}
	}
}
