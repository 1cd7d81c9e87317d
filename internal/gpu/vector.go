package gpu

import (
	"math"

	"github.com/golops/golops/device"
)

// vectorFunctions are the kernels of vector.cu.
type vectorFunctions struct {
	fill, combine, mul, conj, mulAxis, threshold, widen function
}

func (k *kernels[T, F]) makeVector() {
	k.vector = vectorFunctions{
		fill: k.function("vector.cu", "fill"), combine: k.function("vector.cu", "combine"),
		mul: k.function("vector.cu", "mul"), conj: k.function("vector.cu", "conjugate"),
		mulAxis: k.function("vector.cu", "mulAxis"), threshold: k.function("vector.cu", "threshold"),
		widen: k.function("vector.cu", "widen"),
	}
}

// vectorArgs mirror VectorArgs of vector.cu.
type vectorArgs struct {
	dst, x, y       uintptr
	n               int
	a, b            scalarArg
	mode, conjugate int32
}

// The modes of combine.
const (
	scaleReal int32 = iota
	scaleComplex
	combineReal
	combineComplex
)

const (
	vectorBlock = 256 // threads
	packBytes   = 16  // bytes that a thread moves at once
	// More blocks per processor than this gain nothing: threads loop instead.
	blocksPerProcessor = 32
)

// vectorGrid is the grid of a kernel whose threads loop over n elements.
func (k *kernels[T, F]) vectorGrid(n int) grid {
	if n == 0 {
		return grid{}
	}
	g := blocks((n*k.size+packBytes-1)/packBytes, vectorBlock)
	g.x = min(g.x, blocksPerProcessor*k.d.info.Processors)
	return g
}

// Fill implements device.Kernels.
func (k *kernels[T, F]) Fill(dst device.Mem[T], v T) {
	launch(k.d, &k.vector.fill, k.vectorGrid(dst.N), vectorBlock, 0, &vectorArgs{dst: dst.Addr, n: dst.N, a: k.scalarArg(v)})
}

// Axpby implements device.Kernels.
func (k *kernels[T, F]) Axpby(a T, x device.Mem[T], b T, y device.Mem[T]) { k.Combine(y, a, x, b, y) }

// Combine does not read y if b is 0, like Axpby.
func (k *kernels[T, F]) Combine(dst device.Mem[T], a T, x device.Mem[T], b T, y device.Mem[T]) {
	args := vectorArgs{dst: dst.Addr, x: x.Addr, y: y.Addr, n: dst.N, a: k.scalarArg(a), b: k.scalarArg(b), mode: combineReal}
	if args.b == (scalarArg{}) {
		args.mode = scaleReal
	}
	if args.a.im != 0 || args.b.im != 0 {
		args.mode++
	}
	launch(k.d, &k.vector.combine, k.vectorGrid(dst.N), vectorBlock, 0, &args)
}

// Mul implements device.Kernels.
func (k *kernels[T, F]) Mul(dst, x, y device.Mem[T], conj bool) {
	launch(k.d, &k.vector.mul, k.vectorGrid(dst.N), vectorBlock, 0,
		&vectorArgs{dst: dst.Addr, x: x.Addr, y: y.Addr, n: dst.N, conjugate: flag(conj)})
}

// Conj implements device.Kernels.
func (k *kernels[T, F]) Conj(dst, x device.Mem[T]) {
	if k.components == 1 {
		if dst.Addr != x.Addr {
			k.Copy(dst, x)
		}
		return
	}
	launch(k.d, &k.vector.conj, k.vectorGrid(dst.N), vectorBlock, 0, &vectorArgs{dst: dst.Addr, x: x.Addr, n: dst.N})
}

// widenArgs mirror WidenArgs of vector.cu.
type widenArgs struct {
	dst, src uintptr
	n        int
}

// Widen implements device.Widener.
func (k *kernels[T, F]) Widen(dst device.Mem[float64], src device.Mem[float32]) {
	launch(k.d, &k.vector.widen, k.vectorGrid(dst.N), vectorBlock, 0, &widenArgs{dst.Addr, src.Addr, dst.N})
}

// mulAxisArgs mirror MulAxisArgs of vector.cu.
type mulAxisArgs struct {
	dst, d, x      uintptr
	n, axis, inner int
	conjugate, _   int32
}

// MulAxis implements device.Kernels.
func (k *kernels[T, F]) MulAxis(dst, d, x device.Mem[T], outer, inner int, conj bool) {
	launch(k.d, &k.vector.mulAxis, k.vectorGrid(outer*d.N*inner), vectorBlock, 0, &mulAxisArgs{
		dst: dst.Addr, d: d.Addr, x: x.Addr, n: outer * d.N * inner, axis: d.N, inner: inner, conjugate: flag(conj),
	})
}

// thresholdArgs mirror ThresholdArgs of vector.cu.
type thresholdArgs struct {
	dst, x, _ uintptr
	n         int
	t, border float64
	kind, _   int32
}

// Threshold follows PyLops 2.8: an element on the border becomes 0. NaN stays NaN.
func (k *kernels[T, F]) Threshold(dst, x device.Mem[T], kind device.ThresholdKind, t float64) {
	border := t
	switch kind {
	case device.HardThreshold:
		border = math.Sqrt(2 * t)
	case device.HalfThreshold:
		border = math.Cbrt(54) / 4 * math.Pow(t, 2./3)
	}
	launch(k.d, &k.vector.threshold, k.vectorGrid(dst.N), vectorBlock, 0,
		&thresholdArgs{dst: dst.Addr, x: x.Addr, n: dst.N, t: t, border: border, kind: int32(kind)})
}

// flag is a bool as a C int.
func flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}
