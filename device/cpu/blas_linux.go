package cpu

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/scalar"
)

// openBLAS are the names under which OpenBLAS is looked for.
var openBLAS = []string{"libopenblas.so.0", "libopenblas.so"}

// blas is a native library for large matrix products. It is opened when first
// needed: a program that multiplies none does not load it.
//
// The library itself works on one thread. The threads of the device share out
// the product: its own number of threads would be one for the whole process,
// whose ranks may have different ones.
type blas struct {
	file   string // as in Config
	opened bool
	name   string // where it is and what it calls itself, "" for none
	gemm   [scalar.Complex128 + 1]dl.Func
	gemv   [scalar.Complex128 + 1]dl.Func
}

// newBLAS looks for the library now if the user has named one.
func newBLAS(file string) (*blas, error) {
	b := &blas{file: file, opened: file == "off"}
	if file != "" && file != "off" {
		if err := b.open(file); err != nil {
			return nil, fmt.Errorf("cpu: open BLAS %s: %w", file, err)
		}
	}
	return b, nil
}

// open opens the first of files that is there.
func (b *blas) open(files ...string) error {
	b.opened = true
	lib, err := dl.Open(dl.Local, files...)
	if err != nil {
		return err
	}
	letters := map[scalar.DType]string{scalar.Float32: "s", scalar.Float64: "d", scalar.Complex64: "c", scalar.Complex128: "z"}
	for _, l := range letters {
		for _, name := range []string{l + "gemm_", l + "gemv_"} {
			if lib.Func(name) == 0 {
				return fmt.Errorf("%s has no function %s", lib.Path, name)
			}
		}
	}
	for dt, l := range letters {
		b.gemm[dt], b.gemv[dt] = lib.Func(l+"gemm_"), lib.Func(l+"gemv_")
	}
	b.name = lib.Path
	if f := lib.Func("openblas_set_num_threads"); f != 0 {
		f.Call(1)
	}
	if f := lib.Func("openblas_get_config"); f != 0 {
		b.name += " (" + strings.TrimSpace(dl.CString(f.CallPointer())) + ")"
	}
	return nil
}

// look opens OpenBLAS if that has not been tried before. A library that is not
// there or lacks something is none.
func (b *blas) look() *blas {
	if !b.opened {
		_ = b.open(openBLAS...) // BLAS says what was found
	}
	return b
}

// blasCall are the arguments of one call, on the heap, as Fortran wants them:
// by address.
type blasCall[T scalar.Scalar] struct {
	transA, transB         byte
	m, n, k, lda, ldb, ldc int32
	alpha, beta            T
}

// maxPieces is into how many products a large one is cut.
const maxPieces = 16

// blasArgs are the parameters of a product by the library. It is cut along the
// rows or the columns of C, and always at the same places, so that a result does
// not depend on the number of threads.
type blasArgs[T scalar.Scalar] struct {
	calls          [maxPieces]blasCall[T]
	f              dl.Func
	a, b, c        []T
	piece          int // rows or columns
	byRows         bool
	stepA, stepB   int // from one row or column of a factor to the next
	m, n, k        int
	transA, transB byte
	lda, ldb       int
	alpha, beta    T
}

// blasTrans is how the library calls a form; it does not know ConjNoTrans.
func blasTrans(op device.Trans) byte { return "NTC"[op] }

// blasGemm multiplies with the library and reports whether it could.
func (k *kernels[T, F]) blasGemm(opA, opB device.Trans, m, n, depth int, alpha T, a, b device.Mem[T], beta T, c device.Mem[T]) bool {
	const small, most = 32 * 32 * 32, 1<<31 - 1
	if m*n*depth <= small || opA == device.ConjNoTrans || opB == device.ConjNoTrans || max(m, n, depth) > most {
		return false
	}
	f := k.blas.look().gemm[scalar.Of[T]()]
	if f == 0 {
		return false
	}
	g := &k.bl
	g.f, g.a, g.b, g.c = f, a.Host, b.Host, c.Host
	g.m, g.n, g.k, g.alpha, g.beta = m, n, depth, alpha, beta
	g.transA, g.lda, g.stepA = blasTrans(opA), depth, depth
	if opA != device.NoTrans {
		g.lda, g.stepA = m, 1
	}
	g.transB, g.ldb, g.stepB = blasTrans(opB), n, 1
	if opB != device.NoTrans {
		g.ldb, g.stepB = depth, depth
	}
	g.byRows = m >= n
	pieces := min(maxPieces, 1+m*n/(1<<14)*depth/(1<<8)) // of some millions of products
	g.piece = padded(strips(max(m, n), pieces), 16)
	k.pool.run(strips(max(m, n), g.piece), 1, k.loops.blas)
	g.f, g.a, g.b, g.c = 0, nil, nil, nil
	return true
}

// blasPart multiplies one piece. To the library, whose matrices go column after
// column, the memory of C holds Cᵀ = op(B)ᵀ·op(A)ᵀ: so the factors change places.
func (k *kernels[T, F]) blasPart(lo, hi int) {
	g := &k.bl
	for i := lo; i < hi; i++ {
		call, at := &g.calls[i], i*g.piece
		*call = blasCall[T]{g.transA, g.transB, int32(g.m), int32(g.n), int32(g.k), int32(g.lda), int32(g.ldb), int32(g.n), g.alpha, g.beta}
		a, b, c := g.a, g.b, g.c
		if g.byRows {
			call.m = int32(min(g.piece, g.m-at))
			a, c = a[at*g.stepA:], c[at*g.n:]
		} else {
			call.n = int32(min(g.piece, g.n-at))
			b, c = b[at*g.stepB:], c[at:]
		}
		g.f.Call(dl.Pointer(&call.transB), dl.Pointer(&call.transA),
			dl.Pointer(&call.n), dl.Pointer(&call.m), dl.Pointer(&call.k),
			dl.Pointer(&call.alpha), dl.Pointer(&b[0]), dl.Pointer(&call.ldb), dl.Pointer(&a[0]), dl.Pointer(&call.lda),
			dl.Pointer(&call.beta), dl.Pointer(&c[0]), dl.Pointer(&call.ldc), 1, 1)
	}
	runtime.KeepAlive(k) // and with it all that the library was given
}
