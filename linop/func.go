package linop

import (
	"context"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/trace"
)

// Func returns the map that two functions make up: forward and its adjoint. It
// checks arrays before it calls them. They keep the other promises of Map:
// collective, all of dst written, src left alone. Errors call the map by its name,
// such as "ops: roll".
func Func[D, R scalar.Scalar](name string, dom, rng *dist.Space,
	forward func(ctx context.Context, dst dist.Array[R], src dist.Array[D]) error,
	adjoint func(ctx context.Context, dst dist.Array[D], src dist.Array[R]) error) (Map[D, R], error) {
	switch {
	case dom == nil || rng == nil:
		return nil, fmt.Errorf("%s: no space given: the domain or the range is nil", name)
	case forward == nil:
		return nil, fmt.Errorf("%s: forward is nil", name)
	case adjoint == nil:
		return nil, fmt.Errorf("%s: adjoint is nil: give a function that returns an error if it is never needed", name)
	}
	return &funcs[D, R]{Spaces{dom, rng}, name, forward, adjoint}, nil
}

type funcs[D, R scalar.Scalar] struct {
	Spaces
	name    string
	forward func(ctx context.Context, dst dist.Array[R], src dist.Array[D]) error
	adjoint func(ctx context.Context, dst dist.Array[D], src dist.Array[R]) error
}

func (f *funcs[D, R]) Forward(ctx context.Context, dst dist.Array[R], src dist.Array[D]) error {
	if err := dist.Check(f.name, "forward", &dst, f.Rng, &src, f.Dom); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, f.name, "forward").End()
	return f.forward(ctx, dst, src)
}

func (f *funcs[D, R]) Adjoint(ctx context.Context, dst dist.Array[D], src dist.Array[R]) error {
	if err := dist.Check(f.name, "adjoint", &dst, f.Dom, &src, f.Rng); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, f.name, "adjoint").End()
	return f.adjoint(ctx, dst, src)
}
