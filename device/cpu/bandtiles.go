package cpu

import (
	"sync/atomic"
	"unsafe"
)

// Bands of many taps along an axis whose rows are long, such as wavelets along the
// first axis of a volume. Row by row, each row of src would come from memory once for
// every tap. Here a tile of some columns is copied, and computed from the copy, whose
// rows lie close together: rows of src that are a power of two apart would drive each
// other out of the caches.

const (
	tileBytes  = 512 // of a row
	nextTiles  = 8   // that one thread does one after another, since processors fetch more than they are asked for
	windowRows = 512 // of a copy, which the second cache holds
)

// bandTiles is how bands go by tiles. All its slices are used again by the next call.
type bandTiles[F float] struct {
	next    atomic.Int64 // tile
	count   int          // of tiles
	group   int          // of tiles that a thread takes at a time
	width   int          // of a tile, in components
	rows    int          // of the copy of one thread
	copies  []F          // of all threads
	ghosts  []int        // where the rows of each ghost begin in a copy
	before  int          // the rows of all ghosts, which lie before those of src
	windows []bandWindow
	pieces  []tilePiece
	taps    []unsafe.Pointer // where each tap of each piece begins in the copy of the first thread
	coefs   []F
}

// bandWindow is rows lo to hi of src and the pieces that are computed from them.
type bandWindow struct{ lo, hi, first, last int }

// tilePiece is rows lo to hi of dst, which are in one band, and their taps.
type tilePiece struct{ band, lo, hi, first, last int }

// tileBands applies bands in tiles. It returns false where tiles do not pay.
func (k *kernels[T, F]) tileBands(work int) bool {
	a, t := &k.bd, &k.tiled
	t.width = tileBytes / int(unsafe.Sizeof(F(0)))
	if !vectors || !a.realTaps || a.inner < 2*t.width {
		return false
	}
	most, span, ghosts := 0, 1, false
	for i := range a.bands {
		lo, hi, ok := k.reads(i)
		if !ok {
			return false
		}
		taps := a.b.Taps[a.bands[i].First:a.bands[i].Last]
		most, span = max(most, len(taps)), max(span, hi-lo)
		for j := range taps {
			ghosts = ghosts || taps[j].Ghost != 0
		}
	}
	if most <= 2*maxTaps {
		return false
	}
	t.before, t.ghosts = 0, t.ghosts[:0]
	for _, g := range a.b.Ghosts {
		if t.ghosts = append(t.ghosts, t.before); ghosts {
			t.before += g.Rows
		}
	}
	room := min(a.b.SrcRows, max(windowRows, 2*span))
	k.makeWindows(room)
	k.makeTileTaps(room)
	a.tiles = (a.inner + t.width - 1) / t.width
	t.count = a.b.Outer * a.tiles
	t.group = max(1, min(nextTiles, t.count/(4*k.threads())))
	t.next.Store(0)
	k.pool.run(min(k.threads(), t.count, 1+work/bandGrain), 1, k.loops.bandTiles)
	return true
}

// threads returns how many threads a loop has.
func (k *kernels[T, F]) threads() int { return max(k.workers, 0) + 1 }

// reads returns the rows of src that the first row of a band reads, none if lo is hi,
// and whether the taps go along with the rows of the band.
func (k *kernels[T, F]) reads(band int) (lo, hi int, ok bool) {
	a := &k.bd
	taps := a.b.Taps[a.bands[band].First:a.bands[band].Last]
	for i := range taps {
		t := &taps[i]
		if t.Step != 1 {
			return 0, 0, false
		}
		switch {
		case t.Ghost != 0:
		case lo == hi:
			lo, hi = t.At, t.At+1
		default:
			lo, hi = min(lo, t.At), max(hi, t.At+1)
		}
	}
	return lo, hi, true
}

