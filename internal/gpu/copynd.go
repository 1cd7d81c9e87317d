package gpu

import (
	"github.com/golops/golops/device"
	"github.com/golops/golops/shape"
)

// copyFunctions are the kernels of copynd.cu.
type copyFunctions struct {
	lines, tiles function
}

func (k *kernels[T, F]) makeCopy() {
	k.copy = copyFunctions{lines: k.function("copynd.cu", "copyLines"), tiles: k.function("copynd.cu", "copyTiles")}
}

// copyArgs mirror CopyArgs of copynd.cu.
type copyArgs struct {
	dst, src    uintptr
	n, d, s     [shape.MaxNDim]int
	lines       int
	rank, add   int32
	width, each int32
}

const (
	copyBlock = 256 // threads
	copyTile  = 32  // rows and columns of a tile
	copyLeast = 8   // rows and columns from which a tile pays
)

// CopyND joins axes that are contiguous in both blocks. Threads lie along the axis
// with the smallest stride in dst. If another axis has the smallest stride in src,
// tiles go through shared memory.
func (k *kernels[T, F]) CopyND(dst, src device.Mem[T], c *device.Strided, add bool) {
	if c.Shape.Size() == 0 {
		return
	}
	var a copyArgs
	dstAt, srcAt, across := a.order(c)
	a.dst, a.src, a.add = dst.Addr+uintptr(dstAt*k.size), src.Addr+uintptr(srcAt*k.size), flag(add)
	col, row := a.rank-1, a.rank-2
	if a.rank == 1 && a.d[0] == 1 && a.s[0] == 1 && !add {
		k.Copy(device.Mem[T]{Addr: a.dst, N: a.n[0]}, device.Mem[T]{Addr: a.src, N: a.n[0]})
		return
	}
	a.lines = 1
	for i := range col {
		a.lines *= a.n[i]
	}
	if across && a.n[row] >= copyLeast && a.n[col] >= copyLeast {
		a.lines /= a.n[row]
		tiles := (a.n[row] + copyTile - 1) / copyTile * ((a.n[col] + copyTile - 1) / copyTile)
		launch(k.d, &k.copy.tiles, grid{tiles, min(a.lines, maxGridY)}, copyBlock, 0, &a)
		return
	}
	a.width = int32(powerOf2(a.n[col], copyBlock))
	a.each = int32(min(4, (a.n[col]+int(a.width)-1)/int(a.width)))
	wide := int(a.width * a.each)
	g := grid{(a.n[col] + wide - 1) / wide, min((a.lines*int(a.width)+copyBlock-1)/copyBlock, maxGridY)}
	launch(k.d, &k.copy.lines, g, copyBlock, 0, &a)
}

// order sorts the axes of a box by their strides in dst, largest first. It joins axes
// that one stride can walk. If the last axis is not the one with the smallest stride
// in src, the copy is a transpose: order moves that axis next to the last and sets
// across. The result has at least one axis.
func (a *copyArgs) order(c *device.Strided) (dstAt, srcAt int, across bool) {
	dstAt, srcAt = c.DstAt, c.SrcAt
	rank := 0
	for i := range c.Shape.NDim() {
		n, d, s := c.Shape.Dim(i), c.Dst[i], c.Src[i]
		if n == 1 {
			continue
		}
		if d < 0 { // walk dst upwards
			dstAt, srcAt = dstAt+(n-1)*d, srcAt+(n-1)*s
			d, s = -d, -s
		}
		at := rank
		for ; at > 0 && a.d[at-1] < d; at-- {
			a.n[at], a.d[at], a.s[at] = a.n[at-1], a.d[at-1], a.s[at-1]
		}
		a.n[at], a.d[at], a.s[at] = n, d, s
		rank++
	}
	if rank == 0 {
		a.n[0], a.d[0], a.s[0] = 1, 1, 1
		rank = 1
	}
	last := 0
	for i := 1; i < rank; i++ {
		if a.d[last] == a.d[i]*a.n[i] && a.s[last] == a.s[i]*a.n[i] {
			a.n[last] *= a.n[i]
		} else {
			last++
			a.n[last] = a.n[i]
		}
		a.d[last], a.s[last] = a.d[i], a.s[i]
	}
	a.rank = int32(last + 1)
	best := last
	for i := range last {
		if s := abs(a.s[i]); s != 0 && s < abs(a.s[best]) {
			best = i
		}
	}
	for i := best; i < last-1; i++ {
		a.n[i], a.n[i+1] = a.n[i+1], a.n[i]
		a.d[i], a.d[i+1] = a.d[i+1], a.d[i]
		a.s[i], a.s[i+1] = a.s[i+1], a.s[i]
	}
	return dstAt, srcAt, best < last
}

func abs(n int) int { return max(n, -n) }
