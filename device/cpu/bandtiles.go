package cpu

import (
	"unsafe"

	"github.com/golops/golops/device"
)

// Bands of many taps along an axis whose rows are long, such as wavelets along the
// first axis of a volume. Row by row, each row of src would come from memory once for
// every tap. Tiles of columns stay in the nearer caches until all their rows are done.

const (
	tileBytes = 1 << 10 // of a row
	mostTaps  = 48      // of one pass over a tile
)

// tileBands applies bands in tiles. It returns false where tiles do not pay.
func (k *kernels[T, F]) tileBands(work int) bool {
	a := &k.bd
	width := tileBytes / int(unsafe.Sizeof(F(0)))
	if !vectors || !a.realTaps || a.inner < 2*width {
		return false
	}
	many := false
	for i := range a.bands {
		taps := a.b.Taps[a.bands[i].First:a.bands[i].Last]
		many = many || len(taps) > 2*maxTaps
		for j := range taps {
			if taps[j].Step != 1 {
				return false
			}
		}
	}
	if !many {
		return false
	}
	a.tiles = (a.inner + width - 1) / width
	n := a.b.Outer * a.tiles
	k.pool.run(n, 1+bandGrain*n/work, k.loops.bandTiles)
	return true
}

// bandTilesPart computes some tiles.
func (k *kernels[T, F]) bandTilesPart(lo, hi int) {
	a := &k.bd
	width := tileBytes / int(unsafe.Sizeof(F(0)))
	for ; lo < hi; lo++ {
		first := lo % a.tiles * width
		for i := range a.bands {
			k.bandTile(&a.bands[i], lo/a.tiles, first, min(width, a.inner-first))
		}
	}
}

// bandTile computes n components from first on of each row of a band.
func (k *kernels[T, F]) bandTile(band *device.Band, o, first, n int) {
	a := &k.bd
	taps, add := a.b.Taps[band.First:band.Last], a.add
	if len(taps) == 0 && !add {
		for row := band.Lo; row < band.Hi; row++ {
			clear(a.dst[o*a.rows+row*a.inner+first:][:n])
		}
	}
	var src [mostTaps]unsafe.Pointer
	var c [mostTaps]F
	for ; len(taps) > 0; add = true {
		some := taps[:min(mostTaps, len(taps))]
		for j := range some {
			run := k.run1(&some[j], o, first, 0)[:(band.Hi-band.Lo-1)*a.inner+n]
			src[j], c[j] = unsafe.Pointer(unsafe.SliceData(run)), re[F](&some[j].Coef)
		}
		for row := band.Lo; row < band.Hi; row++ {
			if row > band.Lo {
				for j := range some {
					src[j] = unsafe.Add(src[j], a.inner*int(unsafe.Sizeof(F(0))))
				}
			}
			tapsVector(a.dst[o*a.rows+row*a.inner+first:][:n], src[:len(some)], c[:len(some)], add)
		}
		taps = taps[len(some):]
	}
}
