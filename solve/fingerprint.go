package solve

import (
	"context"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Fingerprint tells two vectors apart, however they were rounded: the norm, and the
// product with a vector of random numbers.
type Fingerprint struct{ Norm, Mix float64 }

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
func fingerprints[D, R scalar.Scalar](ctx context.Context, p Problem[D, R]) (prints [2]Fingerprint, err error) {
	x, err := dist.Random[D](ctx, p.A.Domain(), 0)
	if err != nil {
		return prints, err
	}
	defer x.Free()
	w, err := dist.Random[R](ctx, p.A.Range(), 1)
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
		prints[i] = Fingerprint{math.Sqrt(sums.Value(2 * i)), sums.Value(2*i + 1)}
	}
	return prints, err
}
