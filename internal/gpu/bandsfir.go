package gpu

import (
	"slices"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// firArgs mirror FirArgs of bandsfir.cu.
type firArgs struct {
	dst, src, coef          uintptr
	outer, dstRows, srcRows int
	first, tiles            int
	span, add               int32
}

const (
	firThreads = 128
	firTile    = 512 // elements of a block
	firMost    = 512 // coefficients at most
	firLeast   = 6   // coefficients at least
)

// newFir returns the group as one filter along the last axis with zeros beyond the
// ends of src. It returns nil if the group is not such a filter.
func newFir[T scalar.Scalar](t *tables, b *device.Banded[T], bands []device.Band, rows int) *firArgs {
	if b.Inner != 1 || rows != b.DstRows || b.SrcRows == 0 {
		return nil
	}
	first, coef := filterOf(b, bands)
	tiles := (rows + firTile - 1) / firTile
	if len(coef) < firLeast || b.Outer*tiles > maxGrid {
		return nil
	}
	return &firArgs{
		coef: put(t, coef), outer: b.Outer, dstRows: b.DstRows, srcRows: b.SrcRows,
		first: first, tiles: tiles, span: int32(len(coef)),
	}
}

// filterOf returns the coefficients of the filter that all bands apply. coef[0]
// multiplies row first of src in row 0 of dst. coef is nil if bands differ, if a
// coefficient is missing, or if there are more than firMost.
func filterOf[T scalar.Scalar](b *device.Banded[T], bands []device.Band) (first int, coef []T) {
	lo, hi := 0, -1
	for _, x := range bands {
		for _, t := range b.Taps[x.First:x.Last] {
			if t.Ghost != 0 || t.Step != 1 && x.Hi-x.Lo > 1 {
				return 0, nil
			}
			if at := t.At - x.Lo; hi < lo {
				lo, hi = at, at
			} else {
				lo, hi = min(lo, at), max(hi, at)
			}
		}
		if hi-lo >= firMost {
			return 0, nil
		}
	}
	if hi < lo {
		return 0, nil
	}
	coef = make([]T, hi-lo+1)
	if !common(b, bands, lo, coef) {
		return 0, nil
	}
	return lo, coef
}

// common fills in coef, where coef[i] multiplies the row at offset lo+i in src. It
// reports whether all bands have the same coefficients.
func common[T scalar.Scalar](b *device.Banded[T], bands []device.Band, lo int, coef []T) bool {
	known, has := make([]bool, len(coef)), make([]bool, len(coef))
	for _, x := range bands {
		for _, t := range b.Taps[x.First:x.Last] {
			at := t.At - x.Lo - lo
			if known[at] && coef[at] != t.Coef {
				return false
			}
			known[at], coef[at] = true, t.Coef
		}
	}
	if slices.Contains(known, false) {
		return false
	}
	for _, x := range bands {
		clear(has)
		for _, t := range b.Taps[x.First:x.Last] {
			at := t.At - x.Lo - lo
			if has[at] { // two taps read the same row
				return false
			}
			has[at] = true
		}
		for i, there := range has {
			// A tap may be absent where it would read beyond src.
			if at := lo + i; !there && x.Hi-1+at >= 0 && x.Lo+at < b.SrcRows {
				return false
			}
		}
	}
	return true
}
