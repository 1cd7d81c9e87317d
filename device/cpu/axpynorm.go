package cpu

import "github.com/golops/golops/device"

// block is how many components AxpyNorm updates before it measures them: they are
// still in the first cache then, so memory is passed over once.
const block = 1024

// AxpyNorm implements device.Kernels.
func (k *kernels[T, F]) AxpyNorm(a T, x, y device.Mem[T]) (s float64, err error) {
	k.r.x, k.r.y = k.flat(x), k.flat(y)
	k.v.a = k.split(a)
	for _, c := range k.chunks(x.N, k.loops.axpyNorm) {
		s += real(c)
	}
	k.v = vectorArgs[F]{}
	return s, nil
}

func (k *kernels[T, F]) axpyNormPart(lo, hi int) {
	x, y := k.componentsOf(k.r.x, lo, hi), k.componentsOf(k.r.y, lo, hi)
	a, one := k.v.a, pair[F]{re: 1}
	s := 0.0
	for i := 0; i < len(y); i += block {
		xs, ys := x[i:min(i+block, len(y))], y[i:min(i+block, len(y))]
		if a.im == 0 {
			combine(ys, a.re, xs, 1, ys)
		} else {
			combinePairs(ys, a, xs, one, ys)
		}
		s += dot(ys, ys)
	}
	k.partial[lo/k.r.grain] = complex(s, 0)
}
