package dist

import (
	"context"
	"fmt"

	"github.com/golops/golops/array"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// Scatter returns an array of s with the elements that rank 0 holds of the
// whole, the last axis running fastest; other ranks give nil. It is collective.
func Scatter[T scalar.Scalar](ctx context.Context, s *Space, global []T) (Array[T], error) {
	a, err := New[T](s)
	root := s.rank.Rank() == 0
	switch {
	case err != nil:
	case s.parts != nil:
		err = fmt.Errorf("a stack has no global order: scatter its parts")
	case root && len(global) != s.shape.Size():
		err = fmt.Errorf("%d elements given for shape %v, which has %d", len(global), s.shape, s.shape.Size())
	case !root && global != nil:
		err = fmt.Errorf("elements come from rank 0: other ranks must give nil, not %d elements", len(global))
	}
	var whole array.Array[T]
	var e *exchange[T]
	if err == nil {
		whole, e, err = throughRoot[T](s, 0, true)
	}
	if err == nil && root {
		err = whole.CopyIn(global)
	}
	if err = Agree(ctx, s.Comm(), "dist: scatter", err); err == nil {
		err = e.run(ctx, a.local, whole)
	}
	e.free()
	whole.Free()
	return a.unless(err)
}

// Gather returns the whole array, the last axis running fastest, on rank root,
// and nil on the others. It is collective.
func Gather[T scalar.Scalar](ctx context.Context, a Array[T], root int) ([]T, error) {
	s := a.space
	var whole array.Array[T]
	var e *exchange[T]
	var err error
	switch {
	case s.parts != nil:
		err = fmt.Errorf("a stack has no global order: gather its parts")
	case root < 0 || root >= s.rank.Size():
		err = fmt.Errorf("root is %d: ranks are 0 to %d", root, s.rank.Size()-1)
	default:
		whole, e, err = throughRoot[T](s, root, false)
	}
	defer func() { e.free(); whole.Free() }()
	if err = Agree(ctx, s.Comm(), "dist: gather", err, "root ", root); err != nil {
		return nil, err
	}
	if err := e.run(ctx, whole, a.local); err != nil || s.rank.Rank() != root {
		return nil, err
	}
	out := make([]T, whole.Len())
	return out, whole.CopyOut(out)
}

// AllGather returns the whole array, the last axis running fastest, on every
// rank. It is collective.
func AllGather[T scalar.Scalar](ctx context.Context, a Array[T]) ([]T, error) {
	if a.space.parts != nil {
		return nil, fmt.Errorf("dist: gather: a stack has no global order: gather its parts")
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

// throughRoot returns the whole array on root, nothing elsewhere, and the way
// between it and the blocks of s.
func throughRoot[T scalar.Scalar](s *Space, root int, scatter bool) (array.Array[T], *exchange[T], error) {
	var all Box
	for i := range s.shape.Rank() {
		all.Hi[i] = s.shape.Dim(i)
	}
	here := place{shape: shape.Of(0)}
	if s.rank.Rank() == root {
		here.shape = s.shape
	}
	whole, err := array.New[T](s.Device(), here.shape)
	if err != nil {
		return array.Array[T]{}, nil, err
	}
	wholeOf := func(int) Box { return all }
	p := plan{axes: s.shape.Rank(), me: s.rank}
	if scatter {
		p.has, p.want = wholeOf, s.Box
		p.serves = func(from, _ int) bool { return from == root }
		p.given, p.got = here, place{s.local, s.box.Lo}
	} else {
		p.has, p.want = s.Box, wholeOf
		p.serves = func(from, to int) bool { return to == root && s.sameCopy(from, root) }
		p.given, p.got = place{s.local, s.box.Lo}, here
	}
	e, err := newExchange[T](p)
	if err != nil {
		whole.Free()
		return array.Array[T]{}, nil, err
	}
	return whole, e, nil
}
