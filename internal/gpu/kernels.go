package gpu

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

type float interface{ float32 | float64 }

// kernels is the arithmetic of one element type T. F is its real type.
type kernels[T scalar.Scalar, F float] struct {
	d          *Device
	dtype      scalar.DType
	size       int // bytes of an element
	components int // of an element: 1, or 2 if it is complex

	vector    vectorFunctions
	sums      sumFunctions
	shrink    shrinkFunctions
	axis      axisFunctions
	copy      copyFunctions
	gather    gatherFunctions
	bands     bandFunctions
	gemv      gemvFunctions
	kirchhoff kirchhoffFunctions
	rays      rayFunctions
}

var (
	_ device.Kernels[float32]      = (*kernels[float32, float32])(nil)
	_ device.Kernels[float64]      = (*kernels[float64, float64])(nil)
	_ device.Kernels[complex64]    = (*kernels[complex64, float32])(nil)
	_ device.Kernels[complex128]   = (*kernels[complex128, float64])(nil)
	_ device.AsyncReducer[float32] = (*kernels[float32, float32])(nil)
	_ device.Reclaimer[float32]    = (*kernels[float32, float32])(nil)
	_ device.Widener               = (*kernels[float64, float64])(nil)
)

func newKernels[T scalar.Scalar, F float](d *Device) *kernels[T, F] {
	k := &kernels[T, F]{d: d, dtype: scalar.Of[T](), components: 1}
	k.size = k.dtype.Size()
	if k.dtype.IsComplex() {
		k.components = 2
	}
	k.makeVector()
	k.makeSums()
	k.makeShrink()
	k.makeAxis()
	k.makeCopy()
	k.makeGather()
	k.makeBands()
	k.makeGemv()
	k.makeKirchhoff()
	k.makeRays()
	return k
}

// function returns a kernel of a file, compiled for the element type. Further
// options, such as -DWIDTH=5, specialise it.
func (k *kernels[T, F]) function(file, name string, options ...string) function {
	return function{file: file, name: name, options: append([]string{typeOption(k.dtype)}, options...), shared: 48 << 10}
}

// typeOption is the compiler's option that selects T.
func typeOption(dt scalar.DType) string { return fmt.Sprintf("-DGOLOPS_T=%d", dt-scalar.Float32) }

// scalarArg is a scalar of any element type as an argument of a kernel.
type scalarArg struct{ re, im float64 }

// scalarArg returns v as an argument. It must be inlined, or v escapes to the heap.
func (k *kernels[T, F]) scalarArg(v T) scalarArg {
	p := (*[2]F)(unsafe.Pointer(&v))
	if k.components == 1 {
		return scalarArg{re: float64(*(*F)(unsafe.Pointer(&v)))}
	}
	return scalarArg{float64(p[0]), float64(p[1])}
}

// Alloc implements device.Kernels.
func (k *kernels[T, F]) Alloc(n int) (device.Mem[T], error) {
	if n == 0 {
		return device.Mem[T]{}, k.d.takeErr()
	}
	if n < 0 || n > math.MaxInt/k.size-alignment {
		return device.Mem[T]{}, fmt.Errorf("alloc %d %v on %v: more than an address space holds: %w", n, k.dtype, k.d, device.ErrMemory)
	}
	addr, _, err := k.d.alloc(n * k.size)
	if err != nil {
		return device.Mem[T]{}, err
	}
	d := k.d
	d.enter()
	r := d.drv.Set8.Call(addr, 0, uintptr(n*k.size), d.stream)
	d.leave()
	d.busy = true
	if r != ok {
		d.release(addr)
		return device.Mem[T]{}, fmt.Errorf("set %s on %v to zero: %w", device.BytesText(n*k.size), d, d.drv.fault(r))
	}
	return device.Mem[T]{Addr: addr, N: n}, nil
}

// Free implements device.Kernels.
func (k *kernels[T, F]) Free(m device.Mem[T]) { k.d.release(m.Addr) }

// Reclaim implements device.Reclaimer.
func (k *kernels[T, F]) Reclaim(m device.Mem[T]) { k.d.reclaimed.add(m.Addr) }

// Slice implements device.Kernels.
func (k *kernels[T, F]) Slice(m device.Mem[T], lo, hi int) device.Mem[T] {
	if lo < 0 || hi < lo || hi > m.N {
		panic(fmt.Sprintf("gpu: elements %d to %d of %d", lo, hi, m.N))
	}
	if lo == hi {
		return device.Mem[T]{}
	}
	return device.Mem[T]{Addr: m.Addr + uintptr(lo*k.size), N: hi - lo}
}

// CopyIn implements device.Kernels.
func (k *kernels[T, F]) CopyIn(dst device.Mem[T], src []T) error {
	return k.d.copyIn(dst.Addr, bytesOf(src, k.size))
}

// CopyOut implements device.Kernels.
func (k *kernels[T, F]) CopyOut(dst []T, src device.Mem[T]) error {
	return k.d.copyOut(bytesOf(dst, k.size), src.Addr)
}

// bytesOf returns x as bytes.
func bytesOf[T any](x []T, size int) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*size)
}

// Copy implements device.Kernels.
func (k *kernels[T, F]) Copy(dst, src device.Mem[T]) {
	d := k.d
	if dst.N == 0 || d.err != nil {
		return
	}
	d.enter()
	defer d.leave()
	if r := d.drv.Copy.Call(dst.Addr, src.Addr, uintptr(dst.N*k.size), d.stream); r != ok {
		d.fail(fmt.Errorf("copy %s on %v: %w", device.BytesText(dst.N*k.size), d, d.drv.fault(r)))
	}
	d.busy = true
}

// upload copies b to GPU memory and returns the address. FreeBytes frees it.
func (d *Device) upload(b []byte) (uintptr, error) {
	addr, _, err := d.alloc(len(b))
	if err != nil {
		return 0, err
	}
	if err := d.copyIn(addr, b); err != nil {
		d.release(addr)
		return 0, err
	}
	return addr, nil
}

// waitAll waits for all kernels, without a limit of time.
func (d *Device) waitAll() error {
	if err := d.wait(context.Background(), target{}); err != nil {
		return err
	}
	return d.takeErr()
}
