package cpu

import (
	"slices"
	"unsafe"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// Sums of banded matrices along several axes, such as a Laplacian, in one pass over
// memory. Between the ends of bands, all taps of all matrices read runs of src that go
// along with dst. The matrix along the last of the axes repeats its bands with a short
// period: each of its bands is computed for several periods in one call.

// sumBytes is how much of dst one call computes at most, so that its sources stay in the
// near caches.
const sumBytes = 16 << 10

// sumArgs are the parameters of BandsSum. Lengths are in components.
type sumArgs[T scalar.Scalar, F float] struct {
	dst, src []F
	parts    []sumPart[T, F] // from the first axis to the last
	group    int
	ghosts   bool // group 1 has bands
	period   int  // of the last one
}

// sumPart is one matrix of a sum.
type sumPart[T scalar.Scalar, F float] struct {
	outer, inner int // of one outer index and of one row
	components   int
	taps         []device.Tap[T]
	ghosts       []device.Ghost
	ghost        []F
	bands        []sumBand // of both groups, in the order of their rows
}

// sumBand is a band and its group.
type sumBand struct {
	device.Band
	group int
}

// sumRuns are the runs that one element of dst is the sum of.
type sumRuns[F float] struct {
	n   int
	src [mostTaps]unsafe.Pointer
	c   [mostTaps]F
}

// BandsSum implements device.StencilSum.
func (k *kernels[T, F]) BandsSum(dst, src device.Mem[T], s *device.BandedSum[T], group int) {
	if !k.sumParts(s) {
		s.PerAxis(k, dst, src, group)
	} else if group == 0 || k.sum.ghosts {
		a := &k.sum
		a.dst, a.src, a.group = k.flat(dst), k.flat(src), group
		taps := 1
		for i := range a.parts {
			p := &a.parts[i]
			taps += len(p.taps) / max(1, len(p.bands))
		}
		k.pool.run(len(a.dst)/a.period, 1+bandGrain/(1+taps*a.period), k.loops.bandSum)
		a.dst, a.src = nil, nil
	}
	for i := range k.sum.parts { // keep nobody's memory alive
		p := &k.sum.parts[i]
		p.taps, p.ghosts, p.ghost = nil, nil, nil
	}
}

// sumParts lists the matrices. It returns false for those that are applied one by one.
func (k *kernels[T, F]) sumParts(s *device.BandedSum[T]) bool {
	a := &k.sum
	for len(a.parts) < len(s.Parts) {
		a.parts = append(a.parts, sumPart[T, F]{})
	}
	a.parts = a.parts[:len(s.Parts)]
	if !vectors || len(a.parts) < 2 {
		return false
	}
	most := 0
	a.ghosts = false
	for i := range s.Parts {
		b := s.Parts[i].Banded
		a.ghosts = a.ghosts || len(b.Groups[1]) > 0
		p := &a.parts[i]
		bands := p.bands[:0]
		for group, in := range b.Groups {
			for _, band := range in {
				bands = append(bands, sumBand{band, group})
			}
		}
		slices.SortFunc(bands, func(x, y sumBand) int { return x.Lo - y.Lo })
		*p = sumPart[T, F]{
			outer: b.DstRows * b.Inner * k.components, inner: b.Inner * k.components, components: k.components,
			taps: b.Taps, ghosts: b.Ghosts, ghost: k.flat(s.Parts[i].Ghost), bands: bands,
		}
		taps := 0
		for _, band := range bands {
			taps = max(taps, band.Last-band.First)
		}
		most += taps
		if b.DstRows*b.Inner*b.Outer == 0 || !steady[T, F](b.Taps) {
			return false
		}
	}
	slices.SortFunc(a.parts, func(x, y sumPart[T, F]) int { return y.inner - x.inner })
	for i := range a.parts[1:] {
		if a.parts[i].inner%a.parts[i+1].outer != 0 { // two matrices along one axis
			return false
		}
	}
	a.period = a.parts[len(a.parts)-1].outer
	return most <= mostTaps
}

// steady reports whether all taps have real factors and go along with the rows of dst.
func steady[T scalar.Scalar, F float](taps []device.Tap[T]) bool {
	for i := range taps {
		if taps[i].Step != 1 || imag(scalar.Complex(taps[i].Coef)) != 0 {
			return false
		}
	}
	return true
}

// bandSumPart computes the elements of some periods.
func (k *kernels[T, F]) bandSumPart(lo, hi int) {
	a := &k.sum
	coarse, fine := a.parts[:len(a.parts)-1], &a.parts[len(a.parts)-1]
	var common, runs sumRuns[F]
	for at, end := lo*a.period, hi*a.period; at < end; {
		to := min(end, at+max(1, sumBytes/int(unsafe.Sizeof(F(0)))/a.period)*a.period)
		group := 0
		for i := range coarse {
			band, e := coarse[i].at(at)
			if to = min(to, e); band != nil {
				group = max(group, band.group)
			}
		}
		if group > a.group {
			at = to
			continue
		}
		common.n = 0
		for i := range coarse {
			if band, _ := coarse[i].at(at); band != nil {
				coarse[i].add(&common, a.src, band, at, to-at)
			}
		}
		for i := range fine.bands {
			band := &fine.bands[i]
			n := (band.Hi - band.Lo) * fine.inner
			if n == 0 || max(group, band.group) != a.group {
				continue
			}
			rows := (to - at) / a.period // of one call
			if fine.readsGhosts(band) {
				rows = 1 // those of ghosts are not a period apart
			}
			for from := at + band.Lo*fine.inner; from < to; from += rows * a.period {
				runs.set(&common, from-at)
				fine.add(&runs, a.src, band, from, (rows-1)*a.period+n)
				runs.store(a.dst[from:], n, rows, a.period)
			}
		}
		at = to
	}
}

// at returns the band of component at of dst, nil if there is none, and where it ends.
func (p *sumPart[T, F]) at(at int) (band *sumBand, end int) {
	first := at / p.outer * p.outer
	row := (at - first) / p.inner
	lo, hi := 0, len(p.bands)
	for lo < hi {
		if mid := (lo + hi) / 2; p.bands[mid].Hi <= row {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	switch {
	case lo == len(p.bands):
		return nil, first + p.outer
	case p.bands[lo].Lo > row:
		return nil, first + p.bands[lo].Lo*p.inner
	}
	return &p.bands[lo], first + p.bands[lo].Hi*p.inner
}

// readsGhosts reports whether a tap of the band reads a ghost.
func (p *sumPart[T, F]) readsGhosts(band *sumBand) bool {
	taps := p.taps[band.First:band.Last]
	for i := range taps {
		if taps[i].Ghost != 0 {
			return true
		}
	}
	return false
}

// set makes r the runs of common, each of them shift components further.
func (r *sumRuns[F]) set(common *sumRuns[F], shift int) {
	r.n = common.n
	copy(r.c[:r.n], common.c[:r.n])
	for i, p := range common.src[:r.n] {
		r.src[i] = unsafe.Add(p, shift*int(unsafe.Sizeof(F(0))))
	}
}

// add adds what a band reads for n components of dst from at on. Taps of the same
// elements, such as the middle ones of a Laplacian, become one.
func (p *sumPart[T, F]) add(r *sumRuns[F], src []F, band *sumBand, at, n int) {
	o := at / p.outer
	behind := at - o*p.outer - band.Lo*p.inner
	taps := p.taps[band.First:band.Last]
	for i := range taps {
		t := &taps[i]
		from, first := src, o*p.outer
		if t.Ghost != 0 {
			g := p.ghosts[t.Ghost-1]
			from, first = p.ghost, g.At*p.components+o*g.Rows*p.inner
		}
		run := unsafe.Pointer(unsafe.SliceData(from[first+t.At*p.inner+behind:][:n]))
		j := 0
		for j < r.n && r.src[j] != run {
			j++
		}
		if j == r.n {
			r.src[j], r.c[j] = run, 0
			r.n++
		}
		r.c[j] += re[F](&t.Coef)
	}
}

// store sets n components of some rows of dst to the sum.
func (r *sumRuns[F]) store(dst []F, n, rows, period int) {
	dst = dst[:(rows-1)*period+n]
	if r.n > 0 {
		tapsVector(dst[:n], r.src[:r.n], r.c[:r.n], false, rows, period, period, 0)
		return
	}
	for ; rows > 1; rows-- {
		clear(dst[:n])
		dst = dst[period:]
	}
	clear(dst)
}
