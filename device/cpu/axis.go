package cpu

import (
	"math"

	"github.com/golops/golops/device"
)

// Kernels along an axis of a block of outer × n × inner elements go through it
// in columns: up to columnWidth neighbours of one outer index, over the whole axis, with
// one 64-bit sum each. Threads share the columns. One thread does a block that is a
// single narrow column.

// columnWidth is how many components a column has at most. Their sums are on the
// stack and stay in the nearest cache.
const columnWidth = 512

// axisArgs are the parameters of a kernel along an axis. Lengths are in components.
type axisArgs[F float] struct {
	dst, x, start []F
	norms         []float64
	n, inner      int
	columns       int // of one outer index
	kind          device.NormKind
	p             float64
	reverse       bool
}

// axisLoops are the bodies of these kernels.
type axisLoops struct{ sumAxis, normAxis, scanAxis func(lo, hi int) }

func (k *kernels[T, F]) makeAxisLoops() axisLoops {
	return axisLoops{sumAxis: k.sumAxisPart, normAxis: k.normAxisPart, scanAxis: k.scanAxisPart}
}

// eachColumn runs body over all columns, several at a time if they are short.
func (k *kernels[T, F]) eachColumn(outer, n, inner int, body func(lo, hi int)) {
	if inner > 0 {
		k.ax.n, k.ax.inner = n, inner*k.components
		k.ax.columns = (k.ax.inner + columnWidth - 1) / columnWidth
		work := max(1, n*min(k.ax.inner, columnWidth))
		k.pool.run(outer*k.ax.columns, max(1, vectorGrain/work), body)
	}
	k.ax = axisArgs[F]{}
}

// column is a part of a block: elements o, 0..n, j..j+width.
type column struct{ o, j, width int }

func (a *axisArgs[F]) column(i int) column {
	c := column{o: i / a.columns, j: i % a.columns * columnWidth}
	c.width = min(columnWidth, a.inner-c.j)
	return c
}

// row returns where row i of a column begins in the block.
func (a *axisArgs[F]) row(c column, i int) int { return (c.o*a.n+i)*a.inner + c.j }

func (k *kernels[T, F]) SumAxis(dst, x device.Mem[T], outer, n, inner int) {
	if outer == 1 && inner == 1 { // which threads can share
		k.r.x = k.flat(x)
		var s complex128
		for _, c := range k.chunks(n, k.loops.sum) {
			s += c
		}
		k.store(k.flat(dst), s)
		return
	}
	k.ax.dst, k.ax.x = k.flat(dst), k.flat(x)
	k.eachColumn(outer, n, inner, k.loops.sumAxis)
}

// store sets the one element of dst.
func (k *kernels[T, F]) store(dst []F, s complex128) {
	dst[0] = F(real(s))
	if k.components == 2 {
		dst[1] = F(imag(s))
	}
}

func (k *kernels[T, F]) sumAxisPart(lo, hi int) {
	a := &k.ax
	for i := lo; i < hi; i++ {
		c := a.column(i)
		at := a.row(c, 0)
		dst := a.dst[c.o*a.inner+c.j:][:c.width]
		switch {
		case a.inner == 1:
			dst[0] = F(sum(a.x[at : at+a.n]))
		case a.inner == 2 && k.components == 2:
			k.store(dst, sumPairs(a.x[at:at+2*a.n]))
		default:
			var sums [columnWidth]float64
			s := sums[:c.width]
			n := a.n
			for ; n >= 4; n -= 4 { // four rows at once: a sum is read and written a quarter as often
				x0, x1 := a.x[at:][:len(s)], a.x[at+a.inner:][:len(s)]
				x2, x3 := a.x[at+2*a.inner:][:len(s)], a.x[at+3*a.inner:][:len(s)]
				for j := addColumnsVector(s, a.x[at:], a.inner); j < len(s); j++ {
					s[j] += (float64(x0[j]) + float64(x1[j])) + (float64(x2[j]) + float64(x3[j]))
				}
				at += 4 * a.inner
			}
			for ; n > 0; n-- {
				x := a.x[at:][:len(s)]
				for j := range s {
					s[j] += float64(x[j])
				}
				at += a.inner
			}
			for j, v := range s {
				dst[j] = F(v)
			}
		}
	}
}