// makeWindows divides the rows of all bands among windows of up to room rows of src.
func (k *kernels[T, F]) makeWindows(room int) {
	t := &k.tiled
	t.windows, t.pieces = append(t.windows[:0], bandWindow{}), t.pieces[:0]
	for i := range k.bd.bands {
		band := &k.bd.bands[i]
		lo, hi, _ := k.reads(i)
		for row := band.Lo; row < band.Hi; {
			w, n := &t.windows[len(t.windows)-1], band.Hi-row
			if lo < hi {
				from, to := lo+row-band.Lo, hi+row-band.Lo
				if w.lo < w.hi && max(w.hi, to)-min(w.lo, from) > room {
					t.windows = append(t.windows, bandWindow{first: len(t.pieces), last: len(t.pieces)})
					w = &t.windows[len(t.windows)-1]
				}
				if w.lo == w.hi {
					w.lo, w.hi = from, to
				}
				w.lo = min(w.lo, from)
				n = min(n, w.lo+room-to+1)
				w.hi = max(w.hi, to+n-1)
			}
			t.pieces = append(t.pieces, tilePiece{band: i, lo: row, hi: row + n})
			w.last++
			row += n
		}
	}
}

// makeTileTaps lists the taps of all pieces, and makes room for the copies.
func (k *kernels[T, F]) makeTileTaps(room int) {
	a, t := &k.bd, &k.tiled
	t.rows = t.before + room
	if n := k.threads() * t.rows * t.width; len(t.copies) < n {
		t.copies = make([]F, n)
	}
	t.taps, t.coefs = t.taps[:0], t.coefs[:0]
	for _, w := range t.windows {
		for i := w.first; i < w.last; i++ {
			p := &t.pieces[i]
			band := &a.bands[p.band]
			p.first = len(t.taps)
			taps := a.b.Taps[band.First:band.Last]
			for j := range taps {
				tap := &taps[j]
				row := tap.At + p.lo - band.Lo
				if tap.Ghost == 0 {
					row += t.before - w.lo
				} else {
					row += t.ghosts[tap.Ghost-1]
				}
				t.taps = append(t.taps, unsafe.Pointer(&t.copies[row*t.width]))
				t.coefs = append(t.coefs, re[F](&tap.Coef))
			}
			p.last = len(t.taps)
		}
	}
}

// bandTilesPart computes tiles until none is left, each thread with its own copy.
func (k *kernels[T, F]) bandTilesPart(lo, hi int) {
	for t := &k.tiled; lo < hi; lo++ {
		for at := int(t.next.Add(1)-1) * t.group; at < t.count; at = int(t.next.Add(1)-1) * t.group {
			for i := at; i < min(at+t.group, t.count); i++ {
				first := i % k.bd.tiles * t.width
				k.bandTile(lo, i/k.bd.tiles, first, min(t.width, k.bd.inner-first))
			}
		}
	}
}

// bandTile computes n components from first on of each row of an outer index.
func (k *kernels[T, F]) bandTile(thread, o, first, n int) {
	a, t := &k.bd, &k.tiled
	shift := thread * t.rows * t.width
	to := t.copies[shift:]
	if t.before > 0 {
		for i, g := range a.b.Ghosts {
			copyRows(to[t.ghosts[i]*t.width:], a.ghost[g.At*k.components+o*g.Rows*a.inner+first:], g.Rows, n, t.width, a.inner)
		}
	}
	for _, w := range t.windows {
		copyRows(to[t.before*t.width:], a.src[(o*a.b.SrcRows+w.lo)*a.inner+first:], w.hi-w.lo, n, t.width, a.inner)
		for _, p := range t.pieces[w.first:w.last] {
			dst := a.dst[o*a.rows+p.lo*a.inner+first:][:(p.hi-p.lo-1)*a.inner+n]
			switch {
			case p.first < p.last:
				tapsVector(dst[:n], t.taps[p.first:p.last], t.coefs[p.first:p.last], a.add, p.hi-p.lo, t.width, a.inner, shift)
			case !a.add:
				for ; len(dst) > n; dst = dst[a.inner:] {
					clear(dst[:n])
				}
				clear(dst)
			}
		}
	}
}

// copyRows copies n components of each of some rows.
func copyRows[F float](dst, src []F, rows, n, dstStride, srcStride int) {
	done := copyRowsVector(dst, src, rows, n, dstStride, srcStride)
	for i := 0; i < rows && done < n; i++ {
		copy(dst[i*dstStride:][done:n], src[i*srcStride:][done:n])
	}
}
