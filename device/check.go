package device

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/golops/golops/shape"
)

// Size returns the product of extents, or -1 if one is negative or no int holds the
// product.
func Size(extents ...int) int {
	n := 1
	for _, e := range extents {
		if e == 0 {
			n = 0
		}
	}
	for _, e := range extents {
		hi, lo := bits.Mul64(uint64(n), uint64(e))
		if e < 0 || hi != 0 || lo > math.MaxInt {
			return -1
		}
		n = int(lo)
	}
	return n
}

// Check returns an error unless the box lies within blocks of dst and src elements.
func (c *Strided) Check(dst, src int) error {
	if c.Shape.Size() == 0 || within(&c.Shape, &c.Dst, c.DstAt, dst) && within(&c.Shape, &c.Src, c.SrcAt, src) {
		return nil
	}
	n := c.Shape.NDim()
	return fmt.Errorf("a box of %v from element %d with strides %v to element %d with strides %v reaches beyond blocks of %d and %d elements",
		c.Shape, c.SrcAt, c.Src[:n], c.DstAt, c.Dst[:n], src, dst)
}

// within reports whether all elements of a box lie in a block of n elements.
func within(sh *shape.Shape, strides *[shape.MaxNDim]int, at, n int) bool {
	if at < 0 || at >= n {
		return false
	}
	first, last := at, at
	for i := range sh.NDim() {
		s := strides[i]
		hi, far := bits.Mul64(uint64(max(s, -s)), uint64(sh.Dim(i)-1))
		if hi != 0 || far > uint64(n) {
			return false
		}
		if s < 0 {
			first -= int(far)
		} else {
			last += int(far)
		}
	}
	return first >= 0 && last < n
}

// Sizes returns how many elements dst, src and the ghosts have. It is -1 where no
// memory has that many.
func (b *Banded[T]) Sizes() (dst, src, ghosts int) {
	dst, src = Size(b.Outer, b.DstRows, b.Inner), Size(b.Outer, b.SrcRows, b.Inner)
	for _, g := range b.Ghosts {
		n := Size(b.Outer, g.Rows, b.Inner)
		if n < 0 || g.At < 0 || g.At > math.MaxInt-n {
			return dst, src, -1
		}
		ghosts = max(ghosts, g.At+n)
	}
	return dst, src, ghosts
}

// Check returns an error if the matrix reads or writes outside blocks of its Sizes.
// It looks once and remembers in Cache that all is well.
func (b *Banded[T]) Check() error {
	if b.Cache.checked {
		return nil
	}
	if dst, src, ghosts := b.Sizes(); dst < 0 || src < 0 || ghosts < 0 {
		return fmt.Errorf("blocks of %d × %d × %d and %d × %d × %d with ghosts %v", b.Outer, b.DstRows, b.Inner, b.Outer, b.SrcRows, b.Inner, b.Ghosts)
	}
	for _, group := range b.Groups {
		for _, band := range group {
			if err := b.checkBand(band); err != nil {
				return err
			}
		}
	}
	b.Cache.checked = true
	return nil
}

func (b *Banded[T]) checkBand(band Band) error {
	if band.Lo < 0 || band.Lo > band.Hi || band.Hi > b.DstRows || band.First < 0 || band.First > band.Last || band.Last > len(b.Taps) {
		return fmt.Errorf("band %+v of %d rows and %d taps", band, b.DstRows, len(b.Taps))
	}
	if band.Lo == band.Hi {
		return nil
	}
	for _, t := range b.Taps[band.First:band.Last] {
		rows := b.SrcRows
		if t.Ghost < 0 || t.Ghost > len(b.Ghosts) || t.Step < -1 || t.Step > 1 {
			return fmt.Errorf("tap %+v: there are %d ghosts, and a step is -1, 0 or 1", t, len(b.Ghosts))
		}
		if t.Ghost > 0 {
			rows = b.Ghosts[t.Ghost-1].Rows
		}
		if last := t.At + t.Step*(band.Hi-1-band.Lo); min(t.At, last) < 0 || max(t.At, last) >= rows {
			return fmt.Errorf("tap %+v of rows %d to %d reads rows %d to %d of %d", t, band.Lo, band.Hi-1, t.At, last, rows)
		}
	}
	return nil
}

// Check returns an error unless the matrix has a row for each of dst elements and its
// columns are among src elements. It looks at the whole matrix once and remembers in
// Cache that all is well.
func (s *Sparse[T]) Check(dst, src int) error {
	if !s.Cache.checked {
		if err := s.check(); err != nil {
			return err
		}
		s.Cache.checked = true
	}
	if rows := max(len(s.First)-1, 0); rows != dst || s.cols > src {
		return fmt.Errorf("a matrix of %d rows and at least %d columns for %d and %d elements", rows, s.cols, dst, src)
	}
	return nil
}

func (s *Sparse[T]) check() error {
	if s.W != nil && len(s.W) != len(s.At) {
		return fmt.Errorf("%d weights for %d columns", len(s.W), len(s.At))
	}
	for i, at := range s.First {
		if at < 0 || at > len(s.At) || i > 0 && at < s.First[i-1] {
			return fmt.Errorf("row %d begins at %d of %d columns", i, at, len(s.At))
		}
	}
	s.cols = 0
	for _, at := range s.At {
		if at < 0 {
			return fmt.Errorf("column %d", at)
		}
		s.cols = max(s.cols, at+1)
	}
	return nil
}

// Check returns an error unless an image has image elements, the traces have traces
// elements, and all tables have the lengths that these need.
func (t *TravelTables[F]) Check(image, traces int) error {
	pairs := Size(t.Sources, t.Receivers)
	if pairs < 0 || t.Points != image || Size(pairs, t.Samples) != traces {
		return fmt.Errorf("tables of %d sources, %d receivers, %d points and %d samples for %d image points and %d trace samples",
			t.Sources, t.Receivers, t.Points, t.Samples, image, traces)
	}
	src, rec, weighted := Size(t.Sources, t.Points), Size(t.Receivers, t.Points), t.SrcW[0] != nil
	ok := len(t.Src) == src && len(t.Rec) == rec
	for i := range t.SrcW {
		ok = ok && (!weighted || len(t.SrcW[i]) == src && len(t.RecW[i]) == rec)
	}
	if t.Aperture != nil {
		ok = ok && len(t.Aperture) == Size(pairs, t.Depths)
	}
	if (weighted || t.Aperture != nil) && pairs > 0 && t.Points > 0 {
		ok = ok && t.Depths > 0 && t.Points%t.Depths == 0
	}
	if n := len(t.Wavelet); n > 0 && (t.Centre < 0 || t.Centre >= n) {
		return fmt.Errorf("the centre of the wavelet is sample %d of %d", t.Centre, n)
	}
	if !ok {
		return fmt.Errorf("%d and %d travel times, %d and %d weights, an aperture of %d, %d depths, for %d sources, %d receivers and %d points",
			len(t.Src), len(t.Rec), len(t.SrcW[0]), len(t.RecW[0]), len(t.Aperture), t.Depths, t.Sources, t.Receivers, t.Points)
	}
	return nil
}
