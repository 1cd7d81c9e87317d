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
	if err = Agree(ctx, s.Comm(), "dist: scatter", err); err != nil {
		return a, err
	}
	whole, e, err := throughRoot[T](s, 0, true)
	if err == nil && root {
		err = whole.CopyIn(global)
	}
	if err = Agree(ctx, s.Comm(), "dist: scatter", err); err != nil {
		return a, err
	}
	defer whole.Free()
	return a, e.run(ctx, a.local, whole)
}

// Gather returns the whole array, the last axis running fastest, on rank root,
// and nil on the others. It is collective.
func Gather[T scalar.Scalar](ctx context.Context, a Array[T], root int) ([]T, error) {
	s := a.space
	var err error
	if root < 0 || root >= s.rank.Size() {
		err = fmt.Errorf("root %d: ranks are 0 to %d", root, s.rank.Size()-1)
	}
	if s.parts != nil {
		err = fmt.Errorf("a stack has no global order: gather its parts")
	}
	if err = Agree(ctx, s.Comm(), "dist: gather", err, "root ", root); err != nil {
		return nil, err
	}
	whole, e, err := throughRoot[T](s, root, false)
	if err = Agree(ctx, s.Comm(), "dist: gather", err); err != nil {
		return nil, err
	}
	defer whole.Free()
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
		return nil, err
	}
	b, err := Redistribute(ctx, a, to)
	if err != nil {
		return nil, err
	}
	defer b.Free()
	return b.Host()
}

// throughRoot returns the whole array on root, empty elsewhere, and the way
// between it and the blocks of s.
func throughRoot[T scalar.Scalar](s *Space, root int, scatter bool) (array.Array[T], *exchange[T], error) {
	all := Box{}
	for i := range s.shape.Rank() {
		all.Hi[i] = s.shape.Dim(i)
	}
	one := func(r int) Box {
		if r == root {
			return all
		}
		return Box{}
	}
	me := s.rank.Rank()
	sh := s.shape
	if me != root {
		sh = shape.Of(0)
	}
	whole, err := array.New[T](s.Device(), sh)
	if err != nil {
		return whole, nil, err
	}
	p := boxes{rank: s.shape.Rank(), device: s.Device(), me: me, all: s.rank.Size()}
	if me != root {
		sh = Box{}.shape(p.rank)
	}
	if scatter {
		p.has = func(r int) (Box, bool) { return one(r), r == root }
		p.want = s.Box
		p.hasB, p.hasLo = [2]shape.Shape{sh, s.local}, [2][shape.MaxRank]int{{}, s.box.Lo}
	} else {
		p.has = func(r int) (Box, bool) { return s.Box(r), s.isPrimary(r) }
		p.want = one
		p.hasB, p.hasLo = [2]shape.Shape{s.local, sh}, [2][shape.MaxRank]int{s.box.Lo, {}}
	}
	e, err := newExchange[T](s.Comm(), p)
	return whole, e, err
}
