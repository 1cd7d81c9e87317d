package cpu

import "github.com/golops/golops/device"

// The product of matrices goes in blocks. A block of op(A) and one of op(B) are
// packed into strips, depth first, so that the tile loop reads both in one sweep
// whatever op is; complex strips hold all real parts before all imaginary ones,
// so that one tile loop serves all element types. Threads share out strips to
// pack and groups of tiles to multiply.
const (
	tileRows, tileCols = 4, 2 // of C, in plain Go; all sums of a tile fit the registers
	unroll             = 4    // depth of strips is a multiple of this
	blockDepth         = 256
	blockRows          = 576  // 1.1 MiB of float64
	blockCols          = 1024 // 2 MiB of float64
	groupRows          = 96   // rows of A that one thread takes, which fit its cache
	groupCols          = 128  // columns of B that one thread takes
)

// gemmArgs are the parameters of Gemm, and the block at work.
type gemmArgs[F float] struct {
	a, b, c        operand[F]
	alpha, beta    pair[F]
	stripsA        []F // packed
	stripsB        []F
	row, col, at   int // where the block begins: in C, and in depth
	rows, cols     int // of the block
	depth, padding int // of the block: with padding, and how much that is
	rowGroups      int
	tall, wide     int  // rows and columns of a tile
	vector         bool // tiles are for the vector units
}

// operand is a matrix whose element (i, j) is at i*di+j*dj.
type operand[F float] struct {
	x      []F
	di, dj int
	conj   bool
}

func operandOf[F float](x []F, op device.Trans, rows, cols int) operand[F] {
	m := operand[F]{x: x, di: cols, dj: 1, conj: op == device.ConjTrans || op == device.ConjNoTrans}
	if op == device.Transpose || op == device.ConjTrans {
		m.di, m.dj = 1, rows
	}
	return m
}

// Gemm adds up in the element type, in Go or in a native library.
func (k *kernels[T, F]) Gemm(opA, opB device.Trans, m, n, depth int, alpha T, a, b device.Mem[T], beta T, c device.Mem[T]) error {
	device.MustHold("Gemm", "A", a.N, m, depth)
	device.MustHold("Gemm", "B", b.N, depth, n)
	device.MustHold("Gemm", "C", c.N, m, n)
	if k.components == 1 { // a conjugate is the number itself
		opA, opB = plain(opA), plain(opB)
	}
	switch {
	case m == 0 || n == 0:
		return nil
	case n == 1 && (opB == device.NoTrans || opB == device.Transpose):
		if opA == device.Transpose || opA == device.ConjTrans {
			m, depth = depth, m
		}
		return k.Gemv(opA, m, depth, alpha, a, b, beta, c)
	case m == 1 && (opA == device.NoTrans || opA == device.Transpose): // Cᵀ = op(B)ᵀ·Aᵀ
		rows, cols := depth, n
		if opB == device.Transpose || opB == device.ConjTrans {
			rows, cols = n, depth
		}
		return k.Gemv(across(opB), rows, cols, alpha, b, a, beta, c)
	}
	if alpha != 0 && k.blasGemm(opA, opB, m, n, depth, alpha, a, b, beta, c) {
		return nil
	}
	k.multiply(opA, opB, m, n, depth, k.split(alpha), k.flat(a), k.flat(b), k.split(beta), k.flat(c)[:m*n*k.components])
	return nil
}

// across returns the form that is the transpose of another.
func across(op device.Trans) device.Trans {
	switch op {
	case device.NoTrans:
		return device.Transpose
	case device.Transpose:
		return device.NoTrans
	case device.ConjTrans:
		return device.ConjNoTrans
	}
	return device.ConjTrans
}

// plain returns the form of a matrix without conjugation.
func plain(op device.Trans) device.Trans {
	switch op {
	case device.ConjTrans:
		return device.Transpose
	case device.ConjNoTrans:
		return device.NoTrans
	}
	return op
}

