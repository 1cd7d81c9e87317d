package devicetest

import (
	"math"
	"math/cmplx"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// The oracle: what each kernel means, in complex128 and in the most obvious way.

func conjIf(conj bool, c complex128) complex128 {
	if conj {
		return cmplx.Conj(c)
	}
	return c
}

func combine(a complex128, x []complex128, b complex128, y []complex128) []complex128 {
	z := make([]complex128, len(x))
	for i := range z {
		z[i] = a * x[i]
		if b != 0 {
			z[i] += b * y[i]
		}
	}
	return z
}

func mulAxis(d, x []complex128, outer, inner int, conj bool) []complex128 {
	z := make([]complex128, len(x))
	for o := range outer {
		for i := range d {
			for j := range inner {
				at := (o*len(d)+i)*inner + j
				z[at] = conjIf(conj, d[i]) * x[at]
			}
		}
	}
	return z
}

func threshold(x []complex128, kind device.ThresholdKind, t float64) []complex128 {
	z := make([]complex128, len(x))
	for i, v := range x {
		r := cmplx.Abs(v)
		switch kind {
		case device.SoftThreshold:
			if r > t {
				z[i] = v * complex((r-t)/r, 0)
			}
		case device.HardThreshold:
			if r > math.Sqrt(2*t) {
				z[i] = v
			}
		case device.HalfThreshold:
			if r > math.Cbrt(54)/4*math.Pow(t, 2./3) {
				phi := math.Acos(t / 8 * math.Pow(r/3, -1.5))
				z[i] = v * complex(2./3*(1+math.Cos(2./3*(math.Pi-phi))), 0)
			}
		}
	}
	return z
}

func dot(x, y []complex128, conj bool) (s complex128) {
	for i := range x {
		s += conjIf(conj, x[i]) * y[i]
	}
	return s
}

func norm(x []complex128, p, scale float64) float64 {
	s := 0.0
	if math.IsInf(p, -1) {
		s = math.Inf(1)
	}
	for _, v := range x {
		r := cmplx.Abs(v)
		switch {
		case math.IsInf(p, 1):
			s = max(s, r)
		case math.IsInf(p, -1):
			s = min(s, r)
		case p == 0 && r != 0:
			s++
		case p != 0:
			s += math.Pow(scale*r, p)
		}
	}
	return s
}

// column returns x[o,:,j] of a block of outer × n × inner.
func column(x []complex128, o, n, j, inner int) []complex128 {
	c := make([]complex128, n)
	for i := range c {
		c[i] = x[(o*n+i)*inner+j]
	}
	return c
}

func scanAxis(x, start []complex128, outer, n, inner int, reverse bool) []complex128 {
	z := make([]complex128, len(x))
	for o := range outer {
		for j := range inner {
			var sum complex128
			if len(start) > 0 {
				sum = start[o*inner+j]
			}
			for i := range n {
				if reverse {
					i = n - 1 - i
				}
				sum += x[(o*n+i)*inner+j]
				z[(o*n+i)*inner+j] = sum
			}
		}
	}
	return z
}

// copyND copies or adds the box to dst, in place.
func copyND(dst, src []complex128, c *device.Strided, add bool) {
	for n := range c.Shape.Size() {
		d, s := c.DstAt, c.SrcAt
		for axis := c.Shape.NDim() - 1; axis >= 0; axis-- {
			i := n % c.Shape.Dim(axis)
			n /= c.Shape.Dim(axis)
			d, s = d+i*c.Dst[axis], s+i*c.Src[axis]
		}
		if add {
			dst[d] += src[s]
		} else {
			dst[d] = src[s]
		}
	}
}

// bands applies one group to dst, in place.
func bands[T scalar.Scalar](dst, src, ghost []complex128, b *device.Banded[T], group int, add bool) {
	for o := range b.Outer {
		for _, band := range b.Groups[group] {
			for i := band.Lo; i < band.Hi; i++ {
				row := dst[(o*b.DstRows+i)*b.Inner:][:b.Inner]
				if !add {
					clear(row)
				}
				for _, t := range b.Taps[band.First:band.Last] {
					at := t.At + t.Step*(i-band.Lo)
					from := src[min((o*b.SrcRows+at)*b.Inner, len(src)):]
					if t.Ghost > 0 {
						g := b.Ghosts[t.Ghost-1]
						from = ghost[g.At+(o*g.Rows+at)*b.Inner:]
					}
					c := widen(t.Coef)
					for j := range row {
						row[j] += c * from[j]
					}
				}
			}
		}
	}
}

func gather[T scalar.Scalar](src []complex128, s *device.Sparse[T]) []complex128 {
	z := make([]complex128, len(s.First)-1)
	for i := range z {
		for k := s.First[i]; k < s.First[i+1]; k++ {
			w := complex128(1)
			if s.W != nil {
				w = widen(s.W[k])
			}
			z[i] += w * src[s.At[k]]
		}
	}
	return z
}

// element returns op(A)[i,j], where op(A) has rows × cols elements.
func element(op device.Trans, a []complex128, rows, cols, i, j int) complex128 {
	conj := op == device.ConjTrans || op == device.ConjNoTrans
	if op == device.Transpose || op == device.ConjTrans {
		return conjIf(conj, a[j*rows+i])
	}
	return conjIf(conj, a[i*cols+j])
}

// gemm returns alpha·op(A)·op(B) + beta·C; without reading C if beta is 0.
func gemm(opA, opB device.Trans, m, n, k int, alpha complex128, a, b []complex128, beta complex128, c []complex128) []complex128 {
	z := make([]complex128, m*n)
	for i := range m {
		for j := range n {
			var s complex128
			for l := range k {
				s += element(opA, a, m, k, i, l) * element(opB, b, k, n, l, j)
			}
			z[i*n+j] = alpha * s
			if beta != 0 {
				z[i*n+j] += beta * c[i*n+j]
			}
		}
	}
	return z
}
