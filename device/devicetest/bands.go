package devicetest

import (
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

func bandCases[T scalar.Scalar]() []testCase[T] {
	return []testCase[T]{
		{"bands", testBands[T], func(o *operands[T]) error { o.k.Bands(o.y, o.x, device.Mem[T]{}, &o.bands, 0, false); return nil }},
		{"random bands", testBandsRandom[T], nil},
		{"bandssum", testBandsSum[T], func(o *operands[T]) error {
			device.BandsSum(o.k, o.y, o.x, &o.sum, 0)
			device.BandsSum(o.k, o.y, o.x, &o.sum, 1)
			return nil
		}},
	}
}

// applyBands applies both groups and compares after each, so that a group that
// touches rows of the other is seen.
func (s *suite[T]) applyBands(b *device.Banded[T], ghosts int, format string, args ...any) {
	s.t.Helper()
	taps := 1
	for _, g := range b.Groups {
		for _, band := range g {
			taps = max(taps, band.Last-band.First)
		}
	}
	for _, add := range []bool{false, true} {
		src, ghost := s.random(b.Outer*b.SrcRows*b.Inner), s.random(ghosts)
		dst := s.poison(b.Outer * b.DstRows * b.Inner)
		if add {
			dst = s.random(b.Outer * b.DstRows * b.Inner)
		}
		want, from, near := dst.was(), src.was(), ghost.was()
		for group := range b.Groups {
			bands(want, from, near, b, group, add)
			s.k.Bands(dst.mem, src.mem, ghost.mem, b, group, add)
			dst.check(want, productTol[T](taps), format+", group %d, add=%v", append(args, group, add)...)
		}
		s.release()
	}
	b.Cache.Clear()
}

// testBands applies the matrices that operators use: stencils of 1 to 9 taps
// along each axis, with short bands at the edges, and rows of many taps.
func testBands[T scalar.Scalar](s *suite[T]) {
	for _, b := range blocks {
		outer, n, inner := b[0], b[1], b[2]
		for _, width := range []int{1, 2, 3, 4, 5, 6, 7, 9} {
			if outer*n*inner > 20_000 && width%2 == 0 || n == 0 {
				continue
			}
			s.applyBands(s.stencil(outer, n, inner, width), 0, "stencil %v of %d taps", b, width)
		}
	}
	for _, b := range [][4]int{{1, 3, 1, 50}, {2, 5, 1, 37}, {3, 4, 2, 17}, {2, 3, 33, 8}, {1, 100, 1, 700}, {2, 2, 1500, 6}, {1, 3, 1, 20_000}} {
		s.applyBands(s.dense(b[0], b[1], b[2], b[3]), 0, "dense %v", b)
	}
	for _, b := range [][4]int{{3, 40, 1, 7}, {5, 700, 1, 81}, {2, 1500, 1, 12}, {4, 30, 1, 41}, {1, 520, 1, 513}, {2, 90, 70, 35}, {3, 9, 66, 3}, {2, 60, 5, 40}} {
		s.applyBands(s.filter(b[0], b[1], b[2], b[3]), 0, "filter %v", b)
	}
	s.applyBands(s.mirror(3, 40, 1), 0, "mirror")
	s.applyBands(s.mirror(3, 40, 7), 0, "mirror of rows")
	s.applyBands(s.mirror(1, 40_000, 1), 0, "long mirror")
}

// stencil is a filter with random coefficients whose rows near the edges lack
// the taps that would lie outside; they are in group 1.
func (s *suite[T]) stencil(outer, n, inner, width int) *device.Banded[T] {
	b := &device.Banded[T]{Outer: outer, Inner: inner, DstRows: n, SrcRows: n}
	coefs := s.numbers(width)
	left := width / 2
	band := func(group, lo, hi int) {
		first := len(b.Taps)
		for w, c := range coefs {
			if at := lo + w - left; at >= 0 && hi-1+w-left < n {
				b.Taps = append(b.Taps, device.Tap[T]{At: at, Step: 1, Coef: c})
			}
		}
		b.Groups[group] = append(b.Groups[group], device.Band{Lo: lo, Hi: hi, First: first, Last: len(b.Taps)})
	}
	lo, hi := min(left, n), max(n-(width-1-left), min(left, n))
	for i := range lo {
		band(1, i, i+1)
	}
	if lo < hi {
		band(0, lo, hi)
	}
	for i := hi; i < n; i++ {
		band(1, i, i+1)
	}
	return b
}

// filter is a stencil whose rows are all in group 0, as those of a convolution
// along an axis that one rank holds. It may be longer than the axis.
func (s *suite[T]) filter(outer, n, inner, width int) *device.Banded[T] {
	b := &device.Banded[T]{Outer: outer, Inner: inner, DstRows: n, SrcRows: n}
	coefs, left := s.numbers(width), s.rng.IntN(width)
	inside := func(i, w int) bool { return i+w-left >= 0 && i+w-left < n }
	for lo := 0; lo < n; {
		hi := lo + 1
		for hi < n && sameTaps(inside, lo, hi, width) {
			hi++
		}
		first := len(b.Taps)
		for w, c := range coefs {
			if inside(lo, w) {
				b.Taps = append(b.Taps, device.Tap[T]{At: lo + w - left, Step: 1, Coef: c})
			}
		}
		b.Groups[0] = append(b.Groups[0], device.Band{Lo: lo, Hi: hi, First: first, Last: len(b.Taps)})
		lo = hi
	}
	return b
}

// sameTaps reports whether rows i and j have the same taps.
func sameTaps(inside func(i, w int) bool, i, j, width int) bool {
	for w := range width {
		if inside(i, w) != inside(j, w) {
			return false
		}
	}
	return true
}

// dense is a full matrix: one band for each row, with a tap for each column.
func (s *suite[T]) dense(outer, rows, inner, cols int) *device.Banded[T] {
	b := &device.Banded[T]{Outer: outer, Inner: inner, DstRows: rows, SrcRows: cols}
	for i := range rows {
		for j := range cols {
			b.Taps = append(b.Taps, device.Tap[T]{At: j, Step: s.rng.IntN(3) - 1, Coef: s.number()})
		}
		b.Groups[i%2] = append(b.Groups[i%2], device.Band{Lo: i, Hi: i + 1, First: i * cols, Last: (i + 1) * cols})
	}
	return b
}

// mirror adds to each row the mirrored one and, as a constant, the last one.
func (s *suite[T]) mirror(outer, n, inner int) *device.Banded[T] {
	return &device.Banded[T]{
		Outer: outer, Inner: inner, DstRows: n, SrcRows: n,
		Taps: []device.Tap[T]{
			{At: 0, Step: 1, Coef: s.number()}, {At: n - 1, Step: -1, Coef: s.number()}, {At: n - 1, Step: 0, Coef: s.number()},
		},
		Groups: [2][]device.Band{{{Lo: 0, Hi: n, First: 0, Last: 3}}},
	}
}

// testBandsRandom applies random bands with ghosts, steps and groups.
func testBandsRandom[T scalar.Scalar](s *suite[T]) {
	for i := range 150 / thin {
		b := &device.Banded[T]{
			Outer: s.rng.IntN(4), Inner: []int{0, 1, 1, 1, 2, 3, 8, 37, 61, 700}[s.rng.IntN(10)],
			DstRows: s.rng.IntN(60), SrcRows: 1 + s.rng.IntN(60),
		}
		ghosts := s.randomBands(b)
		s.applyBands(b, ghosts, "random bands %d of %d x %d x %d from %d rows, %d ghosts",
			i, b.Outer, b.DstRows, b.Inner, b.SrcRows, len(b.Ghosts))
		if s.t.Failed() {
			return
		}
	}
}

// randomBands gives a matrix bands for all its rows, and ghosts. It returns how
// many elements those have together.
func (s *suite[T]) randomBands(b *device.Banded[T]) (ghosts int) {
	for range s.rng.IntN(4) {
		ghosts += s.rng.IntN(3) // a gap
		g := device.Ghost{At: ghosts, Rows: 1 + s.rng.IntN(5)}
		b.Ghosts = append(b.Ghosts, g)
		ghosts += b.Outer * g.Rows * b.Inner
	}
	for lo := 0; lo < b.DstRows; {
		hi := min(lo+1+s.rng.IntN(2)*s.rng.IntN(30), b.DstRows)
		first := len(b.Taps)
		most := 9
		if hi == lo+1 {
			most = 40
		}
		at := s.rng.IntN(b.SrcRows)
		for range s.rng.IntN(most) {
			t, ok := s.tap(b, hi-lo, at)
			if ok {
				b.Taps = append(b.Taps, t)
			}
			at++ // taps often are neighbours
		}
		group := s.rng.IntN(2)
		b.Groups[group] = append(b.Groups[group], device.Band{Lo: lo, Hi: hi, First: first, Last: len(b.Taps)})
		lo = hi
	}
	return ghosts
}

// tap returns a tap of a band of n rows, near row at of a source or anywhere in
// a ghost, or false if the band is too long for that.
func (s *suite[T]) tap(b *device.Banded[T], n, at int) (device.Tap[T], bool) {
	t := device.Tap[T]{Step: []int{1, 1, 1, -1, 0}[s.rng.IntN(5)], Coef: s.number()}
	if s.rng.IntN(6) == 0 {
		t.Coef = narrow[T](complex(real(widen(t.Coef)), 0)) // a real one among complex ones
	}
	rows := b.SrcRows
	if len(b.Ghosts) > 0 && s.rng.IntN(4) == 0 {
		t.Ghost = 1 + s.rng.IntN(len(b.Ghosts))
		rows = b.Ghosts[t.Ghost-1].Rows
		at = s.rng.IntN(rows)
	}
	if n > rows {
		t.Step = 0
	}
	lo, hi := 0, rows-1
	switch t.Step {
	case 1:
		hi = rows - n
	case -1:
		lo = n - 1
	}
	t.At = min(max(at, lo), hi)
	return t, rows > 0
}

// testBandsSum adds up stencils and random matrices along some axes of blocks.
func testBandsSum[T scalar.Scalar](s *suite[T]) {
	for _, c := range []struct{ dims, axes []int }{
		{[]int{9, 8, 70}, []int{0, 1, 2}}, {[]int{40, 33}, []int{0, 1}}, {[]int{33, 40}, []int{1, 0}}, {[]int{5, 6, 50}, []int{1, 2}},
		{[]int{17, 3, 65}, []int{0, 2}}, {[]int{6, 7, 40}, []int{0, 1}}, {[]int{3, 4, 5, 36}, []int{0, 1, 2, 3}}, {[]int{90}, []int{0}},
		{[]int{7, 1, 40}, []int{0, 1, 2}}, {[]int{30, 5}, []int{0, 1}}, {[]int{5, 0, 40}, []int{0, 2}}, {[]int{2, 2, 2, 2, 64}, []int{0, 1, 2, 3, 4}},
		{[]int{4, 100, 300}, []int{1, 2}}, {[]int{300, 4, 100}, []int{0, 1, 2}},
	} {
		for _, width := range []int{3, 5, 0} {
			s.bandsSum(c.dims, c.axes, width)
		}
	}
}

// bandsSum adds up stencils of the given width, or random matrices for 0.
func (s *suite[T]) bandsSum(dims, axes []int, width int) {
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
		device.BandsSum(s.k, dst.mem, src.mem, sum, 0)
		device.BandsSum(s.k, dst.mem, src.mem, sum, 1)
		dst.check(want, productTol[T](taps), "sum of bands of %v along %v, width %d", dims, axes, width)
	}
	for _, p := range sum.Parts {
		p.Cache.Clear()
	}
	sum.Cache.Clear()
	s.release()
}
