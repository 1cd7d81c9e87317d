package gpu

import (
	"cmp"
	"slices"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// bandFunctions are the kernels of bands.cu, bandsfir.cu and bandsum.cu.
type bandFunctions struct {
	rows, flat, perElement, fir, sum, rest function
}

func (k *kernels[T, F]) makeBands() {
	k.bands = bandFunctions{
		rows: k.function("bands.cu", "bandsRows"), flat: k.function("bands.cu", "bandsFlat"),
		perElement: k.function("bands.cu", "bandsPerElement"), fir: k.function("bandsfir.cu", "bandsFir"),
		sum: k.function("bandsum.cu", "bandsSum"), rest: k.function("bandsum.cu", "bandsRest"),
	}
}

// The types here mirror those of bands.cu.
type (
	bandRecord struct{ start, lo, first, last int }

	tapRecord[T scalar.Scalar] struct {
		at          int
		step, ghost int32
		coef        T
	}

	bandsArgs[T scalar.Scalar] struct {
		dst, src, ghost             uintptr
		bands, taps, ghosts         uintptr
		count, outer, inner         int
		rows, dstRows, srcRows      int
		mainLo, mainHi, mainRow     int
		mainTaps, add, width, chunk int32
		farAt, farCoef              uintptr
		_                           int
		at                          [mainMost]int
		coef                        [mainMost]T
	}
)

const (
	mainMost     = 32  // taps that fit into the arguments of a launch
	bandElements = 4   // elements of a thread
	bandBlock    = 256 // threads
	elementBlock = 128 // threads of bandsPerElement
	elementTaps  = 64  // taps per row from which a whole block sums up one element
	rowsInner    = 64  // inner elements from which threads go down rows
	bandsChunk   = 16  // rows of a thread in a large block
)

// manyThreads keep a device busy. Only beyond that number is it worth giving a
// thread more rows.
const manyThreads = 1 << 18

// bandTables is a device.Banded in GPU memory. One allocation has the tables of both
// groups.
type bandTables[T scalar.Scalar] struct {
	addr  uintptr
	group [2]bandGroup[T]
}

// bandGroup is a group of bands and the kernel that suits it. f is nil if the group
// has no rows.
type bandGroup[T scalar.Scalar] struct {
	f     *function
	grid  grid
	block int
	args  bandsArgs[T]
	fir   *firArgs
}

// Bands sums in the element type, and in 64 bits for rows of many taps. It takes
// one launch.
func (k *kernels[T, F]) Bands(dst, src, ghost device.Mem[T], b *device.Banded[T], group int, add bool) {
	kept, _ := b.Cache.Get(k.d).(*bandTables[T])
	if kept == nil {
		var err error
		if kept, err = k.makeBandTables(b); err != nil {
			k.d.fail(err)
			return
		}
	}
	g := &kept.group[group]
	switch {
	case g.f == nil:
	case g.fir != nil:
		g.fir.dst, g.fir.src, g.fir.add = dst.Addr, src.Addr, flag(add)
		launch(k.d, g.f, g.grid, g.block, 0, g.fir)
	default:
		g.args.dst, g.args.src, g.args.ghost, g.args.add = dst.Addr, src.Addr, ghost.Addr, flag(add)
		launch(k.d, g.f, g.grid, g.block, 0, &g.args)
	}
}

// makeBandTables uploads the tables and chooses kernels.
func (k *kernels[T, F]) makeBandTables(b *device.Banded[T]) (*bandTables[T], error) {
	kept := &bandTables[T]{}
	var t tables
	taps := put(&t, tapRecords(b.Taps))
	ghosts := put(&t, b.Ghosts)
	for i := range kept.group {
		k.planGroup(&t, &kept.group[i], b, i)
	}
	addr, err := k.d.upload(t.bytes)
	if err != nil {
		return nil, err
	}
	kept.addr = addr
	for i := range kept.group {
		g := &kept.group[i]
		a := &g.args
		a.taps, a.ghosts = addr+taps, addr+ghosts
		a.bands, a.farAt, a.farCoef = addr+a.bands, addr+a.farAt, addr+a.farCoef
		if g.fir != nil {
			g.fir.coef += addr
		}
	}
	cacheTables(k.d, &b.Cache, kept, addr)
	return kept, nil
}

func tapRecords[T scalar.Scalar](taps []device.Tap[T]) []tapRecord[T] {
	r := make([]tapRecord[T], len(taps))
	for i, t := range taps {
		r[i] = tapRecord[T]{t.At, int32(t.Step), int32(t.Ghost), t.Coef}
	}
	return r
}

// planGroup fills in one group. Its addresses are offsets in t until t is uploaded.
func (k *kernels[T, F]) planGroup(t *tables, g *bandGroup[T], b *device.Banded[T], group int) {
	bands := slices.Clone(b.Groups[group])
	bands = slices.DeleteFunc(bands, func(b device.Band) bool { return b.Lo >= b.Hi })
	slices.SortFunc(bands, func(a, b device.Band) int { return cmp.Compare(a.Lo, b.Lo) })
	rows, taps := 0, 0
	list := make([]bandRecord, len(bands))
	for i, x := range bands {
		list[i] = bandRecord{rows, x.Lo, x.First, x.Last}
		rows += x.Hi - x.Lo
		taps += (x.Hi - x.Lo) * (x.Last - x.First)
	}
	if b.Outer*rows*b.Inner == 0 {
		return
	}
	g.args = bandsArgs[T]{
		count: len(list), outer: b.Outer, inner: b.Inner, rows: rows, dstRows: b.DstRows, srcRows: b.SrcRows,
		bands: put(t, list),
	}
	if g.fir = newFir(t, b, bands, rows); g.fir != nil {
		g.f, g.grid, g.block = &k.bands.fir, grid{b.Outer * g.fir.tiles, 1}, firThreads
		return
	}
	found := g.args.setMain(t, b, bands, list)
	elements := b.Outer * rows * b.Inner
	switch {
	case !found && taps >= elementTaps*rows && b.Inner <= 4 && elements <= maxGrid:
		g.f, g.grid, g.block = &k.bands.perElement, grid{elements, 1}, elementBlock
	case b.Inner >= rowsInner:
		g.f, g.block = &k.bands.rows, bandBlock
		g.args.width, g.args.chunk, g.grid = rowsGrid(b.Outer, rows, b.Inner)
	default:
		g.f, g.block = &k.bands.flat, bandBlock
		n := rows * b.Inner
		width := powerOf2((n+bandElements-1)/bandElements, bandBlock)
		g.args.width = int32(width)
		g.grid = grid{(n + width*bandElements - 1) / (width * bandElements), min((b.Outer*width+bandBlock-1)/bandBlock, maxGridY)}
	}
}

// rowsGrid returns the grid of bandsRows.
func rowsGrid(outer, rows, inner int) (width, chunk int32, g grid) {
	chunk = bandsChunk
	if outer*rows*inner < manyThreads*bandsChunk {
		chunk = bandElements
	}
	width = int32(powerOf2(inner, bandBlock))
	high := bandBlock / int(width) * int(chunk)
	tiles := (rows + high - 1) / high
	return width, chunk, grid{(inner + int(width) - 1) / int(width), min(outer*tiles, maxGridY)}
}

// setMain makes the longest band the main one if its taps move with the rows.
func (a *bandsArgs[T]) setMain(t *tables, b *device.Banded[T], bands []device.Band, list []bandRecord) bool {
	longest := 0
	for i, x := range bands {
		if x.Hi-x.Lo > bands[longest].Hi-bands[longest].Lo {
			longest = i
		}
	}
	m := bands[longest]
	taps := b.Taps[m.First:m.Last]
	if m.Hi-m.Lo < bandElements || !alongRows(taps) {
		return false
	}
	a.mainLo, a.mainHi = list[longest].start, list[longest].start+m.Hi-m.Lo
	a.mainRow, a.mainTaps = m.Lo, int32(len(taps))
	at, coef := make([]int, len(taps)), make([]T, len(taps))
	for i, x := range taps {
		at[i], coef[i] = x.At*b.Inner, x.Coef
	}
	if len(taps) > mainMost {
		a.farAt, a.farCoef = put(t, at), put(t, coef)
		return true
	}
	copy(a.at[:], at)
	copy(a.coef[:], coef)
	return true
}

// alongRows reports whether all taps read src and move one row per row of dst.
func alongRows[T scalar.Scalar](taps []device.Tap[T]) bool {
	for _, t := range taps {
		if t.Step != 1 || t.Ghost != 0 {
			return false
		}
	}
	return true
}
