package scalar

import "math"

// Float16 is the bits of an IEEE 754 number of 16 bits, which C calls half: 5 bits of
// exponent, 10 of fraction. Ranks exchange and reduce it. Arrays do not compute with it.
type Float16 uint16

// BFloat16 is the upper half of a float32: 8 bits of exponent, 7 of fraction.
type BFloat16 uint16

// Float32 returns f, which float32 holds exactly.
func (f Float16) Float32() float32 {
	sign, exp, frac := uint32(f&0x8000)<<16, uint32(f>>10)&31, uint32(f)&0x3ff
	switch {
	case exp == 31: // infinity or NaN
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	case exp != 0:
		return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
	}
	v := float32(frac) * 0x1p-24 // zero or subnormal
	return math.Float32frombits(sign | math.Float32bits(v))
}

// ToFloat16 rounds v to the nearest Float16, ties to even.
func ToFloat16(v float32) Float16 {
	b := math.Float32bits(v)
	sign, b := Float16(b>>16&0x8000), b&^(1<<31)
	switch {
	case b > 0xff<<23: // NaN stays NaN
		return sign | 0x7e00 | Float16(b>>13&0x3ff)
	case b >= 0x477ff000: // rounds to 65536 or more
		return sign | 0x7c00
	case b < 0x38800000: // subnormal: the addition rounds at the last bit of a Float16
		return sign | Float16(math.Float32bits(math.Float32frombits(b)+0.5)-math.Float32bits(0.5))
	}
	b += 0xfff + b>>13&1
	return sign | Float16((b-112<<23)>>13)
}

// Float32 returns f, which float32 holds exactly.
func (f BFloat16) Float32() float32 { return math.Float32frombits(uint32(f) << 16) }

// ToBFloat16 rounds v to the nearest BFloat16, ties to even.
func ToBFloat16(v float32) BFloat16 {
	b := math.Float32bits(v)
	if b&^(1<<31) > 0xff<<23 { // NaN stays NaN
		return BFloat16(b>>16 | 0x40)
	}
	return BFloat16((b + 0x7fff + b>>16&1) >> 16)
}
