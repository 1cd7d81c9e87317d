package cpu

import (
	"unsafe"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// gatherArgs are the parameters of Gather.
type gatherArgs[T scalar.Scalar, F float] struct {
	dst, src []F
	s        *device.Sparse[T]
}

// Gather multiplies in the element type and adds in 64 bits.
func (k *kernels[T, F]) Gather(dst, src device.Mem[T], s *device.Sparse[T]) {
	rows := dst.N
	if rows == 0 {
		return
	}
	k.sp = gatherArgs[T, F]{k.flat(dst), k.flat(src), s}
	perRow := max(1, (s.First[rows]-s.First[0])/rows)
	k.pool.run(rows, max(1, vectorGrain/perRow), k.loops.gather)
	k.sp = gatherArgs[T, F]{}
}

func (k *kernels[T, F]) gatherPart(lo, hi int) {
	g := &k.sp
	first, at := g.s.First[lo:hi+1], g.s.At
	var w []F
	if g.s.W != nil {
		w = unsafe.Slice((*F)(unsafe.Pointer(unsafe.SliceData(g.s.W))), len(g.s.W)*k.components)
	}
	dst := k.componentsOf(g.dst, lo, hi)
	switch {
	case k.components == 1 && w == nil:
		gatherOnes(dst, g.src, first, at)
	case k.components == 1:
		gatherReal(dst, g.src, first, at, w)
	case w == nil:
		gatherOnePairs(pairs(dst), pairs(g.src), first, at)
	default:
		gatherPairs(pairs(dst), pairs(g.src), first, at, pairs(w))
	}
}

func gatherOnes[F float](dst, src []F, first, at []int) {
	for i := range dst {
		row := at[first[i]:first[i+1]]
		if len(row) == 1 {
			dst[i] = src[row[0]]
			continue
		}
		s := 0.0
		for _, j := range row {
			s += float64(src[j])
		}
		dst[i] = F(s)
	}
}

func gatherReal[F float](dst, src []F, first, at []int, w []F) {
	for i := range dst {
		row := at[first[i]:first[i+1]]
		weights := w[first[i]:first[i+1]][:len(row)]
		var s0, s1 float64
		for ; len(row) >= 2 && len(weights) >= 2; row, weights = row[2:], weights[2:] {
			s0 += float64(weights[0] * src[row[0]])
			s1 += float64(weights[1] * src[row[1]])
		}
		if len(row) == 1 && len(weights) == 1 {
			s0 += float64(weights[0] * src[row[0]])
		}
		dst[i] = F(s0 + s1)
	}
}

func gatherOnePairs[F float](dst, src []pair[F], first, at []int) {
	for i := range dst {
		row := at[first[i]:first[i+1]]
		if len(row) == 1 {
			dst[i] = src[row[0]]
			continue
		}
		var re, im float64
		for _, j := range row {
			v := src[j]
			re, im = re+float64(v.re), im+float64(v.im)
		}
		dst[i] = pair[F]{F(re), F(im)}
	}
}

func gatherPairs[F float](dst, src []pair[F], first, at []int, w []pair[F]) {
	for i := range dst {
		row := at[first[i]:first[i+1]]
		weights := w[first[i]:first[i+1]][:len(row)]
		var re, im float64
		for j, at := range row {
			c, v := weights[j], src[at]
			re += float64(c.re*v.re - c.im*v.im)
			im += float64(c.re*v.im + c.im*v.re)
		}
		dst[i] = pair[F]{F(re), F(im)}
	}
}
