package gpu

import (
	"unsafe"

	"github.com/golops/golops/device"
)

// axisFunctions are the kernels of axis.cu and axisscan.cu.
type axisFunctions struct {
	sum, sumEnd, norm, normEnd       function
	scanParts, scanColumns, scanRows function
}

func (k *kernels[T, F]) makeAxis() {
	k.axis = axisFunctions{
		sum: k.function("axis.cu", "sumAxis"), sumEnd: k.function("axis.cu", "sumAxisEnd"),
		norm: k.function("axis.cu", "normAxis"), normEnd: k.function("axis.cu", "normAxisEnd"),
		scanParts: k.function("axisscan.cu", "scanParts"), scanColumns: k.function("axisscan.cu", "scanColumns"),
		scanRows: k.function("axisscan.cu", "scanRows"),
	}
}

// axisArgs mirror AxisArgs of axis.cu.
type axisArgs struct {
	dst, x, _           uintptr
	part, norms         uintptr
	outer, n, inner     int
	chunk, chunks       int
	wide, tall, kind, _ int32
	p                   float64
}

const (
	axisBlock  = 256  // threads
	axisBlocks = 1024 // enough blocks to keep a device busy
)

// shape returns the grid over the columns. It depends only on the extents, so the
// order of sums repeats.
func (a *axisArgs) shape() grid {
	columns := a.outer * a.inner
	if a.inner == 1 {
		a.tall = int32(powerOf2((a.n+3)/4, axisBlock))
		a.wide = axisBlock / a.tall
	} else {
		a.wide = int32(powerOf2(columns, axisBlock))
		if a.n >= 64 {
			a.wide = min(a.wide, 32)
		}
		a.tall = axisBlock / a.wide
	}
	return grid{(columns + int(a.wide) - 1) / int(a.wide), 1}
}

// share splits columns into chunks if there are too few to keep the device busy.
func (a *axisArgs) share(g grid) grid {
	least := int(a.tall) * 16 // rows of a chunk
	a.chunks = max(1, min(axisBlocks/max(g.x, 1), a.n/least))
	a.chunk = (a.n + a.chunks - 1) / a.chunks
	g.y = a.chunks
	return g
}

// accSize is the size of a partial sum in bytes.
func (k *kernels[T, F]) accSize() int { return 8 * k.components }

// SumAxis implements device.Kernels.
func (k *kernels[T, F]) SumAxis(dst, x device.Mem[T], outer, n, inner int) {
	columns := outer * inner
	if columns == 0 {
		return
	}
	a := axisArgs{dst: dst.Addr, x: x.Addr, outer: outer, n: n, inner: inner}
	g := a.share(a.shape())
	if a.chunks > 1 {
		a.part = k.d.scratch(a.chunks * columns * k.accSize())
	}
	launch(k.d, &k.axis.sum, g, axisBlock, 0, &a)
	if a.chunks > 1 {
		launch(k.d, &k.axis.sumEnd, blocks(columns, axisBlock), axisBlock, 0, &a)
	}
}

// NormAxis implements device.Kernels.
func (k *kernels[T, F]) NormAxis(dst []float64, x device.Mem[T], outer, n, inner int, p float64) error {
	columns := outer * inner
	if columns == 0 {
		return k.d.takeErr()
	}
	a := axisArgs{x: x.Addr, outer: outer, n: n, inner: inner, kind: int32(device.NormOf(p)), p: p}
	g := a.share(a.shape())
	a.norms = k.d.scratch(a.chunks * columns * 8)
	launch(k.d, &k.axis.norm, g, axisBlock, 0, &a)
	if a.chunks > 1 {
		launch(k.d, &k.axis.normEnd, blocks(columns, axisBlock), axisBlock, 0, &a)
	}
	return k.d.copyOut(bytesOf(dst[:columns], int(unsafe.Sizeof(dst[0]))), a.norms)
}

// scanArgs mirror ScanArgs of axisscan.cu.
type scanArgs struct {
	dst, x, start, part uintptr
	outer, n, inner     int
	chunk, chunks       int
	reverse, _          int32
}

const (
	scanChunks  = 1024     // at most
	scanThreads = 32 << 10 // enough threads to keep a device busy; each has a column
)

// ScanAxis adds in 64 bits and rounds each sum once.
func (k *kernels[T, F]) ScanAxis(dst, x, start device.Mem[T], outer, n, inner int, reverse bool) {
	columns := outer * inner
	if columns*n == 0 {
		return
	}
	a := scanArgs{dst: dst.Addr, x: x.Addr, start: start.Addr, outer: outer, n: n, inner: inner, reverse: flag(reverse)}
	narrow := inner < 32 && n > 64 // a block of threads for each column
	if narrow {
		a.chunks = min(axisBlocks/columns, n/4096)
	} else {
		a.chunks = min(scanThreads/columns, n/64, scanChunks)
	}
	a.chunks = max(a.chunks, 1)
	a.chunk = (n + a.chunks - 1) / a.chunks
	a.chunks = (n + a.chunk - 1) / a.chunk
	if a.chunks > 1 {
		a.part = k.d.scratch(a.chunks * columns * k.accSize())
		s := axisArgs{x: x.Addr, part: a.part, outer: outer, n: n, inner: inner, chunk: a.chunk, chunks: a.chunks}
		g := s.shape()
		launch(k.d, &k.axis.sum, grid{g.x, a.chunks}, axisBlock, 0, &s)
		launch(k.d, &k.axis.scanParts, grid{columns, 1}, powerOf2(a.chunks, scanChunks), 0, &a)
	}
	if narrow {
		launch(k.d, &k.axis.scanRows, grid{columns, a.chunks}, axisBlock, 0, &a)
	} else {
		g := blocks(columns, axisBlock)
		launch(k.d, &k.axis.scanColumns, grid{g.x, a.chunks}, axisBlock, 0, &a)
	}
}
