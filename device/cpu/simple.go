package cpu

import (
	"fmt"
	"math"
	"math/cmplx"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

func wide[T scalar.Scalar](x T) complex128 {
	switch x := any(x).(type) {
	case float32:
		return complex(float64(x), 0)
	case float64:
		return complex(x, 0)
	case complex64:
		return complex128(x)
	}
	return any(x).(complex128)
}

func narrow[T scalar.Scalar](c complex128) T {
	var z T
	switch p := any(&z).(type) {
	case *float32:
		*p = float32(real(c))
	case *float64:
		*p = real(c)
	case *complex64:
		*p = complex64(c)
	case *complex128:
		*p = c
	}
	return z
}

func conjOf[T scalar.Scalar](x T) T { return narrow[T](cmplx.Conj(wide(x))) }

func (k *kernels[T]) Copy(dst, src device.Mem[T]) { copy(dst.Host, src.Host) }

func (k *kernels[T]) Fill(dst device.Mem[T], v T) {
	for i := range dst.Host {
		dst.Host[i] = v
	}
}

func (k *kernels[T]) Axpby(a T, x device.Mem[T], b T, y device.Mem[T]) {
	k.Combine(y, a, x, b, y)
}

func (k *kernels[T]) Combine(dst device.Mem[T], a T, x device.Mem[T], b T, y device.Mem[T]) {
	for i := range dst.Host {
		if b == 0 {
			dst.Host[i] = a * x.Host[i]
		} else {
			dst.Host[i] = a*x.Host[i] + b*y.Host[i]
		}
	}
}

func (k *kernels[T]) Mul(dst, x, y device.Mem[T], conj bool) {
	for i := range dst.Host {
		v := x.Host[i]
		if conj {
			v = conjOf(v)
		}
		dst.Host[i] = v * y.Host[i]
	}
}

func (k *kernels[T]) MulAxis(dst, d, x device.Mem[T], outer, inner int, conj bool) {
	for i := range dst.Host {
		v := d.Host[i/inner%d.N]
		if conj {
			v = conjOf(v)
		}
		dst.Host[i] = v * x.Host[i]
	}
}

func (k *kernels[T]) Conj(dst, x device.Mem[T]) {
	for i, v := range x.Host {
		dst.Host[i] = conjOf(v)
	}
}

func (k *kernels[T]) Threshold(dst, x device.Mem[T], kind device.ThresholdKind, t float64) {
	for i, v := range x.Host {
		r, f := cmplx.Abs(wide(v)), 1.0
		switch {
		case r == 0:
			f = 0
		case kind == device.Soft:
			f = max(r-t, 0) / r
		case kind == device.Hard:
			if r <= math.Sqrt(2*t) {
				f = 0
			}
		case r <= math.Cbrt(54)/4*math.Pow(t, 2./3):
			f = 0
		default:
			f = 2. / 3 * (1 + math.Cos(2./3*(math.Pi-math.Acos(t/8*math.Pow(r/3, -1.5)))))
		}
		dst.Host[i] = narrow[T](complex(f, 0) * wide(v))
	}
}

func (k *kernels[T]) Dot(x, y device.Mem[T], conj bool) (s complex128, err error) {
	for i, v := range x.Host {
		if conj {
			s += cmplx.Conj(wide(v)) * wide(y.Host[i])
		} else {
			s += wide(v) * wide(y.Host[i])
		}
	}
	return s, nil
}

func (k *kernels[T]) Sum(x device.Mem[T]) (s complex128, err error) {
	for _, v := range x.Host {
		s += wide(v)
	}
	return s, nil
}

func (k *kernels[T]) Norm(x device.Mem[T], p, scale float64) (float64, error) {
	s := 0.0
	if math.IsInf(p, -1) {
		s = math.Inf(1)
	}
	for _, v := range x.Host {
		r := cmplx.Abs(wide(v))
		switch {
		case math.IsInf(p, 1):
			s = max(s, r)
		case math.IsInf(p, -1):
			s = min(s, r)
		case p == 0:
			if r != 0 {
				s++
			}
			s += 0 * (r - r)
		default:
			s += math.Pow(math.Abs(scale)*r, p)
		}
	}
	return s, nil
}

func (k *kernels[T]) MinMax(x device.Mem[T]) (lo, hi float64, err error) {
	if scalar.Of[T]().IsComplex() {
		return 0, 0, fmt.Errorf("cpu: smallest and largest of %v: %w", scalar.Of[T](), device.ErrUnsupported)
	}
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range x.Host {
		lo, hi = min(lo, real(wide(v))), max(hi, real(wide(v)))
	}
	return lo, hi, nil
}

func (k *kernels[T]) SumAxis(dst, x device.Mem[T], outer, n, inner int) {
	for o := range outer {
		for j := range inner {
			var s complex128
			for i := range n {
				s += wide(x.Host[(o*n+i)*inner+j])
			}
			dst.Host[o*inner+j] = narrow[T](s)
		}
	}
}

func (k *kernels[T]) NormAxis(dst []float64, x device.Mem[T], outer, n, inner int, p float64) error {
	row := memOf(make([]T, n))
	for o := range outer {
		for j := range inner {
			for i := range n {
				row.Host[i] = x.Host[(o*n+i)*inner+j]
			}
			dst[o*inner+j], _ = k.Norm(row, p, 1)
		}
	}
	return nil
}

func (k *kernels[T]) ScanAxis(dst, x, start device.Mem[T], outer, n, inner int, reverse bool) {
	for o := range outer {
		for j := range inner {
			var s complex128
			if start.N > 0 {
				s = wide(start.Host[o*inner+j])
			}
			for i := range n {
				if reverse {
					i = n - 1 - i
				}
				s += wide(x.Host[(o*n+i)*inner+j])
				dst.Host[(o*n+i)*inner+j] = narrow[T](s)
			}
		}
	}
}

func (k *kernels[T]) CopyND(dst, src device.Mem[T], c *device.Strided, add bool) {
	copyAxis(dst.Host, src.Host, c, add, 0, c.DstAt, c.SrcAt)
}

func copyAxis[T scalar.Scalar](dst, src []T, c *device.Strided, add bool, axis, d, s int) {
	if axis == c.Shape.Rank() {
		if add {
			dst[d] += src[s]
		} else {
			dst[d] = src[s]
		}
		return
	}
	for i := range c.Shape.Dim(axis) {
		copyAxis(dst, src, c, add, axis+1, d+i*c.Dst[axis], s+i*c.Src[axis])
	}
}

func (k *kernels[T]) Bands(dst, src, ghost device.Mem[T], b *device.Banded[T], group int, add bool) {
	for o := range b.Outer {
		for _, band := range b.Groups[group] {
			for i := band.Lo; i < band.Hi; i++ {
				for j := range b.Inner {
					var s T
					for _, t := range b.Taps[band.First:band.Last] {
						row := t.At + t.Step*(i-band.Lo)
						if t.Ghost == 0 {
							s += t.Coef * src.Host[(o*b.SrcRows+row)*b.Inner+j]
						} else {
							g := b.Ghosts[t.Ghost-1]
							s += t.Coef * ghost.Host[g.At+(o*g.Rows+row)*b.Inner+j]
						}
					}
					if add {
						s += dst.Host[(o*b.DstRows+i)*b.Inner+j]
					}
					dst.Host[(o*b.DstRows+i)*b.Inner+j] = s
				}
			}
		}
	}
}

func (k *kernels[T]) Gather(dst, src device.Mem[T], s *device.Sparse[T]) {
	for i := range dst.Host {
		var sum T
		for k := s.First[i]; k < s.First[i+1]; k++ {
			if s.W == nil {
				sum += src.Host[s.At[k]]
			} else {
				sum += s.W[k] * src.Host[s.At[k]]
			}
		}
		dst.Host[i] = sum
	}
}

func at[T scalar.Scalar](op device.Trans, a []T, rows, cols, i, j int) T {
	switch op {
	case device.Transpose:
		return a[j*rows+i]
	case device.ConjTrans:
		return conjOf(a[j*rows+i])
	case device.ConjNoTrans:
		return conjOf(a[i*cols+j])
	}
	return a[i*cols+j]
}

func (k *kernels[T]) Gemv(op device.Trans, m, n int, alpha T, a, x device.Mem[T], beta T, y device.Mem[T]) error {
	rows, cols := m, n
	if op == device.Transpose || op == device.ConjTrans {
		rows, cols = n, m
	}
	return k.Gemm(op, device.NoTrans, rows, 1, cols, alpha, a, x, beta, y)
}

func (k *kernels[T]) Gemm(opA, opB device.Trans, m, n, l int, alpha T, a, b device.Mem[T], beta T, c device.Mem[T]) error {
	for i := range m {
		for j := range n {
			var s T
			for p := range l {
				s += at(opA, a.Host, m, l, i, p) * at(opB, b.Host, l, n, p, j)
			}
			s *= alpha
			if beta != 0 {
				s += beta * c.Host[i*n+j]
			}
			c.Host[i*n+j] = s
		}
	}
	return nil
}
