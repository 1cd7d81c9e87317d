package cpu

import (
	"math"
	"unsafe"

	"github.com/golops/golops/device"
)

// shrinkArgs are the parameters of Shrink and ShrinkSum.
type shrinkArgs[F float] struct {
	dst, x [device.MaxTuple][]F
	parts  int
	by     device.Shrinkage
	grain  int
}

// shrinkRun is how many vectors a loop takes at a time: their lengths fit the first
// level of the cache.
const shrinkRun = 256

// Shrink implements device.Kernels.
func (k *kernels[T, F]) Shrink(dst, x device.Tuple[T], by device.Shrinkage) {
	k.shrinkInto(&dst, &x, by)
	k.pool.run(x.Part[0].N, vectorGrain, k.loops.shrink)
	k.sh = shrinkArgs[F]{} // keep nobody's memory alive
}

func (k *kernels[T, F]) shrinkInto(dst, x *device.Tuple[T], by device.Shrinkage) {
	k.sh.parts, k.sh.by = x.Count, by
	for i := range x.Count {
		k.sh.x[i] = k.flat(x.Part[i])
		if dst != nil {
			k.sh.dst[i] = k.flat(dst.Part[i])
		}
	}
}

func (k *kernels[T, F]) shrinkPart(lo, hi int) {
	s := &k.sh
	if s.by.Kind == device.ShrinkBox {
		for i := range s.parts {
			toBox(k.componentsOf(s.dst[i], lo, hi), k.componentsOf(s.x[i], lo, hi), s.by)
		}
		return
	}
	var room [shrinkRun]float64
	for ; lo < hi; lo += shrinkRun {
		r := room[:min(shrinkRun, hi-lo)]
		k.lengths(r, lo)
		end := lo + len(r)
		switch s.by.Kind {
		case device.ShrinkAbove, device.ShrinkInverse, device.ShrinkPower, device.ShrinkLeast:
			for i, v := range r {
				r[i] = term(v, s.by)
			}
			for i := range s.parts {
				k.setReal(k.componentsOf(s.dst[i], lo, end), r)
			}
			continue
		}
		shrinkFactors(r, s.by)
		for i := range s.parts {
			k.timesFactors(k.componentsOf(s.dst[i], lo, end), r, k.componentsOf(s.x[i], lo, end))
		}
	}
}

// lengths sets r to the lengths of the vectors from lo on, or to their real parts for
// ShrinkAbove.
func (k *kernels[T, F]) lengths(r []float64, lo int) {
	s := &k.sh
	x := k.componentsOf(s.x[0], lo, lo+len(r))
	switch {
	case s.by.Kind == device.ShrinkAbove:
		for i := range r {
			r[i] = float64(x[i*k.components])
		}
	case s.parts == 1 && k.components == 1:
		for i := range r {
			r[i] = math.Abs(float64(x[i]))
		}
	default:
		clear(r)
		for i := range s.parts {
			addSquaresOf(r, k.componentsOf(s.x[i], lo, lo+len(r)), k.components)
		}
		for i := sqrtVector(r); i < len(r); i++ {
			r[i] = math.Sqrt(r[i])
		}
		for i, v := range r {
			if !(v > 0x1p-450 && v < 0x1p500) { // a square may have left the range of float64
				r[i] = k.length(lo + i)
			}
		}
	}
}

func addSquaresOf[F float](r []float64, x []F, components int) {
	if components == 1 {
		if x, ok := asFloat64(x); ok {
			var room [shrinkRun]float64
			squares := room[:len(r)]
			mul(squares, x, x)
			combine(r, 1, squares, 1, r)
			return
		}
		x = x[:len(r)]
		for i := range r {
			v := float64(x[i])
			r[i] += v * v
		}
		return
	}
	p := pairs(x)[:len(r)]
	for i := range r {
		u, v := float64(p[i].re), float64(p[i].im)
		r[i] += u*u + v*v
	}
}

// asFloat64 returns numbers as float64 if that is what they are, for loops that have
// vector units for one type.
func asFloat64[F float](x []F) ([]float64, bool) {
	if unsafe.Sizeof(F(0)) != 8 {
		return nil, false
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(x))), len(x)), true
}

// length is the length of one vector, whatever the size of its elements.
func (k *kernels[T, F]) length(at int) (r float64) {
	for i := range k.sh.parts {
		for _, v := range k.componentsOf(k.sh.x[i], at, at+1) {
			r = math.Hypot(r, float64(v))
		}
	}
	return r
}

// shrinkFactors turns lengths into the factors of their vectors.
func shrinkFactors(r []float64, by device.Shrinkage) {
	t := by.T
	switch by.Kind {
	case device.ShrinkSoft:
		for i, v := range r {
			if v <= t {
				r[i] = 0
			} else {
				r[i] = 1 - t/v
			}
		}
	case device.ShrinkKeep:
		for i, v := range r {
			switch {
			case v <= t:
				r[i] = 0
			case v > t:
				r[i] = 1
			}
		}
	case device.ShrinkClip:
		for i, v := range r {
			if v <= t {
				r[i] = 1
			} else {
				r[i] = t / v
			}
		}
	case device.ShrinkHuber:
		for i, v := range r {
			r[i] = 1 - t/max(v, by.U)
		}
	case device.ShrinkLog:
		for i, v := range r {
			r[i] = logFactor(v, t, by.U)
		}
	}
}

