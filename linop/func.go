package linop

import (
	"context"
	"errors"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// Func returns the map that two functions make up: forward and its adjoint.
// They keep the promises of Map: collective, all of dst written, src left alone.
func Func[D, R scalar.Scalar](dom, rng *dist.Space,
	forward func(ctx context.Context, dst dist.Array[R], src dist.Array[D]) error,
	adjoint func(ctx context.Context, dst dist.Array[D], src dist.Array[R]) error) (Map[D, R], error) {
	switch {
	case dom == nil || rng == nil:
		return nil, errors.New("linop: operator of functions: the domain or the range is nil")
	case forward == nil:
		return nil, errors.New("linop: operator of functions: forward is nil")
	case adjoint == nil:
		return nil, errors.New("linop: operator of functions: adjoint is nil: give a function that returns an error if it is never needed")
	}
	return &funcs[D, R]{Spaces{dom, rng}, forward, adjoint}, nil
}

type funcs[D, R scalar.Scalar] struct {
	Spaces
	forward func(ctx context.Context, dst dist.Array[R], src dist.Array[D]) error
	adjoint func(ctx context.Context, dst dist.Array[D], src dist.Array[R]) error
}

func (f *funcs[D, R]) Forward(ctx context.Context, dst dist.Array[R], src dist.Array[D]) error {
	if err := dist.Check("linop: operator of functions", "forward", &dst, f.Rng, &src, f.Dom); err != nil {
		return err
	}
	return f.forward(ctx, dst, src)
}

func (f *funcs[D, R]) Adjoint(ctx context.Context, dst dist.Array[D], src dist.Array[R]) error {
	if err := dist.Check("linop: operator of functions", "adjoint", &dst, f.Dom, &src, f.Rng); err != nil {
		return err
	}
	return f.adjoint(ctx, dst, src)
}
