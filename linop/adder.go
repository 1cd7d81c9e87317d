package linop

import (
	"context"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// Adder is a Map that can add its results to an array as fast as it can set it. Stacks
// use that: the sum of several adjoints then takes no array of its own.
type Adder[D, R scalar.Scalar] interface {
	// AddForward sets dst = dst + a·src.
	AddForward(ctx context.Context, dst dist.Array[R], src dist.Array[D]) error
	// AddAdjoint sets dst = dst + aᴴ·src.
	AddAdjoint(ctx context.Context, dst dist.Array[D], src dist.Array[R]) error
}

// Scaler is a Map that can take a factor into its own numbers, so that Scale needs no
// pass over the results.
type Scaler[D, R scalar.Scalar] interface {
	// Scaled returns c·a, or nil if a pass over the results is faster. All ranks get
	// the same answer. It does not communicate.
	Scaled(c R) Map[D, R]
}

// addAdjoint returns the function that adds what the adjoint of a gives, nil if a has none.
func addAdjoint[D, R scalar.Scalar](a Map[D, R]) func(context.Context, dist.Array[D], dist.Array[R]) error {
	if h, ok := a.(*adjoint[R, D]); ok {
		if s, ok := h.a.(Adder[R, D]); ok {
			return s.AddForward
		}
	}
	if s, ok := a.(Adder[D, R]); ok {
		return s.AddAdjoint
	}
	return nil
}
