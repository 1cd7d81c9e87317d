package cpu

import "github.com/golops/golops/device"

// Bands whose rows are single elements.

// bandElements is band for rows of one element, if some taps have Step -1 or 0. It
// goes tap by tap over pieces of dst.
func (k *kernels[T, F]) bandElements(band *device.Band, taps []device.Tap[T], o, from, to int) {
	a := &k.bd
	for ; from < to; from += bandPiece {
		n := min(bandPiece, to-from)
		dst := a.dst[o*a.rows+from:][:n]
		if t := &taps[0]; len(taps) == 1 && t.Step == -1 && !a.add && k.components == 1 {
			last := t.At - (from - band.Lo)
			reversed(dst, re[F](&t.Coef), k.source(t, o, last-n+1)[:n])
			continue
		}
		if !a.add {
			clear(dst)
		}
		for i := range taps {
			t := &taps[i]
			first := from/k.components - band.Lo // row of the band
			rows, c := n/k.components, k.split(t.Coef)
			switch {
			case t.Step == 1 && a.realTaps:
				taps1(dst, c.re, k.source(t, o, t.At+first), true)
			case t.Step == 1:
				tapPairs1(dst, c, k.source(t, o, t.At+first), true)
			case t.Step == 0 && k.components == 1:
				shift(dst, c.re*k.source(t, o, t.At)[0])
			case t.Step == 0:
				s := k.source(t, o, t.At)
				shiftPairs(pairs(dst), c, pair[F]{s[0], s[1]})
			case k.components == 1:
				backwards(dst, c.re, k.source(t, o, t.At-first-rows+1)[:n])
			default:
				backwardPairs(pairs(dst), c, pairs(k.source(t, o, t.At-first-rows+1)[:n]))
			}
		}
	}
}

// shift sets dst += v.
func shift[F float](dst []F, v F) {
	for i := range dst {
		dst[i] += v
	}
}

// shiftPairs sets dst += c·v.
func shiftPairs[F float](dst []pair[F], c, v pair[F]) {
	re, im := c.re*v.re-c.im*v.im, c.re*v.im+c.im*v.re
	for i := range dst {
		dst[i].re += re
		dst[i].im += im
	}
}

// reversed sets dst to c·s, from the last element of s to the first.
func reversed[F float](dst []F, c F, s []F) {
	s = s[:len(dst)]
	if c == 1 {
		for i := range dst {
			dst[i] = s[len(s)-1-i]
		}
		return
	}
	for i := range dst {
		dst[i] = c * s[len(s)-1-i]
	}
}

// backwards adds c·s to dst, from the last element of s to the first.
func backwards[F float](dst []F, c F, s []F) {
	s = s[:len(dst)]
	for i := range dst {
		dst[i] += c * s[len(s)-1-i]
	}
}

// backwardPairs is backwards for complex numbers.
func backwardPairs[F float](dst []pair[F], c pair[F], s []pair[F]) {
	s = s[:len(dst)]
	for i := range dst {
		u := s[len(s)-1-i]
		dst[i].re += c.re*u.re - c.im*u.im
		dst[i].im += c.re*u.im + c.im*u.re
	}
}

// element computes one element of dst, for rows of many taps, as dense or non-stationary
// matrices have.
func (k *kernels[T, F]) element(dst []F, taps []device.Tap[T], o int) {
	a := &k.bd
	var re, im float64
	if k.components == 1 {
		re = k.elementReal(taps, o)
	} else {
		re, im = k.elementPair(taps, o)
	}
	if a.add {
		re += float64(dst[0])
		im += float64(dst[k.components-1])
	}
	dst[0] = F(re)
	if k.components == 2 {
		dst[1] = F(im)
	}
}

// elementReal sums four taps at a time where none of them reads a ghost.
func (k *kernels[T, F]) elementReal(taps []device.Tap[T], o int) float64 {
	a := &k.bd
	src := a.src[o*a.b.SrcRows:]
	var s0, s1, s2, s3 float64
	for len(taps) >= 4 {
		t0, t1, t2, t3 := &taps[0], &taps[1], &taps[2], &taps[3]
		if t0.Ghost|t1.Ghost|t2.Ghost|t3.Ghost != 0 {
			break
		}
		s0 += float64(re[F](&t0.Coef) * src[t0.At])
		s1 += float64(re[F](&t1.Coef) * src[t1.At])
		s2 += float64(re[F](&t2.Coef) * src[t2.At])
		s3 += float64(re[F](&t3.Coef) * src[t3.At])
		taps = taps[4:]
	}
	for i := range taps {
		t := &taps[i]
		if t.Ghost == 0 {
			s0 += float64(re[F](&t.Coef) * src[t.At])
		} else {
			s1 += float64(re[F](&t.Coef) * k.source(t, o, t.At)[0])
		}
	}
	return (s0 + s1) + (s2 + s3)
}

func (k *kernels[T, F]) elementPair(taps []device.Tap[T], o int) (re, im float64) {
	a := &k.bd
	src := pairs(a.src)[o*a.b.SrcRows:]
	for i := range taps {
		t := &taps[i]
		c := k.split(t.Coef)
		var v pair[F]
		if t.Ghost == 0 {
			v = src[t.At]
		} else {
			v = pairs(k.source(t, o, t.At)[:2])[0]
		}
		re += float64(c.re*v.re - c.im*v.im)
		im += float64(c.re*v.im + c.im*v.re)
	}
	return re, im
}
