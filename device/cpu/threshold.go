package cpu

import (
	"math"

	"github.com/golops/golops/device"
)

// Threshold follows PyLops 2.8: an element on the border goes, NaN stays NaN. t is
// not negative.
func (k *kernels[T, F]) Threshold(dst, x device.Mem[T], kind device.ThresholdKind, t float64) {
	k.v.dst, k.v.x, k.v.kind, k.v.t = k.flat(dst), k.flat(x), kind, t
	k.each(len(k.v.dst), k.loops.threshold)
}

func (k *kernels[T, F]) thresholdPart(lo, hi int) {
	dst, x, t := k.v.dst[lo:hi], k.v.x[lo:hi], k.v.t
	switch k.v.kind {
	case device.SoftThreshold:
		if k.components == 1 {
			soft(dst, x, t)
		} else {
			softPairs(pairs(dst), pairs(x), t)
		}
	case device.HardThreshold:
		if k.components == 1 {
			hard(dst, x, t)
		} else {
			hardPairs(pairs(dst), pairs(x), t)
		}
	case device.HalfThreshold:
		if k.components == 1 {
			half(dst, x, t)
		} else {
			halfPairs(pairs(dst), pairs(x), t)
		}
	}
}

func soft[F float](dst, x []F, threshold float64) {
	x = x[:len(dst)]
	t := F(threshold)
	for i := range dst {
		v := x[i]
		switch {
		case v > t:
			v -= t
		case v < -t:
			v += t
		case v == v:
			v = 0
		}
		dst[i] = v
	}
}

func softPairs[F float](dst, x []pair[F], t float64) {
	x = x[:len(dst)]
	low := lowOf(t)
	for i := range dst {
		v := x[i]
		r, out := beyond(v, t, low)
		if !out {
			dst[i] = pair[F]{}
			continue
		}
		f := (r - t) / r
		if r > math.MaxFloat64 {
			f = 1
		}
		dst[i] = pair[F]{F(f * float64(v.re)), F(f * float64(v.im))}
	}
}

func hard[F float](dst, x []F, t float64) {
	x = x[:len(dst)]
	border := F(math.Sqrt(2 * t))
	for i := range dst {
		v := x[i]
		if v >= -border && v <= border {
			v = 0
		}
		dst[i] = v
	}
}

func hardPairs[F float](dst, x []pair[F], t float64) {
	x = x[:len(dst)]
	border := math.Sqrt(2 * t)
	low := lowOf(border)
	for i := range dst {
		v := x[i]
		if _, out := beyond(v, border, low); !out {
			v = pair[F]{}
		}
		dst[i] = v
	}
}

func half[F float](dst, x []F, t float64) {
	x = x[:len(dst)]
	border := halfBorder(t)
	for i := range dst {
		v := float64(x[i])
		if r := math.Abs(v); r <= border {
			v = 0
		} else {
			v *= halfFactor(r, t)
		}
		dst[i] = F(v)
	}
}

func halfPairs[F float](dst, x []pair[F], t float64) {
	x = x[:len(dst)]
	border := halfBorder(t)
	low := lowOf(border)
	for i := range dst {
		v := x[i]
		r, out := beyond(v, border, low)
		if !out {
			dst[i] = pair[F]{}
			continue
		}
		f := halfFactor(r, t)
		dst[i] = pair[F]{F(f * float64(v.re)), F(f * float64(v.im))}
	}
}

// halfBorder is the size up to which half thresholding removes an element.
func halfBorder(t float64) float64 { return math.Cbrt(54) / 4 * math.Pow(t, 2./3) }

// halfFactor is what half thresholding leaves of an element of size r.
func halfFactor(r, t float64) float64 {
	q := r / 3
	phi := math.Acos(t / 8 / (q * math.Sqrt(q)))
	return 2. / 3 * (1 + math.Cos(2./3*(math.Pi-phi)))
}

// beyond reports whether |v| > border, or is NaN, and |v| if so. It takes no root
// if |v|² is below low, which is a little less than border².
func beyond[F float](v pair[F], border, low float64) (r float64, out bool) {
	re, im := float64(v.re), float64(v.im)
	s := re*re + im*im
	switch {
	case s < low && s > 0x1p-900:
		return 0, false
	case s > 0x1p-900 && s < 0x1p1000:
		r = math.Sqrt(s)
	default: // a square may have left the range of float64
		r = math.Hypot(re, im)
	}
	return r, !(r <= border)
}

// lowOf returns the low of a border.
func lowOf(border float64) float64 { return border * border * (1 - 0x1p-50) }

// modulus is |v|. The quick way fails only where a square leaves the range of
// float64.
func modulus[F float](v pair[F]) float64 {
	re, im := float64(v.re), float64(v.im)
	if s := re*re + im*im; s > 0x1p-900 && s < 0x1p1000 {
		return math.Sqrt(s)
	}
	return math.Hypot(re, im)
}
