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

// blasGemv multiplies with the library and reports whether it could. It does so
// only where there are no vector units that golops knows: with them, memory is
// the limit, and the threads here need not give way to those of the library.
// Matrices with few columns, which are sums of short rows, stay here too.
func (k *kernels[T, F]) blasGemv(op device.Trans, m, n int, alpha T, a, x device.Mem[T], beta T, y device.Mem[T]) bool {
	const small, narrow, most = 64 * 64, 32, 1<<31 - 1
	if vectors || m*n <= small || n < narrow || op == device.ConjNoTrans || max(m, n) > most || alpha == 0 {
		return false
	}
	f := k.blas.look().gemv[scalar.Of[T]()]
	if f == 0 {
		return false
	}
	g := &k.bl
	// To the library, whose matrices go column after column, the memory of A
	// holds Aᵀ, of n × m.
	g.gemv = gemvCall[T]{'T', int32(n), int32(m), int32(n), 1, alpha, beta}
	rows, cols := m, n
	if op != device.NoTrans {
		g.gemv.trans = 'N'
		rows, cols = n, m
	}
	xs, ys := elements(x)[:cols], elements(y)[:rows]
	conj := op == device.ConjTrans && k.components == 2
	if conj { // the library has no conj(A)·x: it is the conjugate of A·conj(x)
		if cap(g.room) < rows+cols {
			g.room = make([]T, rows+cols)
		}
		xs, ys = g.room[:cols], g.room[cols:rows+cols]
		k.Conj(memOf(xs), memOf(elements(x)[:cols]))
		g.gemv.alpha, g.gemv.beta = 1, 0
	}
	k.blas.threads(k.workers + 1)
	c := &g.gemv
	f.Call(dl.Pointer(&c.trans), dl.Pointer(&c.m), dl.Pointer(&c.n), dl.Pointer(&c.alpha),
		dl.Pointer(&elements(a)[0]), dl.Pointer(&c.lda), dl.Pointer(&xs[0]), dl.Pointer(&c.step),
		dl.Pointer(&c.beta), dl.Pointer(&ys[0]), dl.Pointer(&c.step), 1)
	runtime.KeepAlive(k) // and with it all that the library was given
	runtime.KeepAlive(a.Host)
	runtime.KeepAlive(xs)
	runtime.KeepAlive(ys)
	if conj {
		k.Conj(memOf(ys), memOf(ys))
		k.Combine(y, alpha, memOf(ys), beta, y)
	}
	return true
}
