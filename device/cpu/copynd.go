package cpu

import (
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// copyArgs are the parameters of CopyND after the plan: a box of patches. A
// patch is two-dimensional, rows × cols, and lies in the last two axes of the
// plan; columns are neighbours in dst, as far as that is possible.
type copyArgs[T scalar.Scalar] struct {
	dst, src []T
	add      bool

	plan
	tall, wide         int // elements of a patch
	patchRows, patches int // patches across the rows, and across the columns
}

// plan is a box whose axes have been put in order.
type plan struct {
	rank         int
	n, d, s      [shape.MaxNDim]int // extents and strides
	dstAt, srcAt int
	across       bool // rows are neighbours in src: a transpose
}

// CopyND copies patches: rows that lie together in both blocks as one run, and
// transposes in tiles. Threads share out the patches.
func (k *kernels[T, F]) CopyND(dst, src device.Mem[T], c *device.Strided, add bool) {
	if c.Shape.Size() == 0 {
		return
	}
	a := &k.cp
	*a = copyArgs[T]{dst: elements(dst), src: elements(src), add: add}
	a.plan.order(c)
	rows, cols := a.n[a.rank-2], a.n[a.rank-1]
	a.wide = min(cols, vectorGrain)
	a.tall = max(1, vectorGrain/a.wide)
	if a.across {
		a.wide, a.tall = min(cols, vectorGrain/tall), tall
	}
	a.tall = min(rows, a.tall)
	a.patchRows, a.patches = (rows+a.tall-1)/a.tall, (cols+a.wide-1)/a.wide
	count := a.patchRows * a.patches
	for i := range a.rank - 2 {
		count *= a.n[i]
	}
	k.pool.run(count, max(1, vectorGrain/(a.tall*a.wide)), k.loops.copyND)
	*a = copyArgs[T]{}
}

// order sorts the axes of a box by their strides in dst, largest first. It joins axes
// that one stride can walk and moves the axis with the smallest stride in src next to the
// last. The result has at least two axes.
func (p *plan) order(c *device.Strided) {
	p.dstAt, p.srcAt = c.DstAt, c.SrcAt
	for i := range c.Shape.NDim() {
		n, d, s := c.Shape.Dim(i), c.Dst[i], c.Src[i]
		if n == 1 {
			continue
		}
		if d < 0 { // walk dst upwards
			p.dstAt, p.srcAt = p.dstAt+(n-1)*d, p.srcAt+(n-1)*s
			d, s = -d, -s
		}
		at := p.rank
		for ; at > 0 && p.d[at-1] < d; at-- {
			p.n[at], p.d[at], p.s[at] = p.n[at-1], p.d[at-1], p.s[at-1]
		}
		p.n[at], p.d[at], p.s[at] = n, d, s
		p.rank++
	}
	p.join()
	for p.rank < 2 {
		copy(p.n[1:], p.n[:p.rank])
		copy(p.d[1:], p.d[:p.rank])
		copy(p.s[1:], p.s[:p.rank])
		p.n[0], p.d[0], p.s[0] = 1, 0, 0
		p.rank++
	}
	last, best := p.rank-1, p.rank-1
	for i := range last {
		if s := abs(p.s[i]); s != 0 && s < abs(p.s[best]) && p.n[i] > 1 {
			best = i
		}
	}
	if best < last {
		p.across = true
		for i := best; i < last-1; i++ {
			p.n[i], p.n[i+1] = p.n[i+1], p.n[i]
			p.d[i], p.d[i+1] = p.d[i+1], p.d[i]
			p.s[i], p.s[i+1] = p.s[i+1], p.s[i]
		}
	}
}

// join merges neighbouring axes that are contiguous in both blocks.
func (p *plan) join() {
	to := 0
	for i := 1; i < p.rank; i++ {
		if p.d[to] == p.d[i]*p.n[i] && p.s[to] == p.s[i]*p.n[i] {
			p.n[to] *= p.n[i]
		} else {
			to++
			p.n[to] = p.n[i]
		}
		p.d[to], p.s[to] = p.d[i], p.s[i]
	}
	p.rank = min(p.rank, to+1)
}

func abs(n int) int { return max(n, -n) }

// copyNDPart copies some of the patches.
func (k *kernels[T, F]) copyNDPart(lo, hi int) {
	a := &k.cp
	r := a.rank - 2
	for i := lo; i < hi; i++ {
		col, rest := i%a.patches*a.wide, i/a.patches
		row, rest := rest%a.patchRows*a.tall, rest/a.patchRows
		d := a.dstAt + row*a.d[r] + col*a.d[r+1]
		s := a.srcAt + row*a.s[r] + col*a.s[r+1]
		for j := r - 1; j >= 0; j-- {
			at := rest % a.n[j]
			rest /= a.n[j]
			d, s = d+at*a.d[j], s+at*a.s[j]
		}
		rows, cols := min(a.tall, a.n[r]-row), min(a.wide, a.n[r+1]-col)
		if a.across && a.d[r+1] == 1 && a.s[r] == 1 {
			a.transpose(d, s, rows, cols)
			continue
		}
		for ; rows > 0; rows, d, s = rows-1, d+a.d[r], s+a.s[r] {
			a.line(d, s, cols)
		}
	}
}

// line copies or adds n elements from s to d.
func (a *copyArgs[T]) line(d, s, n int) {
	dst, src, by, sy := a.dst, a.src, a.d[a.rank-1], a.s[a.rank-1]
	switch {
	case by == 1 && sy == 1 && a.add:
		x, y := dst[d:d+n], src[s:s+n]
		for i := range x {
			x[i] += y[i]
		}
	case by == 1 && sy == 1 && n >= 8: // shorter runs are not worth the call
		copy(dst[d:d+n], src[s:s+n])
	case a.add:
		for ; n > 0; n, d, s = n-1, d+by, s+sy {
			dst[d] += src[s]
		}
	case by == 1 && sy == 0:
		fill(dst[d:d+n], src[s])
	default:
		for ; n > 0; n, d, s = n-1, d+by, s+sy {
			dst[d] = src[s]
		}
	}
}

// tall is the number of rows of a patch of a transpose: runs of src long enough to hide
// the latency of their first element. Rows of dst are written eight columns at a time,
// and stay in the cache until a whole cache line is written.
const tall = 256

// transpose copies or adds a patch whose rows are runs in src and whose columns
// are runs in dst.
func (a *copyArgs[T]) transpose(d, s, rows, cols int) {
	dd, ss := a.d[a.rank-2], a.s[a.rank-1]
	for ; cols >= 8 && !a.add; cols, d, s = cols-8, d+8, s+8*ss {
		s0, s1, s2, s3 := a.src[s:][:rows], a.src[s+ss:][:rows], a.src[s+2*ss:][:rows], a.src[s+3*ss:][:rows]
		s4, s5, s6, s7 := a.src[s+4*ss:][:rows], a.src[s+5*ss:][:rows], a.src[s+6*ss:][:rows], a.src[s+7*ss:][:rows]
		at := d
		for r := range s0 {
			line := (*[8]T)(a.dst[at:])
			line[0], line[1], line[2], line[3] = s0[r], s1[r], s2[r], s3[r]
			line[4], line[5], line[6], line[7] = s4[r], s5[r], s6[r], s7[r]
			at += dd
		}
	}
	for ; cols > 0; cols, d, s = cols-1, d+1, s+ss {
		at := d
		for _, v := range a.src[s:][:rows] {
			if a.add {
				v += a.dst[at]
			}
			a.dst[at] = v
			at += dd
		}
	}
}
