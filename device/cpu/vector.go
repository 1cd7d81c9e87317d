package cpu

import "github.com/golops/golops/device"

// vectorGrain is how many elements of a vector one thread takes at a time. Less
// than two grains are not worth waking another thread.
const vectorGrain = 16 << 10

// vectorArgs are the parameters of a kernel that works element by element, where
// all threads see them.
type vectorArgs[F float] struct {
	dst, x, y    []F
	a, b         pair[F]
	outer, inner int
	conj         bool
	kind         device.ThresholdKind
	t            float64
}

// widenArgs are the parameters of Widen.
type widenArgs struct {
	dst []float64
	src []float32
}

// vectorLoops are the bodies of these kernels.
type vectorLoops struct {
	copy, fill, combine, mul, mulAxis, conj, threshold, widen func(lo, hi int)
}

func (k *kernels[T, F]) makeVectorLoops() vectorLoops {
	return vectorLoops{
		copy: k.copyPart, fill: k.fillPart, combine: k.combinePart, mul: k.mulPart, mulAxis: k.mulAxisPart,
		conj: k.conjPart, threshold: k.thresholdPart, widen: k.widenPart,
	}
}

// each runs body over the n flat components of vectors, in grains of whole elements.
func (k *kernels[T, F]) each(n int, body func(lo, hi int)) {
	k.pool.run(n, vectorGrain*k.components, body)
	k.v = vectorArgs[F]{} // keep nobody's memory alive
}

// shared is each with one long run for each thread, which suits loops that do
// nothing but move memory.
func (k *kernels[T, F]) shared(n int, body func(lo, hi int)) {
	threads := max(k.workers, 0) + 1
	k.pool.run(n, max(vectorGrain*k.components, (n+threads-1)/threads&^1+2), body)
	k.v = vectorArgs[F]{}
}

func (k *kernels[T, F]) Copy(dst, src device.Mem[T]) {
	k.v.dst, k.v.x = k.flat(dst), k.flat(src)
	k.shared(len(k.v.dst), k.loops.copy)
}

func (k *kernels[T, F]) copyPart(lo, hi int) { copy(k.v.dst[lo:hi], k.v.x[lo:hi]) }

// Widen implements device.Widener.
func (k *kernels[T, F]) Widen(dst device.Mem[float64], src device.Mem[float32]) {
	k.wd = widenArgs{elements(dst), elements(src)}
	k.pool.run(dst.N, vectorGrain, k.loops.widen)
	k.wd = widenArgs{}
}

func (k *kernels[T, F]) widenPart(lo, hi int) {
	src := k.wd.src[lo:hi]
	for i, dst := 0, k.wd.dst[lo:hi][:len(src)]; i < len(src); i++ {
		dst[i] = float64(src[i])
	}
}

func (k *kernels[T, F]) Fill(dst device.Mem[T], v T) {
	k.v.dst, k.v.a = k.flat(dst), k.split(v)
	k.shared(len(k.v.dst), k.loops.fill)
}

func (k *kernels[T, F]) fillPart(lo, hi int) {
	switch a := k.v.a; {
	case a == (pair[F]{}):
		clear(k.v.dst[lo:hi])
	case k.components == 1:
		fill(k.v.dst[lo:hi], a.re)
	default:
		fill(pairs(k.v.dst[lo:hi]), a)
	}
}

func (k *kernels[T, F]) Axpby(a T, x device.Mem[T], b T, y device.Mem[T]) {
	k.Combine(y, a, x, b, y)
}

// Combine does not read y if b is 0, like Axpby.
func (k *kernels[T, F]) Combine(dst device.Mem[T], a T, x device.Mem[T], b T, y device.Mem[T]) {
	k.v.dst, k.v.x, k.v.y = k.flat(dst), k.flat(x), k.flat(y)
	k.v.a, k.v.b = k.split(a), k.split(b)
	k.each(len(k.v.dst), k.loops.combine)
}

func (k *kernels[T, F]) combinePart(lo, hi int) {
	v := &k.v
	dst, x, y := v.dst[lo:hi], v.x[lo:hi], v.y[lo:hi]
	if v.a.im == 0 && v.b.im == 0 {
		combine(dst, v.a.re, x, v.b.re, y)
	} else {
		combinePairs(dst, v.a, x, v.b, y)
	}
}

func (k *kernels[T, F]) Mul(dst, x, y device.Mem[T], conj bool) {
	k.v.dst, k.v.x, k.v.y, k.v.conj = k.flat(dst), k.flat(x), k.flat(y), conj
	k.each(len(k.v.dst), k.loops.mul)
}

func (k *kernels[T, F]) mulPart(lo, hi int) {
	dst, x, y := k.v.dst[lo:hi], k.v.x[lo:hi], k.v.y[lo:hi]
	if k.components == 1 {
		mul(dst, x, y)
	} else {
		mulPairs(dst, x, y, k.v.conj)
	}
}

func (k *kernels[T, F]) Conj(dst, x device.Mem[T]) {
	k.v.dst, k.v.x = k.flat(dst), k.flat(x)
	k.each(len(k.v.dst), k.loops.conj)
}

func (k *kernels[T, F]) conjPart(lo, hi int) {
	if k.components == 1 {
		copy(k.v.dst[lo:hi], k.v.x[lo:hi])
	} else {
		conjPairs(k.v.dst[lo:hi], k.v.x[lo:hi])
	}
}

// MulAxis walks the block in runs that have one factor, or one factor each.
func (k *kernels[T, F]) MulAxis(dst, d, x device.Mem[T], outer, inner int, conj bool) {
	k.v.dst, k.v.y, k.v.x = k.flat(dst), k.flat(d), k.flat(x)
	k.v.outer, k.v.inner, k.v.conj = outer, inner, conj
	k.each(outer*len(k.v.y)*inner, k.loops.mulAxis)
}

func (k *kernels[T, F]) mulAxisPart(lo, hi int) {
	v := &k.v
	p, n := k.components, len(v.y)/k.components
	if v.inner == 1 { // rows of factors
		for lo < hi {
			i := lo % (n * p)
			e := min(lo+n*p-i, hi)
			dst, d, x := v.dst[lo:e], v.y[i:i+e-lo], v.x[lo:e]
			if p == 1 {
				mul(dst, d, x)
			} else {
				mulPairs(dst, d, x, v.conj)
			}
			lo = e
		}
		return
	}
	for row := lo / (v.inner * p); lo < hi; row++ {
		e := min((row+1)*v.inner*p, hi)
		dst, x, i := v.dst[lo:e], v.x[lo:e], row%n
		if p == 1 {
			scale(dst, v.y[i], x)
		} else {
			c := pair[F]{v.y[2*i], v.y[2*i+1]}
			if v.conj {
				c.im = -c.im
			}
			scalePairs(dst, c, x)
		}
		lo = e
	}
}
