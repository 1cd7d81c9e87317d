package fakegpu

import "github.com/golops/golops/device"

// Kernels of the host find hidden memory by its address, so most need no method here.
// The methods below count waits, or are kernels that GPUs have and the host lacks.

// Widen implements device.Widener.
func (k *kernels[T, F]) Widen(dst device.Mem[float64], src device.Mem[float32]) {
	k.Kernels.(device.Widener).Widen(dst, src)
}

func (k *kernels[T, F]) CopyIn(dst device.Mem[T], src []T) error {
	k.d.Waits++
	return k.Kernels.CopyIn(dst, src)
}

func (k *kernels[T, F]) CopyOut(dst []T, src device.Mem[T]) error {
	k.d.Waits++
	return k.Kernels.CopyOut(dst, src)
}

func (k *kernels[T, F]) Dot(x, y device.Mem[T], conj bool) (complex128, error) {
	k.d.Waits++
	return k.Kernels.Dot(x, y, conj)
}

func (k *kernels[T, F]) AxpyNorm(a T, x, y device.Mem[T]) (float64, error) {
	k.d.Waits++
	return k.Kernels.AxpyNorm(a, x, y)
}

func (k *kernels[T, F]) Sum(x device.Mem[T]) (complex128, error) {
	k.d.Waits++
	return k.Kernels.Sum(x)
}

func (k *kernels[T, F]) Norm(x device.Mem[T], p, scale float64) (float64, error) {
	k.d.Waits++
	return k.Kernels.Norm(x, p, scale)
}

func (k *kernels[T, F]) MinMax(x device.Mem[T]) (lo, hi float64, err error) {
	k.d.Waits++
	return k.Kernels.MinMax(x)
}

func (k *kernels[T, F]) NormAxis(dst []float64, x device.Mem[T], outer, n, inner int, p float64) error {
	k.d.Waits++
	return k.Kernels.NormAxis(dst, x, outer, n, inner, p)
}

// NormInto implements device.AsyncReducer, as DotInto and AxpyNormInto do.
func (k *kernels[T, F]) NormInto(dst device.Mem[complex128], x device.Mem[T], p float64) {
	k.d.must(device.NormInto(k.Kernels, k.d.c128.Kernels, dst, x, p))
}

// DotInto and AxpyNormInto implement device.AsyncReducer. They wait for nothing.
func (k *kernels[T, F]) DotInto(dst device.Mem[complex128], x, y device.Mem[T], conj bool) {
	k.d.must(device.DotInto(k.Kernels, k.d.c128.Kernels, dst, x, y, conj))
}

func (k *kernels[T, F]) AxpyNormInto(dst device.Mem[complex128], a T, x, y device.Mem[T]) {
	k.d.must(device.AxpyNormInto(k.Kernels, k.d.c128.Kernels, dst, a, x, y))
}

// BandsSum implements device.StencilSum.
func (k *kernels[T, F]) BandsSum(dst, src device.Mem[T], s *device.BandedSum[T], group int) {
	s.PerAxis(k.Kernels, dst, src, group)
}

// Spread and Stack implement device.Kirchhoff.
func (k *kernels[T, F]) Spread(y, x device.Mem[T], t *device.TravelTables[F]) {
	k.d.must(device.Spread(k.Kernels, y, x, t))
}

func (k *kernels[T, F]) Stack(x, y device.Mem[T], t *device.TravelTables[F]) {
	k.d.must(device.Stack(k.Kernels, x, y, t))
}

// Project and BackProject implement device.Projector.
func (k *kernels[T, F]) Project(y, x device.Mem[T], r *device.Rays) {
	k.d.must(device.Project(k.Kernels, y, x, r))
}

func (k *kernels[T, F]) BackProject(x, y device.Mem[T], r *device.Rays) {
	k.d.must(device.BackProject(k.Kernels, x, y, r))
}

// PlanFFT and FFT implement device.Fourier, RFFT and IRFFT device.RealFourier.
func (k *kernels[T, F]) PlanFFT(t *device.DFT) error { return device.PlanFFT(k.Kernels, t) }

func (k *kernels[T, F]) FFT(dst, src device.Mem[T], t *device.DFT, inverse bool) error {
	return device.FFT(k.Kernels, dst, src, t, inverse)
}

func (k *kernels[T, F]) RFFT(dst device.Mem[T], src device.Mem[F], t *device.DFT) error {
	return device.RFFT(k.Kernels, dst, src, t)
}

func (k *kernels[T, F]) IRFFT(dst device.Mem[F], src device.Mem[T], t *device.DFT) error {
	return device.IRFFT(k.Kernels, dst, src, t)
}
