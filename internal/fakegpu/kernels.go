package fakegpu

import "github.com/golops/golops/device"

func (k *kernels[T, F]) CopyIn(dst device.Mem[T], src []T) error {
	k.d.Waits++
	return k.Kernels.CopyIn(see(dst), src)
}

func (k *kernels[T, F]) CopyOut(dst []T, src device.Mem[T]) error {
	k.d.Waits++
	return k.Kernels.CopyOut(dst, see(src))
}

func (k *kernels[T, F]) Copy(dst, src device.Mem[T]) { k.Kernels.Copy(see(dst), see(src)) }

func (k *kernels[T, F]) Fill(dst device.Mem[T], v T) { k.Kernels.Fill(see(dst), v) }

func (k *kernels[T, F]) Axpby(a T, x device.Mem[T], b T, y device.Mem[T]) {
	k.Kernels.Axpby(a, see(x), b, see(y))
}

func (k *kernels[T, F]) Combine(dst device.Mem[T], a T, x device.Mem[T], b T, y device.Mem[T]) {
	k.Kernels.Combine(see(dst), a, see(x), b, see(y))
}

func (k *kernels[T, F]) Mul(dst, x, y device.Mem[T], conj bool) {
	k.Kernels.Mul(see(dst), see(x), see(y), conj)
}

func (k *kernels[T, F]) MulAxis(dst, d, x device.Mem[T], outer, inner int, conj bool) {
	k.Kernels.MulAxis(see(dst), see(d), see(x), outer, inner, conj)
}

func (k *kernels[T, F]) Conj(dst, x device.Mem[T]) { k.Kernels.Conj(see(dst), see(x)) }

func (k *kernels[T, F]) Threshold(dst, x device.Mem[T], kind device.ThresholdKind, t float64) {
	k.Kernels.Threshold(see(dst), see(x), kind, t)
}

func (k *kernels[T, F]) Dot(x, y device.Mem[T], conj bool) (complex128, error) {
	k.d.Waits++
	return k.Kernels.Dot(see(x), see(y), conj)
}

func (k *kernels[T, F]) Sum(x device.Mem[T]) (complex128, error) {
	k.d.Waits++
	return k.Kernels.Sum(see(x))
}

func (k *kernels[T, F]) Norm(x device.Mem[T], p, scale float64) (float64, error) {
	k.d.Waits++
	return k.Kernels.Norm(see(x), p, scale)
}

func (k *kernels[T, F]) MinMax(x device.Mem[T]) (lo, hi float64, err error) {
	k.d.Waits++
	return k.Kernels.MinMax(see(x))
}

func (k *kernels[T, F]) SumAxis(dst, x device.Mem[T], outer, n, inner int) {
	k.Kernels.SumAxis(see(dst), see(x), outer, n, inner)
}

func (k *kernels[T, F]) NormAxis(dst []float64, x device.Mem[T], outer, n, inner int, p float64) error {
	k.d.Waits++
	return k.Kernels.NormAxis(dst, see(x), outer, n, inner, p)
}

func (k *kernels[T, F]) ScanAxis(dst, x, start device.Mem[T], outer, n, inner int, reverse bool) {
	k.Kernels.ScanAxis(see(dst), see(x), see(start), outer, n, inner, reverse)
}

func (k *kernels[T, F]) CopyND(dst, src device.Mem[T], c *device.Strided, add bool) {
	k.Kernels.CopyND(see(dst), see(src), c, add)
}

func (k *kernels[T, F]) Bands(dst, src, ghost device.Mem[T], b *device.Banded[T], group int, add bool) {
	k.Kernels.Bands(see(dst), see(src), see(ghost), b, group, add)
}

// BandsSum implements device.StencilSum, which the host does not.
func (k *kernels[T, F]) BandsSum(dst, src device.Mem[T], s *device.BandedSum[T]) {
	s.PerAxis(k, dst, src)
}

func (k *kernels[T, F]) Gather(dst, src device.Mem[T], s *device.Sparse[T]) {
	k.Kernels.Gather(see(dst), see(src), s)
}

func (k *kernels[T, F]) Gemv(op device.Trans, m, n int, alpha T, a, x device.Mem[T], beta T, y device.Mem[T]) error {
	return k.Kernels.Gemv(op, m, n, alpha, see(a), see(x), beta, see(y))
}

func (k *kernels[T, F]) Gemm(opA, opB device.Trans, m, n, l int, alpha T, a, b device.Mem[T], beta T, c device.Mem[T]) error {
	return k.Kernels.Gemm(opA, opB, m, n, l, alpha, see(a), see(b), beta, see(c))
}

func (k *kernels[T, F]) AxpyNorm(a T, x, y device.Mem[T]) (float64, error) {
	k.d.Waits++
	return k.Kernels.AxpyNorm(a, see(x), see(y))
}

// DotInto and AxpyNormInto implement device.AsyncReducer.
func (k *kernels[T, F]) DotInto(dst device.Mem[complex128], x, y device.Mem[T], conj bool) {
	see(dst).Host[0], _ = k.Kernels.Dot(see(x), see(y), conj)
}

func (k *kernels[T, F]) AxpyNormInto(dst device.Mem[complex128], a T, x, y device.Mem[T]) {
	k.Axpby(a, x, 1, y)
	k.DotInto(dst, y, y, true)
}

// Spread and Stack implement device.Kirchhoff.
func (k *kernels[T, F]) Spread(y, x device.Mem[T], t *device.TravelTables[F]) {
	k.Kernels.(device.Kirchhoff[T, F]).Spread(see(y), see(x), t)
}

func (k *kernels[T, F]) Stack(x, y device.Mem[T], t *device.TravelTables[F]) {
	k.Kernels.(device.Kirchhoff[T, F]).Stack(see(x), see(y), t)
}
