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
	red := dist.NewReduction(w.Space(), 4)
	defer red.Free()
	var slots [2][2]dist.Slot
	for i, v := range []dist.Array[R]{p.B, y} {
		slots[i] = [2]dist.Slot{dist.AddNorm2(red, v), dist.AddDot(red, w, v)}
	}
	if err := red.Do(ctx); err != nil {
		return prints, err
	}
	for i, s := range slots {
		prints[i] = Fingerprint{math.Sqrt(s[0].Float()), s[1].Float()}
	}
	return prints, nil
}
