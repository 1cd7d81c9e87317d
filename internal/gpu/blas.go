package gpu

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/scalar"
)

// blas is cuBLAS or hipBLAS. It is opened by the first matrix product.
type blas struct {
	lib    *dl.Lib
	handle uintptr
	err    error // why it could not be opened
	ab     *[4]float64

	Create    dl.Func `cuda:"cublasCreate_v2" hip:"hipblasCreate"`
	Destroy   dl.Func `cuda:"cublasDestroy_v2" hip:"hipblasDestroy"`
	SetStream dl.Func `cuda:"cublasSetStream_v2" hip:"hipblasSetStream"`
	SetMath   dl.Func `cuda:"cublasSetMathMode,optional" hip:"hipblasSetMathMode,optional"`
	Text      dl.Func `cuda:"cublasGetStatusString,optional" hip:"hipblasStatusToString,optional"`

	GemmS dl.Func `cuda:"cublasSgemm_v2" hip:"hipblasSgemm"`
	GemmD dl.Func `cuda:"cublasDgemm_v2" hip:"hipblasDgemm"`
	GemmC dl.Func `cuda:"cublasCgemm_v2" hip:"hipblasCgemm"`
	GemmZ dl.Func `cuda:"cublasZgemm_v2" hip:"hipblasZgemm"`

	BatchS dl.Func `cuda:"cublasSgemmStridedBatched" hip:"hipblasSgemmStridedBatched"`
	BatchD dl.Func `cuda:"cublasDgemmStridedBatched" hip:"hipblasDgemmStridedBatched"`
	BatchC dl.Func `cuda:"cublasCgemmStridedBatched" hip:"hipblasCgemmStridedBatched"`
	BatchZ dl.Func `cuda:"cublasZgemmStridedBatched" hip:"hipblasZgemmStridedBatched"`
}

// defaultMath is CUBLAS_DEFAULT_MATH and HIPBLAS_DEFAULT_MATH: float32 is not
// reduced to TF32.
const defaultMath = 0

// openBlas opens the library and makes its handle. Errors name the kernel that
// needs it.
func (d *Device) openBlas(kernel string) (*blas, error) {
	b := &d.blas
	if b.handle == 0 && b.err == nil {
		b.err = d.makeBlas()
	}
	if b.err != nil {
		return nil, fmt.Errorf("%s: kernel %s: %w", d.p.Name, kernel, b.err)
	}
	return b, nil
}

func (d *Device) makeBlas() error {
	b := &d.blas
	var err error
	if b.lib, err = d.p.open(d.p.blas, d.drv.major(), d.drv.folder); err != nil {
		return fmt.Errorf("no library for products of matrices: %w; install %s's toolkit and name its folder in %s: %w",
			err, d.p.Title, d.p.Env, device.ErrUnsupported)
	}
	if err := d.p.bind(b.lib, b); err != nil {
		return fmt.Errorf("%w: %w", err, device.ErrUnsupported)
	}
	h := new(uintptr)
	if r := b.Create.Call(dl.Pointer(h)); r != ok {
		return fmt.Errorf("a handle of %s: %w", b.lib.Path, b.fault(r))
	}
	if r := b.SetStream.Call(*h, d.stream); r != ok {
		return fmt.Errorf("the stream of %s: %w", b.lib.Path, b.fault(r))
	}
	if b.SetMath != 0 {
		if r := b.SetMath.Call(*h, defaultMath); r != ok {
			return fmt.Errorf("full precision of %s: %w", b.lib.Path, b.fault(r))
		}
	}
	b.handle, b.ab = *h, new([4]float64)
	return nil
}

func (b *blas) fault(code int32) error {
	if b.Text != 0 {
		return fmt.Errorf("error %d: %s", code, dl.CString(b.Text.CallPointer(uintptr(code))))
	}
	return fmt.Errorf("error %d", code)
}

func (b *blas) close() {
	if b.handle != 0 {
		b.Destroy.Call(b.handle)
		b.handle = 0
	}
}

// gemm returns the functions for an element type: of one product, and of a batch.
func (b *blas) gemm(dt scalar.DType) (one, batch dl.Func) {
	switch dt {
	case scalar.Float32:
		return b.GemmS, b.BatchS
	case scalar.Float64:
		return b.GemmD, b.BatchD
	case scalar.Complex64:
		return b.GemmC, b.BatchC
	}
	return b.GemmZ, b.BatchZ
}

// operation is a matrix as the library sees it: in column-major order.
type operation struct {
	addr  uintptr
	trans uintptr
	ld    int
}

