package optest

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/array"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// Refuses checks that Forward and Adjoint return an error for arrays that are
// not of their spaces and for arrays that share memory. They must then write
// nothing, neither into the arrays nor around them, and work afterwards. All
// operators of golops do so. All does not include this check: a user's operator
// may leave it to linop.ApplyTo, or call dist.Check.
func Refuses[D, R scalar.Scalar](ctx context.Context, a linop.Map[D, R]) error {
	if err := valid(a); err != nil {
		return err
	}
	if err := agree(ctx, a, "refusing by forward", refuses(ctx, a)); err != nil {
		return err
	}
	return agree(ctx, a, "refusing by adjoint", refuses(ctx, linop.H(a)))
}

func refuses[D, R scalar.Scalar](ctx context.Context, a linop.Map[D, R]) error {
	x, err := dist.Random[D](ctx, a.Domain(), 0)
	if err != nil {
		return err
	}
	y, err := dist.New[R](a.Range())
	if err != nil {
		return err
	}
	errs := []error{
		refused(ctx, a, "a dst that was never made", dist.Array[R]{}, x),
		refused(ctx, a, "a src that was never made", y, dist.Array[D]{}),
	}
	for _, s := range others(a.Range()) {
		g, err := newGuarded[R](s)
		if err != nil {
			return err
		}
		errs = append(errs, refused(ctx, a, fmt.Sprintf("dst of %v", s), g.x, x), g.check())
	}
	for _, s := range others(a.Domain()) {
		g, err := newGuarded[D](s)
		if err != nil {
			return err
		}
		errs = append(errs, refused(ctx, a, fmt.Sprintf("src of %v", s), y, g.x), g.check())
	}
	if x, ok := any(x).(dist.Array[R]); ok {
		errs = append(errs, refusesShared(ctx, a, y, x))
	}
	return errors.Join(append(errs, a.Forward(ctx, y, x))...)
}

// refusesShared gives dst, of range y, and src memory of each other: the same, and
// one element of it. Ranks that hold nothing share nothing and would go on alone,
// so all must hold some.
func refusesShared[D, R scalar.Scalar](ctx context.Context, a linop.Map[D, R], y, x dist.Array[R]) error {
	p, q := y.Leaf(0), x.Leaf(0)
	least := []int64{int64(min(p.Local().Len(), q.Local().Len()))}
	if err := a.Domain().Comm().AllReduce(ctx, comm.Of(least), comm.Of(least), comm.Min); err != nil || least[0] == 0 {
		return err
	}
	n, m := p.Local().Len(), q.Local().Len()
	all, err := array.New[R](a.Domain().Device(), shape.Of(n+m-1))
	if err != nil {
		return err
	}
	var errs []error
	for _, at := range []int{0, n - 1} {
		dst, err := over(a.Range(), all.Slice(0, n))
		if err != nil {
			return err
		}
		src, err := over(a.Domain(), all.Slice(at, at+m))
		if err != nil {
			return err
		}
		errs = append(errs, refused(ctx, a, fmt.Sprintf("src in the memory of dst from element %d on", at), dst, any(src).(dist.Array[D])))
	}
	return errors.Join(errs...)
}

// refused applies a where it must return an error.
func refused[D, R scalar.Scalar](ctx context.Context, a linop.Map[D, R], what string, dst dist.Array[R], src dist.Array[D]) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: panic instead of an error: %v", what, p)
		}
	}()
	if a.Forward(ctx, dst, src) == nil {
		return fmt.Errorf("%s: no error", what)
	}
	return nil
}

// others returns spaces on the ranks of s that are not s: shorter, longer, of
// another shape, and stacks.
func others(s *dist.Space) (all []*dist.Space) {
	leaf, n := s.Leaves()[0], s.Size()
	add := func(o *dist.Space, err error) {
		if err == nil && !o.Equal(s) {
			all = append(all, o)
		}
	}
	for _, k := range []int{n / 2, n - 1, n + 1, 2 * n} {
		if k >= 0 {
			add(leaf.Like(dist.Layout{}, k))
		}
	}
	add(leaf.Like(dist.Replicated, 1, n, 1))
	add(dist.Stack(leaf, leaf))
	add(dist.Stack(s, s))
	return all
}

// guarded is an array with elements of known value around each block.
type guarded[T scalar.Scalar] struct {
	x    dist.Array[T]
	room []array.Array[T]
}

const guard, sentinel = 32, 77

func newGuarded[T scalar.Scalar](s *dist.Space) (g guarded[T], err error) {
	g.x, err = g.make(s)
	return g, err
}

func (g *guarded[T]) make(s *dist.Space) (dist.Array[T], error) {
	var parts []dist.Array[T]
	for _, p := range s.Parts() {
		x, err := g.make(p)
		if err != nil {
			return x, err
		}
		parts = append(parts, x)
	}
	if parts != nil {
		return dist.StackOf(parts...)
	}
	n := s.LocalShape().Size()
	room, err := array.New[T](s.Device(), shape.Of(n+2*guard))
	if err != nil {
		return dist.Array[T]{}, err
	}
	array.Fill(room, sentinel)
	g.room = append(g.room, room)
	return dist.Wrap(s, room.Slice(guard, guard+n)), nil
}

// check reports an element that is not as it was.
func (g *guarded[T]) check() error {
	for _, room := range g.room {
		h := make([]T, room.Len())
		if err := room.CopyOut(h); err != nil {
			return err
		}
		for i, v := range h {
			if v != sentinel {
				return fmt.Errorf("element %d of an array of %d was written to, although the call was refused", i-guard, len(h)-2*guard)
			}
		}
		room.Free()
	}
	return nil
}

// over returns an array of s whose first block is this one.
func over[T scalar.Scalar](s *dist.Space, block array.Array[T]) (dist.Array[T], error) {
	var parts []dist.Array[T]
	for i, p := range s.Parts() {
		make := dist.New[T]
		if i == 0 {
			make = func(p *dist.Space) (dist.Array[T], error) { return over(p, block) }
		}
		x, err := make(p)
		if err != nil {
			return x, err
		}
		parts = append(parts, x)
	}
	if parts != nil {
		return dist.StackOf(parts...)
	}
	return dist.Wrap(s, block), nil
}
