package dist

import (
	"context"
	"math"

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

// Normal returns an array of s with normal numbers whose standard deviation is size. An
// element depends on the seed and on its global index only, as those of Random do.
func Normal[T scalar.Scalar](ctx context.Context, s *Space, size float64, seed uint64) (Array[T], error) {
	a, err := New[T](s)
	if err != nil {
		return a, err
	}
	return a.orFree(fillNormal(ctx, a, size, seed))
}

// fillRandom fills a. Each part of a stack gets another seed.
func fillRandom[T scalar.Scalar](ctx context.Context, a Array[T], seed uint64) error {
	return fillEach(ctx, a, seed, func(seed uint64) func(at int) T {
		key := splitmix.Hash(seed)
		return func(at int) T { return randomAt[T](key + uint64(at)) }
	})
}

func fillNormal[T scalar.Scalar](ctx context.Context, a Array[T], size float64, seed uint64) error {
	return fillEach(ctx, a, seed, func(seed uint64) func(at int) T {
		return func(at int) T { return normalAt[T](size, seed, at) }
	})
}

// fillEach fills a with what f of the seed makes of each global index. Each part of a
// stack gets another seed.
func fillEach[T scalar.Scalar](ctx context.Context, a Array[T], seed uint64, f func(seed uint64) func(at int) T) error {
	for i := range a.NumParts() {
		if err := fillEach(ctx, a.Part(i), splitmix.Hash(seed+uint64(i)+1), f); err != nil {
			return err
		}
	}
	if a.NumParts() > 0 {
		return nil
	}
	return a.fill(ctx, func(host []T) {
		i, of := 0, f(seed)
		for at, n := range a.space.Runs(a.space.proc.Rank()) {
			for k := range n {
				host[i] = of(at + k)
				i++
			}
		}
	})
}

// normalAt returns a normal number by the method of Box and Muller, whose sine is the
// imaginary part of a complex one.
func normalAt[T scalar.Scalar](size float64, seed uint64, at int) T {
	src := splitmix.Source(((seed+1)*0x9e3779b97f4a7c15 + uint64(at)) * 0xd1342543de82ef95)
	next := func() float64 { return (float64(src.Next()>>11) + 0.5) / (1 << 53) }
	next()
	r := size * math.Sqrt(-2*math.Log(next()))
	sin, cos := math.Sincos(2 * math.Pi * next())
	return scalar.From[T](complex(r*cos, r*sin))
}

// randomAt returns the random number with this key.
func randomAt[T scalar.Scalar](key uint64) T {
	h := splitmix.Hash(key)
	return scalar.From[T](complex(randomUnit(h>>32), randomUnit(h&(1<<32-1))))
}

// randomUnit turns 32 random bits into one of the odd multiples of 2⁻²³ between -1
// and 1: never zero, and exact in float32.
func randomUnit(bits uint64) float64 { return float64(2*int64(bits>>9)+1-1<<23) / (1 << 23) }
