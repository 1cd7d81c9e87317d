package solve

import (
	"context"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// fingerprint tells two vectors apart, however they were rounded: the norm, and the
// product with a vector of random numbers.
type fingerprint struct{ Norm, Mix float64 }

// sameRun is the relative difference that rounding makes between fingerprints of
// one problem, on another number of ranks or another device.
func sameRun[D, R scalar.Scalar]() float64 {
	if short[D]() || short[R]() {
		return 1e-4
	}
	return 1e-8
}

// fingerprints returns those of the data and of what the operator makes of
// random numbers. It is collective, and applies the operator once.
func fingerprints[D, R scalar.Scalar](ctx context.Context, p Problem[D, R]) (prints [2]fingerprint, err error) {
	x, err := random[D](p.A.Domain())
	if err != nil {
		return prints, err
	}
	defer x.Free()
	w, err := random[R](p.A.Range())
	if err != nil {
		return prints, err
	}
	defer w.Free()
	y, err := linop.Apply(ctx, p.A, x)
	if err != nil {
		return prints, err
	}
	defer y.Free()
	sums := dist.NewSums(w.Space(), 4)
	for _, v := range []dist.Array[R]{p.B, y} {
		if err := dist.AddDot(sums, v, v); err != nil {
			return prints, err
		}
		if err := dist.AddDot(sums, w, v); err != nil {
			return prints, err
		}
	}
	err = sums.Reduce(ctx)
	for i := range prints {
		prints[i] = fingerprint{math.Sqrt(sums.Value(2 * i)), sums.Value(2*i + 1)}
	}
	return prints, err
}

// random returns a vector of numbers between -1 and 1 that depend on their
// places in the whole array alone.
func random[T scalar.Scalar](s *dist.Space) (dist.Array[T], error) {
	a, err := dist.New[T](s)
	if err != nil {
		return a, err
	}
	for key, leaf := range unstack(a) {
		host := make([]T, leaf.Local().Len())
		unit := func(i int) float64 { return float64(int64(hash64(hash64(uint64(key))+uint64(i)))) / (1 << 63) }
		_ = contiguousRuns(leaf.Space(), func(global, local, n int) error {
			for i := range n {
				host[local+i] = scalar.From[T](complex(unit(2*(global+i)), unit(2*(global+i)+1)))
			}
			return nil
		})
		if err := leaf.Local().CopyIn(host); err != nil {
			a.Free()
			return dist.Array[T]{}, err
		}
	}
	return a, nil
}

// near reports whether two prints differ by at most tol, relative to the norm.
func (p fingerprint) near(q fingerprint, tol float64) bool {
	tol *= max(p.Norm, q.Norm)
	return math.Abs(p.Norm-q.Norm) <= tol && math.Abs(p.Mix-q.Mix) <= tol
}
