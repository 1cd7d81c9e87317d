package cpu

import (
	"runtime"

	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/scalar"
)

// gemvCall are the arguments of one call, on the heap, as Fortran wants them.
type gemvCall[T scalar.Scalar] struct {
	trans           byte
	m, n, lda, step int32
	alpha, beta     T
}

// blasGemvArgs are the parameters of a matrix-vector product by the library,
// cut along y, always at the same places.
type blasGemvArgs[T scalar.Scalar] struct {
	calls       [maxPieces]gemvCall[T]
	f           dl.Func
	a, x, y     []T
	trans       bool
	m, n, piece int
	alpha, beta T
	room        []T // for conjugates
}

// blasGemv multiplies with the library and reports whether it could. Matrices
// with few columns, which are sums of short rows, stay here.
func (k *kernels[T, F]) blasGemv(op device.Trans, m, n int, alpha T, a, x device.Mem[T], beta T, y device.Mem[T]) bool {
	const small, narrow, most = 64 * 64, 32, 1<<31 - 1
	if m*n <= small || n < narrow || op == device.ConjNoTrans || max(m, n) > most || alpha == 0 {
		return false
	}
	f := k.blas.look().gemv[scalar.Of[T]()]
	if f == 0 {
		return false
	}
	g := &k.bv
	g.f, g.a, g.m, g.n, g.alpha, g.beta = f, a.Host, m, n, alpha, beta
	g.trans = op != device.NoTrans
	rows, cols := m, n
	if g.trans {
		rows, cols = n, m
	}
	g.x, g.y = x.Host[:cols], y.Host[:rows]
	conj := op == device.ConjTrans && k.parts == 2
	if conj { // the library has no conj(A)·x: it is the conjugate of A·conj(x)
		if cap(g.room) < rows+cols {
			g.room = make([]T, rows+cols)
		}
		g.x, g.y = g.room[:cols], g.room[cols:rows+cols]
		k.Conj(memOf(g.x), memOf(x.Host[:cols]))
		g.alpha, g.beta = 1, 0
	}
	pieces := min(maxPieces, 1+m*n/(1<<17))
	if g.trans {
		pieces = min(pieces, 1+n/800) // pieces of rows: short ones waste what memory brings
	}
	g.piece = padded(strips(rows, pieces), 16)
	k.pool.run(strips(rows, g.piece), 1, k.loops.blasGemv)
	if conj {
		k.Conj(memOf(g.y), memOf(g.y))
		k.Combine(y, alpha, memOf(g.y), beta, y)
	}
	room := g.room
	g.f, g.a, g.x, g.y, g.room = 0, nil, nil, nil, room
	return true
}

// blasGemvPart sets one piece of y. To the library, whose matrices go column
// after column, the memory of A holds Aᵀ, of n × m.
func (k *kernels[T, F]) blasGemvPart(lo, hi int) {
	g := &k.bv
	for i := lo; i < hi; i++ {
		call, at := &g.calls[i], i*g.piece
		rows := min(g.piece, len(g.y)-at)
		*call = gemvCall[T]{'T', int32(g.n), int32(rows), int32(g.n), 1, g.alpha, g.beta}
		a := g.a[min(at*g.n, len(g.a)-1):]
		if g.trans {
			call.trans, call.m, call.n = 'N', int32(rows), int32(g.m)
			a = g.a[at:]
		}
		g.f.Call(dl.Pointer(&call.trans), dl.Pointer(&call.m), dl.Pointer(&call.n), dl.Pointer(&call.alpha),
			dl.Pointer(&a[0]), dl.Pointer(&call.lda), dl.Pointer(&g.x[0]), dl.Pointer(&call.step),
			dl.Pointer(&call.beta), dl.Pointer(&g.y[at]), dl.Pointer(&call.step), 1)
	}
	runtime.KeepAlive(k) // and with it all that the library was given
}
