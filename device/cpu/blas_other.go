//go:build !linux

package cpu

import (
	"fmt"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// blas is no library: only on Linux are any opened at run time.
type blas struct{ name string }

func newBLAS(file string) (*blas, error) {
	if file != "" && file != "off" {
		return nil, fmt.Errorf("cpu: open BLAS %s: %w", file, device.ErrUnsupported)
	}
	return new(blas), nil
}

func (b *blas) look() *blas { return b }

type blasArgs[T scalar.Scalar] struct{}

func (k *kernels[T, F]) blasGemm(opA, opB device.Trans, m, n, depth int, alpha T, a, b device.Mem[T], beta T, c device.Mem[T]) bool {
	return false
}

func (k *kernels[T, F]) blasGemv(op device.Trans, m, n int, alpha T, a, x device.Mem[T], beta T, y device.Mem[T]) bool {
	return false
}
