package gpu

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/dl"
)

// sums is the memory for results of sums.
type sums struct {
	host    *result // pinned host memory that the device writes to
	result  uintptr // the device's address of host
	partial uintptr // partial sums of blocks, then a count of ended blocks
	number  uint64  // number of the last sum
}

// result mirrors Result of sums.cu.
type result struct {
	a, b float64
	seq  uint64
	_    [5]uint64
}

const (
	sumBlock   = 256 // threads, as in sums.cu
	sumPacks   = 4   // packs of a thread, before more blocks are used
	maxBlocks  = 768 // blocks that run at the same time on a large GPU
	partialEnd = maxBlocks * 16
)

// openSums allocates the memory for results.
func (d *Device) openSums() error {
	b, err := d.Pin(int(unsafe.Sizeof(result{})))
	if err != nil {
		return err
	}
	clear(b)
	d.sums.host = (*result)(unsafe.Pointer(unsafe.SliceData(b)))
	at := new(uintptr)
	if r := d.drv.HostAddress.Call(dl.Pointer(at), addrOf(b), 0); r != ok {
		return fmt.Errorf("host memory that the device sees: %w", d.drv.fault(r))
	}
	d.sums.result = *at
	if d.sums.partial, err = d.AllocBytes(partialEnd + alignment); err != nil {
		return err
	}
	if r := d.drv.Set8.Call(d.sums.partial+partialEnd, 0, alignment, d.stream); r != ok {
		return d.drv.fault(r)
	}
	d.busy = true
	return nil
}

// sumFunctions are the kernels of sums.cu.
type sumFunctions struct {
	dot, sum, norm, minMax, axpyNorm function
}

func (k *kernels[T, F]) makeSums() {
	k.sums = sumFunctions{
		dot: k.function("sums.cu", "dot"), sum: k.function("sums.cu", "sum"), norm: k.function("sums.cu", "normSum"),
		minMax: k.function("sums.cu", "minMax"), axpyNorm: k.function("sums.cu", "axpyNorm"),
	}
}

// sumArgs mirror SumArgs of sums.cu.
type sumArgs struct {
	x, y            uintptr
	n               int
	partial, ended  uintptr
	result          uintptr
	number          uint64
	p, scale        float64
	a               scalarArg
	kind, conjugate int32
}

// startSum launches a sum over n elements.
func (k *kernels[T, F]) startSum(f *function, args *sumArgs) {
	args.partial, args.ended = k.d.sums.partial, k.d.sums.partial+partialEnd
	g := blocks((args.n*k.size+packBytes-1)/packBytes, sumBlock*sumPacks)
	g.x = min(g.x, maxBlocks)
	launch(k.d, f, g, sumBlock, 0, args)
}

// sumOf launches a sum and waits for its result.
func (k *kernels[T, F]) sumOf(f *function, args *sumArgs) (a, b float64, err error) {
	d := k.d
	s := &d.sums
	s.number++
	args.result, args.number = s.result, s.number
	k.startSum(f, args)
	if err := d.takeErr(); err != nil {
		return 0, 0, err
	}
	if err := d.wait(context.Background(), target{seq: s.number}); err != nil {
		return 0, 0, err
	}
	return s.host.a, s.host.b, nil
}

// Dot implements device.Kernels.
func (k *kernels[T, F]) Dot(x, y device.Mem[T], conj bool) (complex128, error) {
	if x.N == 0 {
		return 0, k.d.takeErr()
	}
	a, b, err := k.sumOf(&k.sums.dot, &sumArgs{x: x.Addr, y: y.Addr, n: x.N, conjugate: flag(conj)})
	return complex(a, b), err
}

// Sum implements device.Kernels.
func (k *kernels[T, F]) Sum(x device.Mem[T]) (complex128, error) {
	if x.N == 0 {
		return 0, k.d.takeErr()
	}
	a, b, err := k.sumOf(&k.sums.sum, &sumArgs{x: x.Addr, n: x.N})
	return complex(a, b), err
}

// Norm implements device.Kernels.
func (k *kernels[T, F]) Norm(x device.Mem[T], p, scale float64) (float64, error) {
	kind := device.NormOf(p)
	if x.N == 0 {
		return kind.Empty(), k.d.takeErr()
	}
	a, b, err := k.sumOf(&k.sums.norm, &sumArgs{x: x.Addr, n: x.N, p: p, scale: math.Abs(scale), kind: int32(kind)})
	if kind == device.NormLargest {
		// The result is never -Inf, the value of an empty set, because x is not empty.
		return b, err
	}
	return a, err
}

// MinMax implements device.Kernels.
func (k *kernels[T, F]) MinMax(x device.Mem[T]) (lo, hi float64, err error) {
	if k.components == 2 {
		return 0, 0, fmt.Errorf("%s: kernel minMax of %v: %w", k.d.p.Name, k.dtype, device.ErrUnsupported)
	}
	if x.N == 0 {
		return math.Inf(1), math.Inf(-1), k.d.takeErr()
	}
	return k.sumOf(&k.sums.minMax, &sumArgs{x: x.Addr, n: x.N})
}

// AxpyNorm implements device.Kernels.
func (k *kernels[T, F]) AxpyNorm(a T, x, y device.Mem[T]) (float64, error) {
	if x.N == 0 {
		return 0, k.d.takeErr()
	}
	s, _, err := k.sumOf(&k.sums.axpyNorm, &sumArgs{x: x.Addr, y: y.Addr, n: x.N, a: k.scalarArg(a)})
	return s, err
}

// DotInto implements device.AsyncReducer.
func (k *kernels[T, F]) DotInto(dst device.Mem[complex128], x, y device.Mem[T], conj bool) {
	if x.N == 0 {
		k.d.c128.Fill(dst, 0)
		return
	}
	k.startSum(&k.sums.dot, &sumArgs{x: x.Addr, y: y.Addr, n: x.N, result: dst.Addr, conjugate: flag(conj)})
}

// AxpyNormInto implements device.AsyncReducer.
func (k *kernels[T, F]) AxpyNormInto(dst device.Mem[complex128], a T, x, y device.Mem[T]) {
	if x.N == 0 {
		k.d.c128.Fill(dst, 0)
		return
	}
	k.startSum(&k.sums.axpyNorm, &sumArgs{x: x.Addr, y: y.Addr, n: x.N, result: dst.Addr, a: k.scalarArg(a)})
}

// NormInto implements device.AsyncReducer.
func (k *kernels[T, F]) NormInto(dst device.Mem[complex128], x device.Mem[T], p float64) {
	if x.N == 0 {
		k.d.c128.Fill(dst, 0)
		return
	}
	k.startSum(&k.sums.norm, &sumArgs{x: x.Addr, n: x.N, result: dst.Addr, p: p, scale: 1, kind: int32(device.NormOf(p))})
}
