package gpu

import "github.com/golops/golops/device"

// shrinkFunctions are the kernels of shrink.cu.
type shrinkFunctions struct{ shrink, sum function }

func (k *kernels[T, F]) makeShrink() {
	k.shrink = shrinkFunctions{shrink: k.function("shrink.cu", "shrink"), sum: k.function("shrink.cu", "shrinkSum")}
}

// shrinkArgs mirror ShrinkArgs of shrink.cu.
type shrinkArgs struct {
	dst, x      [device.MaxTuple]uintptr
	n           int
	t, u        float64
	parts, kind int32
}

// Shrink implements device.Kernels.
func (k *kernels[T, F]) Shrink(dst, x device.Tuple[T], by device.Shrinkage) {
	args := shrinkArgs{n: x.Part[0].N, t: by.T, u: by.U, parts: int32(x.Count), kind: int32(by.Kind)}
	for i := range x.Count {
		args.dst[i], args.x[i] = dst.Part[i].Addr, x.Part[i].Addr
	}
	launch(k.d, &k.shrink.shrink, k.vectorGrid(args.n), vectorBlock, 0, &args)
}

// shrinkSumArgs mirror ShrinkSumArgs of shrink.cu.
type shrinkSumArgs struct {
	x           [device.MaxTuple]uintptr
	n           int
	t, u        float64
	sums        uintptr
	parts, kind int32
}

// ShrinkSum leaves a pair of sums for each block, as complex numbers, and adds them.
func (k *kernels[T, F]) ShrinkSum(x device.Tuple[T], by device.Shrinkage) (sum, count float64, err error) {
	n := x.Part[0].N
	if n == 0 {
		return 0, 0, k.d.takeErr()
	}
	g := blocks(n, sumBlock*sumPacks)
	g.x = min(g.x, maxBlocks)
	args := shrinkSumArgs{n: n, t: by.T, u: by.U, sums: k.d.scratch(16 * g.x), parts: int32(x.Count), kind: int32(by.Kind)}
	for i := range x.Count {
		args.x[i] = x.Part[i].Addr
	}
	launch(k.d, &k.shrink.sum, g, sumBlock, 0, &args)
	s, err := k.d.c128.Sum(device.Mem[complex128]{Addr: args.sums, N: g.x})
	return real(s), imag(s), err
}
