package cpu

import (
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// batchArgs are the parameters of GemmBatch. A thread that multiplies some matrices of
// the batch takes kernels of its own from idle, since kernels keep their parameters and
// their scratch memory.
type batchArgs[T scalar.Scalar, F float] struct {
	opA, opB    device.Trans
	batch       device.Batch
	m, n, depth int
	alpha, beta T
	a, b, c     []T
	idle        chan *kernels[T, F]
}

// GemmBatch lets each thread multiply some of the matrices. A few large products go one
// after another, and all threads share each of them.
func (k *kernels[T, F]) GemmBatch(opA, opB device.Trans, batch device.Batch, m, n, depth int, alpha T, a, b device.Mem[T], beta T, c device.Mem[T]) error {
	const large = 128 * 128 * 128
	threads := k.workers + 1
	if threads <= 1 || m*n*depth > large && batch.N < 4*threads {
		return device.GemmEach[T](k, opA, opB, batch, m, n, depth, alpha, a, b, beta, c)
	}
	device.MustHold("GemmBatch", "A", a.N, batch.Holds(batch.A, m, depth), 1)
	device.MustHold("GemmBatch", "B", b.N, batch.Holds(batch.B, depth, n), 1)
	device.MustHold("GemmBatch", "C", c.N, batch.Holds(batch.C, m, n), 1)
	t := &k.bt
	if t.idle == nil {
		t.idle = make(chan *kernels[T, F], threads)
		for range threads {
			one := newKernels[T, F](k.device, k.partial)
			one.pool = newPool(0)
			t.idle <- one
		}
	}
	if k.components == 2 || wider || !vectors { // what the library may multiply
		k.blas.look().threads(1)
	}
	*t = batchArgs[T, F]{opA, opB, batch, m, n, depth, alpha, beta, elements(a), elements(b), elements(c), t.idle}
	k.pool.run(batch.N, 1+2*bandGrain/(m*n*depth+1), k.loops.batch)
	*t = batchArgs[T, F]{idle: t.idle}
	return nil
}

// batchPart multiplies matrices lo to hi of the batch.
func (k *kernels[T, F]) batchPart(lo, hi int) {
	t := &k.bt
	one := <-t.idle
	defer func() { t.idle <- one }()
	for i := lo; i < hi; i++ {
		a, b, c := t.a[i*t.batch.A:][:t.m*t.depth], t.b[i*t.batch.B:][:t.depth*t.n], t.c[i*t.batch.C:][:t.m*t.n]
		if err := one.Gemm(t.opA, t.opB, t.m, t.n, t.depth, t.alpha, memOf(a), memOf(b), t.beta, memOf(c)); err != nil {
			panic(err)
		}
	}
}
