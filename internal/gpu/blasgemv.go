package gpu

import (
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// gemvFunctions are the kernels of blasgemv.cu.
type gemvFunctions struct {
	rows, columns, end function
}

func (k *kernels[T, F]) makeGemv() {
	k.gemv = gemvFunctions{
		rows: k.function("blasgemv.cu", "gemvRows"), columns: k.function("blasgemv.cu", "gemvColumns"), end: k.function("blasgemv.cu", "gemvEnd"),
	}
}

// gemvArgs mirror GemvArgs of blasgemv.cu.
type gemvArgs[T scalar.Scalar] struct {
	a, x, y, part                uintptr
	m, n                         int
	chunk, chunks                int
	lanes, conj, scaled, vectors int32
	alpha, beta                  T
}

const (
	gemvBlock  = 256     // threads
	gemvBlocks = 2048    // enough blocks to keep a device busy
	gemvSmall  = 1 << 15 // elements of a matrix up to which one launch is best
)

// Gemv adds in the element type. It does not use cuBLAS, which takes several
// launches and lacks conj(A)·x.
func (k *kernels[T, F]) Gemv(op device.Trans, m, n int, alpha T, a, x device.Mem[T], beta T, y device.Mem[T]) error {
	rows, cols := m, n
	if op == device.Transpose || op == device.ConjTrans {
		rows, cols = n, m
	}
	device.MustHold("Gemv", "A", a.N, m, n)
	device.MustHold("Gemv", "x", x.N, cols, 1)
	device.MustHold("Gemv", "y", y.N, rows, 1)
	if y.N == 0 {
		return k.d.takeErr()
	}
	g := gemvArgs[T]{a: a.Addr, x: x.Addr, y: y.Addr, m: m, n: n, scaled: flag(beta != 0), alpha: alpha, beta: beta}
	g.conj = flag(op == device.ConjTrans || op == device.ConjNoTrans)
	f, at, terms := &k.gemv.rows, grid{}, n
	if op == device.Transpose || op == device.ConjTrans {
		f, terms = &k.gemv.columns, m
		at = g.alongColumns()
	} else {
		at = g.alongRows(k.size)
	}
	g.chunk = (terms + g.chunks - 1) / g.chunks
	g.chunk = (g.chunk + 3) &^ 3 // whole packs
	g.chunks = max(1, (terms+g.chunk-1)/max(g.chunk, 1))
	at.y = g.chunks
	if g.chunks > 1 {
		g.part = k.d.scratch(g.chunks * y.N * k.size)
	}
	launch(k.d, f, at, gemvBlock, 0, &g)
	if g.chunks > 1 {
		g.m = y.N
		launch(k.d, &k.gemv.end, blocks(y.N, gemvBlock), gemvBlock, 0, &g)
	}
	return k.d.takeErr()
}

// alongRows returns a grid whose threads lie along rows, with two packs or more per
// thread.
func (g *gemvArgs[T]) alongRows(size int) grid {
	pack := packBytes / size
	lanes := powerOf2((g.n+2*pack-1)/(2*pack), gemvBlock)
	g.lanes = int32(lanes)
	g.vectors = flag((g.a|g.x|uintptr(g.n*size))%packBytes == 0)
	at := blocks(g.m*lanes, gemvBlock)
	g.chunks = max(1, min(gemvBlocks/max(at.x, 1), g.n/(4*gemvBlock*pack)))
	return at
}

// alongColumns returns a grid whose threads lie along rows and go down columns.
func (g *gemvArgs[T]) alongColumns() grid {
	lanes := powerOf2(g.n, 64)
	g.lanes = int32(lanes)
	at := blocks(g.n, lanes)
	g.chunks = 1
	if g.m*g.n > gemvSmall {
		g.chunks = max(1, min(gemvBlocks/at.x, g.m*lanes/(8*gemvBlock)))
	}
	return at
}
