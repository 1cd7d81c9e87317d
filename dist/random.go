package dist

import (
	"context"

	"github.com/golops/golops/scalar"
)

// Random returns an array of s with elements between -1 and 1, in the real and in
// the imaginary part. An element depends on the seed and on its global index only:
// copies on several ranks are equal, and so are arrays on different numbers of
// ranks. All elements are exact in 32 bits, so the float32 and the float64 array
// of one seed are equal too. Like FromFunc it is collective for Checked spaces.
func Random[T scalar.Scalar](ctx context.Context, s *Space, seed uint64) (Array[T], error) {
	a, err := New[T](s)
	if err != nil {
		return a, err
	}
	return a.orFree(fillRandom(ctx, a, s, seed))
}

// fillRandom fills a. Each part of a stack gets another seed.
func fillRandom[T scalar.Scalar](ctx context.Context, a Array[T], s *Space, seed uint64) error {
	if parts := s.Parts(); parts != nil {
		for i, p := range parts {
			if err := fillRandom(ctx, a.Part(i), p, mix(seed+uint64(i)+1)); err != nil {
				return err
			}
		}
		return nil
	}
	st := s.Shape().Strides()
	x, err := FromFunc(ctx, s, func(i []int) T {
		at := 0
		for d, k := range i {
			at += k * st[d]
		}
		return randomAt[T](mix(seed) + uint64(at))
	})
	if err != nil {
		return err
	}
	defer x.Free()
	Copy(a, x)
	return nil
}

// randomAt returns the random number with this key.
func randomAt[T scalar.Scalar](key uint64) T {
	h := mix(key)
	return scalar.From[T](complex(randomUnit(h>>32), randomUnit(h&(1<<32-1))))
}

// randomUnit turns 32 random bits into one of the odd multiples of 2⁻²³ between -1
// and 1: never zero, and exact in float32.
func randomUnit(bits uint64) float64 { return float64(2*int64(bits>>9)+1-1<<23) / (1 << 23) }

// mix scrambles a number: the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
