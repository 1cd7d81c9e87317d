package optest

import (
	"context"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// Random returns a vector of s with elements between -1 and 1, in the real and
// in the imaginary part. An element depends on the seed and on its place in the
// whole array, not on who holds it: copies on several ranks are equal, and so
// are vectors on different numbers of ranks. All elements are exact in 32 bits,
// so that the float32 and the float64 vector of one seed are equal, too.
func Random[T scalar.Scalar](ctx context.Context, s *dist.Space, seed uint64) (dist.Array[T], error) {
	a, err := dist.New[T](s)
	if err != nil {
		return a, err
	}
	return a, fillRandom(ctx, a, s, seed)
}

// fillRandom goes through the parts of a stack, each with a seed of its own.
func fillRandom[T scalar.Scalar](ctx context.Context, a dist.Array[T], s *dist.Space, seed uint64) error {
	if parts := s.Parts(); parts != nil {
		for i, p := range parts {
			if err := fillRandom(ctx, a.Part(i), p, mix(seed+uint64(i)+1)); err != nil {
				return err
			}
		}
		return nil
	}
	st := s.Shape().Strides()
	x, err := dist.FromFunc(ctx, s, func(i []int) T {
		at := 0
		for d, k := range i {
			at += k * st[d]
		}
		return number[T](mix(seed) + uint64(at))
	})
	if err != nil {
		return err
	}
	defer x.Free()
	dist.Copy(a, x)
	return nil
}

// number returns the random number with this key.
func number[T scalar.Scalar](key uint64) T {
	h := mix(key)
	return scalar.From[T](complex(unit(h>>32), unit(h&(1<<32-1))))
}

// unit turns 32 random bits into one of the odd multiples of 2⁻²³ between -1
// and 1: never zero, and exact in float32.
func unit(bits uint64) float64 { return float64(2*int64(bits>>9)+1-1<<23) / (1 << 23) }

// mix scrambles a number: the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
