package cpu

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/scalar"
)

// openBLAS are the names under which OpenBLAS is looked for.
var openBLAS = []string{"libopenblas.so.0", "libopenblas.so"}

// blas is a native library for large matrix products. It is opened when first
// needed: a program that multiplies none does not load it.
//
// The library starts its own threads, as many as the device has. Their number is
// shared by the whole process, so each rank sets it before it multiplies. Ranks under a
// launcher all have the same number. Another number of threads may round differently.
type blas struct {
	file       string // as in Config
	opened     bool
	name       string // where it is and what it calls itself, "" for none
	setThreads dl.Func
	gemm       [scalar.Complex128 + 1]dl.Func
	gemv       [scalar.Complex128 + 1]dl.Func
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
	b.setThreads = lib.Func("openblas_set_num_threads")
	if f := lib.Func("openblas_get_config"); f != 0 {
		b.name += " (" + strings.TrimSpace(dl.CString(f.CallPointer())) + ")"
	}
	return nil
}

// look opens OpenBLAS if that has not been tried before. It ignores a library that lacks
// a function.
func (b *blas) look() *blas {
	if !b.opened {
		_ = b.open(openBLAS...) // BLAS says what was found
	}
	return b
}

// blasThreads is the number of threads that the library was last set to.
var blasThreads atomic.Int64

// threads sets the number of the library's threads to that of the device.
func (b *blas) threads(n int) {
	if b.setThreads != 0 && blasThreads.Swap(int64(n)) != int64(n) {
		b.setThreads.Call(uintptr(n))
	}
}

// blasCall are the arguments of one call, on the heap, as Fortran wants them:
// by address.
type blasCall[T scalar.Scalar] struct {
	transA, transB         byte
	m, n, k, lda, ldb, ldc int32
	alpha, beta            T
}

// blasArgs are the parameters of the products by the library.
type blasArgs[T scalar.Scalar] struct {
	gemm blasCall[T]
	gemv gemvCall[T]
	room []T // for conjugates
}

// blasTrans is the library's letter for a form. It has none for ConjNoTrans.
func blasTrans(op device.Trans) byte { return "NTC"[op] }

// blasGemm multiplies with the library and reports whether it could. With AVX2, golops'
// loops for real numbers are as fast, and the device's threads do not compete with the
// library's.
func (k *kernels[T, F]) blasGemm(opA, opB device.Trans, m, n, depth int, alpha T, a, b device.Mem[T], beta T, c device.Mem[T]) bool {
	const small, most = 32 * 32 * 32, 1<<31 - 1
	if k.components == 1 && vectors && !wider || m*n*depth <= small || opA == device.ConjNoTrans || opB == device.ConjNoTrans || max(m, n, depth) > most {
		return false
	}
	f := k.blas.look().gemm[scalar.Of[T]()]
	if f == 0 {
		return false
	}
	call := &k.bl.gemm
	*call = blasCall[T]{blasTrans(opA), blasTrans(opB), int32(m), int32(n), int32(depth), int32(depth), int32(n), int32(n), alpha, beta}
	if opA != device.NoTrans {
		call.lda = int32(m)
	}
	if opB != device.NoTrans {
		call.ldb = int32(depth)
	}
	k.blas.threads(k.workers + 1)
	// To the library, whose matrices go column after column, the memory of C
	// holds Cᵀ = op(B)ᵀ·op(A)ᵀ: so the factors change places.
	f.Call(dl.Pointer(&call.transB), dl.Pointer(&call.transA),
		dl.Pointer(&call.n), dl.Pointer(&call.m), dl.Pointer(&call.k),
		dl.Pointer(&call.alpha), dl.Pointer(&elements(b)[0]), dl.Pointer(&call.ldb), dl.Pointer(&elements(a)[0]), dl.Pointer(&call.lda),
		dl.Pointer(&call.beta), dl.Pointer(&elements(c)[0]), dl.Pointer(&call.ldc), 1, 1)
	runtime.KeepAlive(k) // and with it all that the library was given
	runtime.KeepAlive(a.Host)
	runtime.KeepAlive(b.Host)
	runtime.KeepAlive(c.Host)
	return true
}
