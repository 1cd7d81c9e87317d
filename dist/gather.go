package dist

import (
	"context"
	"fmt"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/trace"
)

// Scatter returns an array of s with the elements that rank 0 holds of the
// whole, the last axis running fastest; other ranks give nil. It is collective.
func Scatter[T scalar.Scalar](ctx context.Context, s *Space, global []T) (Array[T], error) {
	defer trace.Begin(ctx, "dist: scatter").End()
	given("Scatter", s)
	a, err := New[T](s)
	root := s.proc.Rank() == 0
	switch {
	case err != nil:
	case s.parts != nil:
		err = fmt.Errorf("a stack has no global order: scatter its parts")
	case root && len(global) != s.shape.Size():
		err = fmt.Errorf("%d elements given for shape %v, which has %d", len(global), s.shape, s.shape.Size())
	case !root && global != nil:
		err = fmt.Errorf("elements come from rank 0: other ranks must give nil, not %d elements", len(global))
	}
	var p rootCopy[T]
	if err == nil {
		p, err = newRootCopy[T](s, 0)
	}
	defer p.free()
	if err = Agree(ctx, s.Comm(), "dist: scatter", err); err == nil {
		err = p.scatter(ctx, a, global)
	}
	return a.orFree(err)
}

// Gather returns the whole array, the last axis running fastest, on rank root,
// and nil on the others. Of a stack it returns the parts one after another. It
// is collective.
func Gather[T scalar.Scalar](ctx context.Context, a Array[T], root int) ([]T, error) {
	defer trace.Begin(ctx, "dist: gather").End()
	s := a.given("Gather")
	if s.parts != nil {
		return gatherLeaves(a, func(p Array[T]) ([]T, error) { return Gather(ctx, p, root) })
	}
	var p rootCopy[T]
	var err error
	if root < 0 || root >= s.proc.Size() {
		err = fmt.Errorf("root is %d: ranks are 0 to %d", root, s.proc.Size()-1)
	} else {
		p, err = newRootCopy[T](s, root)
	}
	var whole []T
	if err == nil && s.proc.Rank() == root {
		whole, err = device.Make[T](s.shape.Size())
	}
	defer p.free()
	if err = Agree(ctx, s.Comm(), "dist: gather", err, "root ", root); err != nil {
		return nil, err
	}
	return p.gather(ctx, a, whole)
}

// AllGather returns the whole array, the last axis running fastest, on every
// rank. Of a stack it returns the parts one after another. It is collective.
func AllGather[T scalar.Scalar](ctx context.Context, a Array[T]) ([]T, error) {
	defer trace.Begin(ctx, "dist: all gather").End()
	if a.given("AllGather").parts != nil {
		return gatherLeaves(a, func(p Array[T]) ([]T, error) { return AllGather(ctx, p) })
	}
	to, err := a.space.Like(Replicated, a.space.shape.Dims()...)
	if err != nil {
		return nil, err // on every rank: the shape is the same on all
	}
	b, err := Redistribute(ctx, a, to)
	if err != nil {
		return nil, err
	}
	defer b.Free()
	return b.Host()
}

// gatherLeaves gathers the arrays of a stack and joins them.
func gatherLeaves[T scalar.Scalar](a Array[T], gather func(Array[T]) ([]T, error)) (all []T, err error) {
	for i := range a.blocks {
		v, err := gather(a.Leaf(i))
		if err != nil {
			return nil, err
		}
		all = append(all, v...)
	}
	return all, nil
}