// logFactor is z/r for the z ≥ 0 that makes t·log(u·z+1) + (z-r)²/2 smallest. A
// stationary point solves u·z² + (1-u·r)·z + t·u - r = 0.
func logFactor(r, t, u float64) float64 {
	if r != r {
		return r
	}
	b := u*r - 1
	d := b*b - 4*u*(t*u-r)
	if r == 0 || !(d >= 0) {
		return 0
	}
	z := (b + math.Sqrt(d)) / (2 * u)
	if !(z > 0) || t*math.Log1p(u*z)+(z-r)*(z-r)/2 >= r*r/2 {
		return 0
	}
	return z / r
}

// timesFactors sets dst = f·x, with one factor for each element.
func (k *kernels[T, F]) timesFactors(dst []F, f []float64, x []F) {
	if k.components == 1 {
		if d, ok := asFloat64(dst); ok {
			x, _ := asFloat64(x)
			mul(d, f, x)
			return
		}
		dst, x = dst[:len(f)], x[:len(f)]
		for i, c := range f {
			dst[i] = F(c * float64(x[i]))
		}
		return
	}
	d, p := pairs(dst)[:len(f)], pairs(x)[:len(f)]
	for i, c := range f {
		d[i] = pair[F]{F(c * float64(p[i].re)), F(c * float64(p[i].im))}
	}
}

// setReal sets dst to real numbers.
func (k *kernels[T, F]) setReal(dst []F, r []float64) {
	for i, v := range r {
		dst[i*k.components] = F(v)
		if k.components == 2 {
			dst[2*i+1] = 0
		}
	}
}

func toBox[F float](dst, x []F, by device.Shrinkage) {
	lo, hi := F(by.T), F(by.U)
	dst = dst[:len(x)]
	for i, v := range x {
		switch {
		case v < lo:
			v = lo
		case v > hi:
			v = hi
		}
		dst[i] = v
	}
}

// ShrinkSum implements device.Kernels.
func (k *kernels[T, F]) ShrinkSum(x device.Tuple[T], by device.Shrinkage) (sum, count float64, err error) {
	k.shrinkInto(nil, &x, by)
	n := x.Part[0].N
	k.sh.grain = max(sumGrain, (n+maxChunks-1)/maxChunks)
	k.pool.run(n, k.sh.grain, k.loops.shrinkSum)
	for _, c := range k.partial[:(n+k.sh.grain-1)/k.sh.grain] {
		sum, count = sum+real(c), count+imag(c)
	}
	k.sh = shrinkArgs[F]{}
	return sum, count, nil
}

func (k *kernels[T, F]) shrinkSumPart(lo, hi int) {
	s := &k.sh
	chunk, sum, count := lo/s.grain, 0.0, 0
	if s.by.Kind == device.ShrinkBox {
		for i := range s.parts {
			for _, v := range k.componentsOf(s.x[i], lo, hi) {
				d := max(s.by.T-float64(v), float64(v)-s.by.U, 0)
				if sum += d; d > 0 {
					count++
				}
			}
		}
		k.partial[chunk] = complex(sum, float64(count))
		return
	}
	var room [shrinkRun]float64
	for ; lo < hi; lo += shrinkRun {
		r := room[:min(shrinkRun, hi-lo)]
		k.lengths(r, lo)
		if s.by.Kind == device.ShrinkSoft { // the sum of a norm
			for _, v := range r {
				if v > s.by.T {
					count++
					sum += v - s.by.T
				} else if v != v {
					sum = v
				}
			}
			continue
		}
		for _, v := range r {
			if v > s.by.T {
				count++
			}
			sum += term(v, s.by)
		}
	}
	k.partial[chunk] = complex(sum, float64(count))
}

// term is what a vector of length r adds to a sum.
func term(r float64, by device.Shrinkage) float64 {
	t := by.T
	switch by.Kind {
	case device.ShrinkSoft, device.ShrinkAbove:
		return max(r-t, 0)
	case device.ShrinkKeep:
		if r <= t {
			return 0
		}
	case device.ShrinkClip:
		return min(r, t)
	case device.ShrinkHuber:
		if r <= t {
			return r * r / (2 * t)
		}
		return r - t/2
	case device.ShrinkLog:
		return math.Log1p(by.U * r)
	case device.ShrinkInverse:
		return 1 / (1 + t*r*r)
	case device.ShrinkPower:
		return math.Pow(r+t, by.U)
	case device.ShrinkLeast:
		return math.Pow(max(r, t), by.U)
	}
	return r
}
