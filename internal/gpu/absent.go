package gpu

import (
	"fmt"

	"github.com/golops/golops/device"
)

// The kernels that are not there yet.

func (k *kernels[T, F]) SumAxis(dst, x device.Mem[T], outer, n, inner int) {
	k.d.unsupported("SumAxis", k.dtype)
}

func (k *kernels[T, F]) NormAxis(dst []float64, x device.Mem[T], outer, n, inner int, p float64) error {
	return fmt.Errorf("%s: kernel NormAxis of %v: %w", k.d.p.Name, k.dtype, device.ErrUnsupported)
}

func (k *kernels[T, F]) ScanAxis(dst, x, start device.Mem[T], outer, n, inner int, reverse bool) {
	k.d.unsupported("ScanAxis", k.dtype)
}

func (k *kernels[T, F]) CopyND(dst, src device.Mem[T], c *device.Strided, add bool) {
	k.d.unsupported("CopyND", k.dtype)
}

func (k *kernels[T, F]) Bands(dst, src, ghost device.Mem[T], b *device.Banded[T], group int, add bool) {
	k.d.unsupported("Bands", k.dtype)
}

func (k *kernels[T, F]) Gather(dst, src device.Mem[T], s *device.Sparse[T]) {
	k.d.unsupported("Gather", k.dtype)
}

func (k *kernels[T, F]) Gemv(op device.Trans, m, n int, alpha T, a, x device.Mem[T], beta T, y device.Mem[T]) error {
	return fmt.Errorf("%s: kernel Gemv of %v: %w", k.d.p.Name, k.dtype, device.ErrUnsupported)
}

func (k *kernels[T, F]) Gemm(opA, opB device.Trans, m, n, kk int, alpha T, a, b device.Mem[T], beta T, c device.Mem[T]) error {
	return fmt.Errorf("%s: kernel Gemm of %v: %w", k.d.p.Name, k.dtype, device.ErrUnsupported)
}
