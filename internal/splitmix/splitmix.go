// Package splitmix makes numbers that look random but repeat exactly: SplitMix64.
package splitmix

const step = 0x9e3779b97f4a7c15

// Hash scrambles x: each bit of x changes about half of the bits of the result.
func Hash(x uint64) uint64 {
	x += step
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Source is a sequence of random numbers. Its value is the seed.
type Source uint64

// Next returns the next number.
func (s *Source) Next() uint64 {
	x := Hash(uint64(*s))
	*s += step
	return x
}
