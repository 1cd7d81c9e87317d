package cpu

import (
	"fmt"
	"math"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// A sum is made of chunks whose size depends on the length alone, and the sums
// of the chunks are added in order. So it is the same for any number of threads.
const (
	sumGrain  = 16 << 10
	maxChunks = 1024
)

// partials are the sums of the chunks.
type partials [maxChunks]complex128

// reduceArgs are the parameters of a sum.
type reduceArgs[F float] struct {
	x, y     []F
	conj     bool
	kind     device.NormKind
	p, scale float64
	grain    int
}

// sumLoops are the bodies of these kernels.
type sumLoops struct{ dot, axpyNorm, sum, norm, minMax func(lo, hi int) }

func (k *kernels[T, F]) makeSumLoops() sumLoops {
	return sumLoops{dot: k.dotPart, axpyNorm: k.axpyNormPart, sum: k.sumPart, norm: k.normPart, minMax: k.minMaxPart}
}

// chunks runs body over n elements and returns the partial results. Bodies get
// bounds in elements, not in components.
func (k *kernels[T, F]) chunks(n int, body func(lo, hi int)) []complex128 {
	k.r.grain = max(sumGrain, (n+maxChunks-1)/maxChunks)
	parts := k.partial[:(n+k.r.grain-1)/k.r.grain]
	k.pool.run(n, k.r.grain, body)
	k.r = reduceArgs[F]{}
	return parts
}

// componentsOf returns the components of elements lo to hi.
func (k *kernels[T, F]) componentsOf(x []F, lo, hi int) []F {
	return x[lo*k.components : hi*k.components]
}

func (k *kernels[T, F]) Dot(x, y device.Mem[T], conj bool) (s complex128, err error) {
	k.r.x, k.r.y, k.r.conj = k.flat(x), k.flat(y), conj
	for _, c := range k.chunks(x.N, k.loops.dot) {
		s += c
	}
	return s, nil
}

func (k *kernels[T, F]) dotPart(lo, hi int) {
	x, y := k.componentsOf(k.r.x, lo, hi), k.componentsOf(k.r.y, lo, hi)
	var s complex128
	if k.components == 1 {
		s = complex(dot(x, y), 0)
	} else {
		s = dotPairs(x, y, k.r.conj)
	}
	k.partial[lo/k.r.grain] = s
}

func (k *kernels[T, F]) Sum(x device.Mem[T]) (s complex128, err error) {
	k.r.x = k.flat(x)
	for _, c := range k.chunks(x.N, k.loops.sum) {
		s += c
	}
	return s, nil
}

func (k *kernels[T, F]) sumPart(lo, hi int) {
	x := k.componentsOf(k.r.x, lo, hi)
	if k.components == 1 {
		k.partial[lo/k.r.grain] = complex(sum(x), 0)
	} else {
		k.partial[lo/k.r.grain] = sumPairs(x)
	}
}

func (k *kernels[T, F]) Norm(x device.Mem[T], p, scale float64) (float64, error) {
	return k.norm(k.flat(x), p, scale), nil
}

func (k *kernels[T, F]) norm(x []F, p, scale float64) float64 {
	kind := device.NormOf(p)
	k.r.x, k.r.kind, k.r.p, k.r.scale = x, kind, p, math.Abs(scale)
	s := kind.Empty()
	for _, c := range k.chunks(len(x)/k.components, k.loops.norm) {
		s = joinNorms(kind, s, real(c))
	}
	return s
}

func (k *kernels[T, F]) normPart(lo, hi int) {
	x := k.componentsOf(k.r.x, lo, hi)
	k.partial[lo/k.r.grain] = complex(k.normOf(x, k.r.kind, k.r.p, k.r.scale), 0)
}

// normOf is the norm of one chunk.
func (k *kernels[T, F]) normOf(x []F, kind device.NormKind, p, scale float64) float64 {
	if k.components == 1 || kind == device.NormSquares {
		return normReal(x, kind, p, scale)
	}
	return normPairs(pairs(x), kind, p, scale)
}

func (k *kernels[T, F]) MinMax(x device.Mem[T]) (lo, hi float64, err error) {
	if k.components == 2 {
		return 0, 0, fmt.Errorf("cpu: smallest and largest %v: %w", scalar.Of[T](), device.ErrUnsupported)
	}
	k.r.x = k.flat(x)
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, c := range k.chunks(x.N, k.loops.minMax) {
		lo, hi = min(lo, real(c)), max(hi, imag(c))
	}
	return lo, hi, nil
}

func (k *kernels[T, F]) minMaxPart(lo, hi int) {
	k.partial[lo/k.r.grain] = complex(minMax(k.r.x[lo:hi]))
}
