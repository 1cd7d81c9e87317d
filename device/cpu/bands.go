package cpu

import (
	"unsafe"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// bandPiece is how many components of dst a band goes through at once, with a few
// sources: what the nearest cache holds.
const bandPiece = 2048

// bandGrain is how many products one thread takes at a time.
const bandGrain = 32 << 10

// bandArgs are the parameters of Bands. Lengths are in components.
type bandArgs[T scalar.Scalar, F float] struct {
	dst, src, ghost []F
	b               *device.Banded[T]
	bands           []device.Band
	inner, rows     int // parts of a row of dst, and of one outer index
	tiles           int // of one outer index, if bands go by tiles
	add             bool
	realTaps        bool // no factor has an imaginary part
	sorted          bool // bands are in the order of their rows
}

// Bands sums stencils in the element type, and single rows of many taps in 64 bits.
// Threads share pieces of dst: many outer indices, or a part of one.
func (k *kernels[T, F]) Bands(dst, src, ghost device.Mem[T], b *device.Banded[T], group int, add bool) {
	a := &k.bd
	*a = bandArgs[T, F]{
		dst: k.flat(dst), src: k.flat(src), ghost: k.flat(ghost), b: b, bands: b.Groups[group],
		inner: b.Inner * k.components, rows: b.DstRows * b.Inner * k.components, add: add, realTaps: true, sorted: true,
	}
	if k.moveBands() {
		*a = bandArgs[T, F]{}
		return
	}
	work, next := 0, 0
	for _, band := range a.bands {
		taps := b.Taps[band.First:band.Last]
		work += (band.Hi - band.Lo) * (1 + len(taps))
		a.sorted = a.sorted && band.Lo >= next
		next = band.Hi
		if k.components == 2 && a.realTaps {
			a.realTaps = allReal[T, F](taps)
		}
	}
	if work *= b.Outer * b.Inner; work > 0 && !k.tileBands(work) {
		elements := b.Outer * b.DstRows * b.Inner
		chunks := min(elements, 1+work/bandGrain)
		grain := (elements + chunks - 1) / chunks
		k.pool.run(elements, grain, k.loops.bands)
	}
	*a = bandArgs[T, F]{}
}

// allReal reports whether no factor of complex taps has an imaginary part.
func allReal[T scalar.Scalar, F float](taps []device.Tap[T]) bool {
	for i := range taps {
		if (*pair[F])(unsafe.Pointer(&taps[i].Coef)).im != 0 {
			return false
		}
	}
	return true
}

// bandsPart computes the elements of dst from lo to hi that are in the bands.
func (k *kernels[T, F]) bandsPart(lo, hi int) {
	a := &k.bd
	lo, hi = lo*k.components, hi*k.components
	for o := lo / a.rows; o*a.rows < hi; o++ {
		from, to := max(lo-o*a.rows, 0), min(hi-o*a.rows, a.rows)
		for i := a.firstBand(from / a.inner); i < len(a.bands); i++ {
			band := &a.bands[i]
			if a.sorted && band.Lo*a.inner >= to {
				break
			}
			if a.inner == 1 && band.Hi == band.Lo+1 && band.Last == band.First+1 && a.sorted && band.Lo >= from {
				// One element of one tap: a restriction has thousands of them.
				if t := &a.b.Taps[band.First]; t.Ghost == 0 {
					v := re[F](&t.Coef) * a.src[o*a.b.SrcRows+t.At]
					if a.add {
						v += a.dst[o*a.rows+band.Lo]
					}
					a.dst[o*a.rows+band.Lo] = v
					continue
				}
			}
			f, t := max(from, band.Lo*a.inner), min(to, band.Hi*a.inner)
			if f < t {
				k.band(band, o, f, t)
			}
		}
	}
}

// firstBand returns the first band that can hold the row.
func (a *bandArgs[T, F]) firstBand(row int) int {
	if !a.sorted {
		return 0
	}
	lo, hi := 0, len(a.bands)
	for lo < hi {
		if mid := (lo + hi) / 2; a.bands[mid].Hi <= row {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// band sets components from to to, counted from the first row of outer index o.
func (k *kernels[T, F]) band(band *device.Band, o, from, to int) {
	a := &k.bd
	taps := a.b.Taps[band.First:band.Last]
	if a.b.Inner == 1 && band.Hi == band.Lo+1 {
		k.element(a.dst[o*a.rows+from:][:k.components], taps, o)
		return
	}
	for i := range taps {
		if taps[i].Step != 1 {
			k.bandRows(band, taps, o, from, to)
			return
		}
	}
	for ; from < to; from += bandPiece {
		n := min(bandPiece, to-from)
		k.rowTaps(a.dst[o*a.rows+from:][:n], taps, o, from-band.Lo*a.inner, 0)
	}
}

// bandRows is band where some taps do not go along with the rows of dst.
func (k *kernels[T, F]) bandRows(band *device.Band, taps []device.Tap[T], o, from, to int) {
	a := &k.bd
	if a.b.Inner == 1 {
		k.bandElements(band, taps, o, from, to)
		return
	}
	for from < to {
		row := from / a.inner
		end := min(to, (row+1)*a.inner, from+bandPiece)
		k.rowTaps(a.dst[o*a.rows+from:][:end-from], taps, o, from-row*a.inner, row-band.Lo)
		from = end
	}
}

// rowTaps computes a piece of a row of dst. The piece of a tap begins shift components
// after row At + Step·i of its source. The few taps of a stencil share one loop, since a
// piece may be short.
func (k *kernels[T, F]) rowTaps(dst []F, taps []device.Tap[T], o, shift, i int) {
	a := &k.bd
	add := a.add
	if !a.realTaps {
		k.rowPairs(dst, taps, o, shift, i)
		return
	}
	if vectors && len(taps) > 1 {
		k.rowVector(dst, taps, o, shift, i)
		return
	}
	for len(taps) > maxTaps {
		k.rowTaps4(dst, taps[:4], o, shift, i, add)
		taps, add = taps[4:], true
	}
	switch t := taps; len(t) {
	case 0:
		if !add {
			clear(dst)
		}
	case 1:
		taps1(dst, re[F](&t[0].Coef), k.run1(&t[0], o, shift, i), add)
	case 2:
		taps2(dst, re[F](&t[0].Coef), k.run1(&t[0], o, shift, i), re[F](&t[1].Coef), k.run1(&t[1], o, shift, i), add)
	case 3:
		taps3(dst, re[F](&t[0].Coef), k.run1(&t[0], o, shift, i), re[F](&t[1].Coef), k.run1(&t[1], o, shift, i),
			re[F](&t[2].Coef), k.run1(&t[2], o, shift, i), add)
	case 4:
		k.rowTaps4(dst, t, o, shift, i, add)
	case maxTaps:
		taps5(dst, re[F](&t[0].Coef), k.run1(&t[0], o, shift, i), re[F](&t[1].Coef), k.run1(&t[1], o, shift, i),
			re[F](&t[2].Coef), k.run1(&t[2], o, shift, i), re[F](&t[3].Coef), k.run1(&t[3], o, shift, i),
			re[F](&t[4].Coef), k.run1(&t[4], o, shift, i), add)
	}
}

// rowVector is rowTaps on the vector units.
func (k *kernels[T, F]) rowVector(dst []F, taps []device.Tap[T], o, shift, i int) {
	var src [mostTaps]unsafe.Pointer
	var c [mostTaps]F
	for add := k.bd.add; len(taps) > 0; add = true {
		n := min(mostTaps, len(taps))
		for j := range taps[:n] {
			t := &taps[j]
			src[j], c[j] = unsafe.Pointer(unsafe.SliceData(k.run1(t, o, shift, i)[:len(dst)])), re[F](&t.Coef)
		}
		tapsVector(dst, src[:n], c[:n], add, 1, 0, 0, 0)
		taps = taps[n:]
	}
}

func (k *kernels[T, F]) rowTaps4(dst []F, t []device.Tap[T], o, shift, i int, add bool) {
	taps4(dst, re[F](&t[0].Coef), k.run1(&t[0], o, shift, i), re[F](&t[1].Coef), k.run1(&t[1], o, shift, i),
		re[F](&t[2].Coef), k.run1(&t[2], o, shift, i), re[F](&t[3].Coef), k.run1(&t[3], o, shift, i), add)
}

// rowPairs is rowTaps with complex factors.
func (k *kernels[T, F]) rowPairs(dst []F, t []device.Tap[T], o, shift, i int) {
	add := k.bd.add
	if len(t) == 0 && !add {
		clear(dst)
	}
	for ; len(t) >= 2; t, add = t[2:], true {
		tapPairs2(dst, k.split(t[0].Coef), k.run1(&t[0], o, shift, i), k.split(t[1].Coef), k.run1(&t[1], o, shift, i), add)
	}
	if len(t) == 1 {
		tapPairs1(dst, k.split(t[0].Coef), k.run1(&t[0], o, shift, i), add)
	}
}

// re returns the real part of a factor.
func re[F float, T scalar.Scalar](c *T) F { return *(*F)(unsafe.Pointer(c)) }

// run1 returns what a tap reads for a run of dst.
func (k *kernels[T, F]) run1(t *device.Tap[T], o, shift, i int) []F {
	return k.source(t, o, t.At+t.Step*i)[shift:]
}

// source returns what a tap reads, from a row on.
func (k *kernels[T, F]) source(t *device.Tap[T], o, row int) []F {
	a := &k.bd
	if t.Ghost == 0 {
		return a.src[(o*a.b.SrcRows+row)*a.inner:]
	}
	g := a.b.Ghosts[t.Ghost-1]
	return a.ghost[g.At*k.components+(o*g.Rows+row)*a.inner:]
}