// ScanAxis adds in 64 bits, whatever inner is, and rounds each sum once.
func (k *kernels[T, F]) ScanAxis(dst, x, start device.Mem[T], outer, n, inner int, reverse bool) {
	k.ax.dst, k.ax.x, k.ax.start, k.ax.reverse = k.flat(dst), k.flat(x), k.flat(start), reverse
	k.eachColumn(outer, n, inner, k.loops.scanAxis)
}

func (k *kernels[T, F]) scanAxisPart(lo, hi int) {
	a := &k.ax
	for i := lo; i < hi; i++ {
		c := a.column(i)
		var start []F
		if len(a.start) > 0 {
			start = a.start[c.o*a.inner+c.j:][:c.width]
		}
		at, step := a.row(c, 0), a.inner
		if a.reverse {
			at, step = a.row(c, a.n-1), -a.inner
		}
		if c.width <= 2 {
			scanNarrow(a.dst, a.x, start, at, step, a.n, c.width)
		} else {
			scanColumn(a.dst, a.x, start, at, step, a.n, c.width)
		}
	}
}

// scanColumn scans a column of n rows from element at on.
func scanColumn[F float](dst, x, start []F, at, step, n, width int) {
	var sums [columnWidth]float64
	s := sums[:width]
	for j, v := range start {
		s[j] = float64(v)
	}
	for range n {
		x, dst := x[at:][:len(s)], dst[at:][:len(s)]
		for j := range s {
			v := s[j] + float64(x[j])
			s[j], dst[j] = v, F(v)
		}
		at += step
	}
}

// scanNarrow is scanColumn for one or two components, with the sums in registers.
func scanNarrow[F float](dst, x, start []F, at, step, n, width int) {
	var v, w float64
	if len(start) > 0 {
		v, w = float64(start[0]), float64(start[width-1])
	}
	if width == 1 {
		for range n {
			v += float64(x[at])
			dst[at] = F(v)
			at += step
		}
		return
	}
	for range n {
		v, w = v+float64(x[at]), w+float64(x[at+1])
		dst[at], dst[at+1] = F(v), F(w)
		at += step
	}
}

func (k *kernels[T, F]) NormAxis(dst []float64, x device.Mem[T], outer, n, inner int, p float64) error {
	if outer == 1 && inner == 1 {
		dst[0] = k.norm(k.flat(x), p, 1)
		return nil
	}
	k.ax.norms, k.ax.x, k.ax.kind, k.ax.p = dst, k.flat(x), device.NormOf(p), p
	k.eachColumn(outer, n, inner, k.loops.normAxis)
	return nil
}

func (k *kernels[T, F]) normAxisPart(lo, hi int) {
	a := &k.ax
	for i := lo; i < hi; i++ {
		c := a.column(i)
		at := a.row(c, 0)
		if a.inner == k.components {
			a.norms[c.o] = k.normOf(a.x[at:at+a.n*k.components], a.kind, a.p, 1)
			continue
		}
		s := a.norms[(c.o*a.inner+c.j)/k.components:][:c.width/k.components]
		fill(s, a.kind.Empty())
		for range a.n {
			x := a.x[at:][:c.width]
			if k.components == 1 {
				joinReal(s, x, a.kind, a.p)
			} else {
				joinPairs(s, pairs(x), a.kind, a.p)
			}
			at += a.inner
		}
	}
}

// joinReal joins each element of a row to the norm of its column.
func joinReal[F float](s []float64, x []F, kind device.NormKind, p float64) {
	x = x[:len(s)]
	switch kind {
	case device.NormSquares:
		for j := range s {
			v := float64(x[j])
			s[j] += v * v
		}
	case device.NormLargest, device.NormSmallest:
		for j := range s {
			r := float64(x[j])
			s[j] = joinNorms(kind, s[j], math.Abs(r))
		}
	default:
		for j := range s {
			r := float64(x[j])
			s[j] += normTerm(kind, math.Abs(r), p)
		}
	}
}

// joinPairs is joinReal for complex numbers.
func joinPairs[F float](s []float64, x []pair[F], kind device.NormKind, p float64) {
	x = x[:len(s)]
	switch kind {
	case device.NormSquares:
		for j := range s {
			re, im := float64(x[j].re), float64(x[j].im)
			s[j] += re*re + im*im
		}
	case device.NormLargest, device.NormSmallest:
		for j := range s {
			s[j] = joinNorms(kind, s[j], modulus(x[j]))
		}
	default:
		for j := range s {
			s[j] += normTerm(kind, modulus(x[j]), p)
		}
	}
}