// operand describes op(A) of rows × cols. The library has no conj(A) without a
// transpose, so operand writes it to the scratch memory at to.
func (k *kernels[T, F]) operand(op device.Trans, rows, cols int, a device.Mem[T], to uintptr) operation {
	o := operation{addr: a.Addr, ld: cols}
	first := uintptr(0) // CUBLAS_OP_N, _T, _C
	if k.d.p == HIP {
		first = 111 // HIPBLAS_OP_N, _T, _C
	}
	o.trans = first
	switch {
	case op == device.Transpose || op == device.ConjTrans && k.components == 1:
		o.trans, o.ld = first+1, rows
	case op == device.ConjTrans:
		o.trans, o.ld = first+2, rows
	case op == device.ConjNoTrans && k.components == 2:
		n := rows * cols
		k.Conj(device.Mem[T]{Addr: to, N: n}, device.Mem[T]{Addr: a.Addr, N: n})
		o.addr = to
	}
	return o
}

// Gemm leaves the order and precision of sums to the library.
func (k *kernels[T, F]) Gemm(opA, opB device.Trans, m, n, kk int, alpha T, a, b device.Mem[T], beta T, c device.Mem[T]) error {
	d := k.d
	if d.closed {
		return d.err
	}
	device.MustHold("Gemm", "A", a.N, m, kk)
	device.MustHold("Gemm", "B", b.N, kk, n)
	device.MustHold("Gemm", "C", c.N, m, n)
	if m*n == 0 {
		return d.takeErr()
	}
	if kk == 0 {
		if beta == 0 {
			k.Fill(c, 0)
		} else {
			k.Combine(c, beta, c, 0, c)
		}
		return d.takeErr()
	}
	return k.multiply(opA, opB, device.Batch{N: 1}, m, n, kk, alpha, a, b, beta, c)
}

// GemmBatch is one call of the library. What it cannot do so is one product after
// another: conj(A) without a transpose, and sums of nothing.
func (k *kernels[T, F]) GemmBatch(opA, opB device.Trans, batch device.Batch, m, n, kk int, alpha T, a, b device.Mem[T], beta T, c device.Mem[T]) error {
	if conj := opA == device.ConjNoTrans || opB == device.ConjNoTrans; conj || m*n*kk == 0 || dl.MaxArgs < 18 || k.d.closed {
		return device.GemmEach[T](k, opA, opB, batch, m, n, kk, alpha, a, b, beta, c)
	}
	device.MustHold("GemmBatch", "A", a.N, batch.Holds(batch.A, m, kk), 1)
	device.MustHold("GemmBatch", "B", b.N, batch.Holds(batch.B, kk, n), 1)
	device.MustHold("GemmBatch", "C", c.N, batch.Holds(batch.C, m, n), 1)
	return k.multiply(opA, opB, batch, m, n, kk, alpha, a, b, beta, c)
}

// multiply calls the library, for one product or a batch.
func (k *kernels[T, F]) multiply(opA, opB device.Trans, batch device.Batch, m, n, kk int, alpha T, a, b device.Mem[T], beta T, c device.Mem[T]) error {
	d := k.d
	if max(m, n, kk, batch.N) > math.MaxInt32 {
		return fmt.Errorf("%s: product of %d × %d × %d: an extent is beyond %d: split it", d.p.Name, m, n, kk, math.MaxInt32)
	}
	d.enter()
	defer d.leave()
	lib, err := d.openBlas("Gemm")
	if err != nil {
		return err
	}
	var room uintptr
	if k.components == 2 && (opA == device.ConjNoTrans || opB == device.ConjNoTrans) {
		room = d.scratch((m*kk + kk*n) * k.size)
	}
	x := k.operand(opA, m, kk, a, room)
	y := k.operand(opB, kk, n, b, room+uintptr(m*kk*k.size))
	if err := d.takeErr(); err != nil {
		return err
	}
	*(*T)(unsafe.Pointer(&lib.ab[0])), *(*T)(unsafe.Pointer(&lib.ab[2])) = alpha, beta
	al, be := dl.Pointer(&lib.ab[0]), dl.Pointer(&lib.ab[2])
	one, many := lib.gemm(k.dtype)
	var r int32
	if batch.N == 1 {
		r = one.Call(lib.handle, y.trans, x.trans, uintptr(n), uintptr(m), uintptr(kk), al, y.addr, uintptr(y.ld),
			x.addr, uintptr(x.ld), be, c.Addr, uintptr(n))
	} else {
		r = many.Call(lib.handle, y.trans, x.trans, uintptr(n), uintptr(m), uintptr(kk), al, y.addr, uintptr(y.ld), uintptr(batch.B),
			x.addr, uintptr(x.ld), uintptr(batch.A), be, c.Addr, uintptr(n), uintptr(batch.C), uintptr(batch.N))
	}
	d.busy = true
	if r != ok {
		return fmt.Errorf("%s: product of %d × %d × %d by %s: %w", d.p.Name, m, n, kk, lib.lib.Path, lib.fault(r))
	}
	return nil
}