// multiply is Gemm in Go.
func (k *kernels[T, F]) multiply(opA, opB device.Trans, m, n, depth int, alpha pair[F], a, b []F, beta pair[F], c []F) {
	g := &k.mm
	g.a, g.b, g.c = operandOf(a, opA, m, depth), operandOf(b, opB, depth, n), operand[F]{x: c, di: n, dj: 1}
	g.alpha, g.beta = alpha, beta
	g.tall, g.wide = vectorTile[F]()
	if g.vector = g.tall > 0; !g.vector {
		g.tall, g.wide = tileRows, tileCols
	}
	k.pool.run(len(c), vectorGrain*k.components, k.loops.scaleC)
	if alpha == (pair[F]{}) {
		depth = 0
	}
	grow(&g.stripsA, padded(min(m, blockRows), g.tall)*padded(min(depth, blockDepth), unroll)*k.components)
	grow(&g.stripsB, padded(min(n, blockCols), g.wide)*padded(min(depth, blockDepth), unroll)*k.components)
	for g.col = 0; g.col < n; g.col += blockCols {
		g.cols = min(blockCols, n-g.col)
		for g.at = 0; g.at < depth; g.at += blockDepth {
			d := min(blockDepth, depth-g.at)
			g.depth = padded(d, unroll)
			g.padding = g.depth - d
			k.pool.run(strips(g.cols, g.wide), 1+vectorGrain/(g.wide*g.depth), k.loops.packB)
			for g.row = 0; g.row < m; g.row += blockRows {
				g.rows = min(blockRows, m-g.row)
				g.rowGroups = strips(g.rows, groupRows)
				k.pool.run(strips(g.rows, g.tall), 1+vectorGrain/(g.tall*g.depth), k.loops.packA)
				k.pool.run(g.rowGroups*strips(g.cols, groupCols), k.groups(), k.loops.tiles)
			}
		}
	}
	*g = gemmArgs[F]{stripsA: g.stripsA, stripsB: g.stripsB}
}

// groups is how many groups of tiles one thread takes at a time, more than one
// if the block is small.
func (k *kernels[T, F]) groups() int {
	g := &k.mm
	return 1 + 2*bandGrain/(min(g.rows, groupRows)*min(g.cols, groupCols)*g.depth)
}

func padded(n, to int) int    { return (n + to - 1) / to * to }
func strips(n, width int) int { return (n + width - 1) / width }

// grow makes room for n elements.
func grow[F float](x *[]F, n int) {
	if cap(*x) < n {
		*x = make([]F, n)
	}
	*x = (*x)[:n]
}

func (k *kernels[T, F]) scaleCPart(lo, hi int) { k.scaled(k.mm.c.x[lo:hi], k.mm.beta) }

func (k *kernels[T, F]) packAPart(lo, hi int) {
	g := &k.mm
	k.packStrips(g.stripsA, lo, hi, g.tall, g.rows, &g.a, g.row*g.a.di+g.at*g.a.dj, g.a.di, g.a.dj)
}

func (k *kernels[T, F]) packBPart(lo, hi int) {
	g := &k.mm
	k.packStrips(g.stripsB, lo, hi, g.wide, g.cols, &g.b, g.at*g.b.di+g.col*g.b.dj, g.b.dj, g.b.di)
}

// pack copies a strip of lanes × depth elements from element at of m on, with
// strides along the lanes and along the depth, and fills it up with zeros.
func (k *kernels[T, F]) pack(dst []F, width int, m *operand[F], at, lanes, depth, dl, dd int) {
	if lanes < width || depth*width*k.components < len(dst) {
		clear(dst)
	}
	if k.components == 1 {
		packReal(dst, width, m.x[at:], lanes, depth, dl)
		return
	}
	src, re, im := pairs(m.x), dst[:len(dst)/2], dst[len(dst)/2:]
	for l := range lanes {
		from := at + l*dl
		for to := l; to < depth*width; to += width {
			v := src[from]
			if m.conj {
				v.im = -v.im
			}
			re[to], im[to] = v.re, v.im
			from += dd
		}
	}
}
