package gpu

import (
	"cmp"
	"slices"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

const (
	partMost    = 4  // parts of a sum
	sumMainMost = 64 // main taps of all parts
	sumLine     = 32 // elements of a line, at least
	sumWidth    = 64 // threads along a line in a block of several lines
	sumHigh     = 4  // lines of a block
)

// The types here mirror those of bandsum.cu.
type (
	sumBand struct{ lo, hi, first, last int }

	bandsPart struct {
		ghost               uintptr
		bands, taps, ghosts uintptr
		count, rows, inner  int
		lo, hi              int
		first, last         int32
	}

	bandsSumArgs[T scalar.Scalar] struct {
		dst, src                  uintptr
		outer, line               int
		parts, width, high, chunk int32
		part                      [partMost]bandsPart
		at                        [sumMainMost]int
		coef                      [sumMainMost]T
	}
)

// sumPlan is a device.BandedSum in GPU memory. Part i of the arguments is part
// order[i] of the sum. order is nil if one pass cannot compute the sum.
type sumPlan[T scalar.Scalar] struct {
	grid  grid
	order []int
	args  bandsSumArgs[T]
	plane *planeSum[T] // nil if one kernel computes the whole sum
}

// BandsSum implements device.StencilSum.
func (k *kernels[T, F]) BandsSum(dst, src device.Mem[T], s *device.BandedSum[T], group int) {
	kept, _ := s.Cache.Get(k.d).(*sumPlan[T])
	if kept == nil {
		var err error
		if kept, err = k.makeSumPlan(s); err != nil {
			k.d.fail(err)
			return
		}
	}
	if kept.order == nil {
		s.PerAxis(k, dst, src, group)
		return
	}
	if group == 0 {
		return // one kernel does all, after the ghosts have come
	}
	a := &kept.args
	a.dst, a.src = dst.Addr, src.Addr
	for i, at := range kept.order {
		a.part[i].ghost = s.Parts[at].Ghost.Addr
	}
	if kept.plane != nil {
		k.planeSum(kept.plane, a)
		return
	}
	launch(k.d, &k.bands.sum, kept.grid, bandBlock, 0, a)
}

func (k *kernels[T, F]) makeSumPlan(s *device.BandedSum[T]) (*sumPlan[T], error) {
	kept := &sumPlan[T]{}
	var t tables
	if !kept.plan(&t, s) {
		kept.order = nil
		s.Cache.Set(k.d, kept, nil)
		return kept, nil
	}
	kept.plane = k.planWithPlanes(&kept.args)
	addr, err := k.d.upload(t.bytes)
	if err != nil {
		return nil, err
	}
	for i := range kept.order {
		p := &kept.args.part[i]
		p.bands, p.taps, p.ghosts = addr+p.bands, addr+p.taps, addr+p.ghosts
	}
	cacheTables(k.d, &s.Cache, kept, addr)
	return kept, nil
}

// plan fills in everything except addresses. It returns false if one pass is
// impossible or does not pay.
func (s *sumPlan[T]) plan(t *tables, sum *device.BandedSum[T]) bool {
	if n := len(sum.Parts); n < 2 || n > partMost {
		return false
	}
	for i := range sum.Parts {
		s.order = append(s.order, i)
	}
	slices.SortStableFunc(s.order, func(i, j int) int { // the slowest axis first
		a, b := sum.Parts[i], sum.Parts[j]
		return cmp.Or(cmp.Compare(b.Inner, a.Inner), cmp.Compare(a.Outer, b.Outer))
	})
	first := sum.Parts[s.order[0]]
	taps := 0
	for i, at := range s.order {
		p := sum.Parts[at]
		if p.DstRows != p.SrcRows || p.DstRows*p.Inner == 0 || i > 0 && first.Inner%(p.DstRows*p.Inner) != 0 {
			return false
		}
		if taps = s.addPart(t, &s.args.part[i], p.Banded, taps); taps < 0 {
			return false
		}
	}
	a := &s.args
	a.outer, a.parts = first.Outer, int32(len(s.order))
	a.line = sum.Parts[s.order[1]].Inner
	if a.line < sumLine {
		a.line = first.Inner
	}
	s.shape(first.Outer, first.DstRows, first.Inner)
	return first.Inner >= sumLine && first.Outer > 0
}

// shape sets the grid over the lines of the first part.
func (s *sumPlan[T]) shape(outer, rows, inner int) {
	a := &s.args
	lines := inner / a.line
	width := powerOf2(a.line, sumWidth)
	if lines == 1 {
		width = powerOf2(a.line, bandBlock)
	}
	high := powerOf2(lines, sumHigh)
	deep := bandBlock / (width * high)
	chunk := bandsChunk
	if outer*rows*inner < manyThreads*bandsChunk {
		chunk = bandElements
	}
	a.width, a.high, a.chunk = int32(width), int32(high), int32(chunk)
	tiles := (rows + deep*chunk - 1) / (deep * chunk)
	s.grid = grid{(a.line + width - 1) / width * ((lines + high - 1) / high), min(outer*tiles, maxGridY)}
}

// addPart fills in a part and appends its main taps to the taps so far. It returns
// the new number of taps, or -1 if there are too many.
func (s *sumPlan[T]) addPart(t *tables, p *bandsPart, b *device.Banded[T], taps int) int {
	var list []sumBand
	for _, g := range b.Groups {
		for _, x := range g {
			if x.Lo < x.Hi {
				list = append(list, sumBand{x.Lo, x.Hi, x.First, x.Last})
			}
		}
	}
	slices.SortFunc(list, func(a, b sumBand) int { return cmp.Compare(a.lo, b.lo) })
	var main sumBand
	for _, x := range list {
		if x.hi-x.lo > main.hi-main.lo && alongRows(b.Taps[x.first:x.last]) {
			main = x
		}
	}
	if taps+main.last-main.first > sumMainMost {
		return -1
	}
	*p = bandsPart{
		bands: put(t, list), taps: put(t, tapRecords(b.Taps)), ghosts: put(t, b.Ghosts),
		count: len(list), rows: b.DstRows, inner: b.Inner, lo: main.lo, hi: main.hi, first: int32(taps),
	}
	for _, x := range b.Taps[main.first:main.last] {
		s.args.at[taps], s.args.coef[taps] = (x.At-main.lo)*b.Inner, x.Coef
		taps++
	}
	p.last = int32(taps)
	return taps
}
