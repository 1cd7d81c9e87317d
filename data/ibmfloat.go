package data

import (
	"math"
	"math/bits"
)

// An IBM float of 32 bits is ±f·16^(e-64): a sign, seven bits of e and 24 bits
// of a fraction f below 1. It has no infinity and no NaN.

// power[e] is 16^(e-64)·2⁻²⁴: what the fraction, taken as an integer, is
// multiplied by.
var power = func() (p [128]float64) {
	for e := range p {
		p[e] = math.Ldexp(1, 4*(e-64)-24)
	}
	return p
}()

// fromIBM returns the value of an IBM float. It is exact where a float32 has the
// range; beyond it becomes infinite, and below 2⁻¹²⁶ it is rounded to nearest.
func fromIBM(b uint32) float32 {
	v := float32(float64(b&0xffffff) * power[b>>24&0x7f]) // the product is exact
	return math.Float32frombits(math.Float32bits(v) | b&(1<<31))
}

// toIBM returns the normalised IBM float nearest to v, the even one of two. Its
// fraction starts with up to three zero bits, so that as many bits of v may be
// rounded away: the relative error is at most 2⁻²¹. It is false for infinity and
// NaN; every other float32 is in the range.
func toIBM(v float32) (uint32, bool) {
	b := math.Float32bits(v)
	sign, e, f := b&(1<<31), int(b>>23&0xff), b&0x7fffff
	switch {
	case e == 0xff:
		return 0, false
	case e == 0 && f == 0:
		return sign, true
	case e == 0:
		lead := bits.LeadingZeros32(f) - 8
		f <<= lead
		e = 1 - lead
	default:
		f |= 1 << 23
	}
	e -= 126              // now |v| is f·2⁻²⁴·2^e, with f from 2²³ to 2²⁴
	h := (e + 3) >> 2     // the exponent of 16, rounded up
	down := uint(4*h - e) // 0 to 3 bits
	half := uint32(1) << down >> 1
	rest := f & (1<<down - 1)
	f >>= down
	if rest > half || rest == half && half > 0 && f&1 == 1 {
		f++ // no carry into the next digit: the fraction has its leading zeros
	}
	return sign | uint32(h+64)<<24 | f, true
}
