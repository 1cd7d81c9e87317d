package dist

import (
	"context"

	"github.com/golops/golops/internal/splitmix"
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
	return a.orFree(fillRandom(ctx, a, seed))
}

// fillRandom fills a. Each part of a stack gets another seed.
func fillRandom[T scalar.Scalar](ctx context.Context, a Array[T], seed uint64) error {
	for i := range a.NumParts() {
		if err := fillRandom(ctx, a.Part(i), splitmix.Hash(seed+uint64(i)+1)); err != nil {
			return err
		}
	}
	if a.NumParts() > 0 {
		return nil
	}
	return a.fill(ctx, func(host []T) {
		i, key := 0, splitmix.Hash(seed)
		for at, n := range a.space.Runs(a.space.proc.Rank()) {
			for k := range n {
				host[i] = randomAt[T](key + uint64(at+k))
				i++
			}
		}
	})
}

// randomAt returns the random number with this key.
func randomAt[T scalar.Scalar](key uint64) T {
	h := splitmix.Hash(key)
	return scalar.From[T](complex(randomUnit(h>>32), randomUnit(h&(1<<32-1))))
}

// randomUnit turns 32 random bits into one of the odd multiples of 2⁻²³ between -1
// and 1: never zero, and exact in float32.
func randomUnit(bits uint64) float64 { return float64(2*int64(bits>>9)+1-1<<23) / (1 << 23) }
