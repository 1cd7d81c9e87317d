package main

import (
	"context"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// vectors are what the operations on arrays work on.
type vectors[T scalar.Scalar] struct {
	c         Case
	s         *dist.Space
	x, y, out dist.Array[T]
}

// operations are the array operations by the names of the cases.
func operations[T scalar.Scalar]() map[string]func(ctx context.Context, r dist.Proc, c Case) (*job, error) {
	type maker = func(ctx context.Context, v vectors[T]) (*job, error)
	on := func(f maker) func(ctx context.Context, r dist.Proc, c Case) (*job, error) {
		return func(ctx context.Context, r dist.Proc, c Case) (*job, error) {
			v := vectors[T]{c: c}
			var err error
			if v.s, err = dist.NewSpace(ctx, r, dist.Layout{}, c.Shape...); err != nil {
				return nil, err
			}
			if v.x, err = filled[T](ctx, v.s, 1); err != nil {
				return nil, err
			}
			if v.y, err = filled[T](ctx, v.s, 2); err != nil {
				return nil, err
			}
			if v.out, err = dist.New[T](v.s); err != nil {
				return nil, err
			}
			return f(ctx, v)
		}
	}
	return map[string]func(ctx context.Context, r dist.Proc, c Case) (*job, error){
		"add": on(func(_ context.Context, v vectors[T]) (*job, error) {
			return v.local(3, func() { dist.Add(v.out, v.x, v.y) }), nil
		}),
		"copy": on(func(_ context.Context, v vectors[T]) (*job, error) {
			return v.local(2, func() { dist.Copy(v.out, v.x) }), nil
		}),
		"scale": on(func(_ context.Context, v vectors[T]) (*job, error) {
			a := scalar.From[T](2.5)
			return v.local(2, func() { dist.Scale(v.out, a, v.x) }), nil
		}),
		"dot": on(func(_ context.Context, v vectors[T]) (*job, error) {
			return v.number(2, func(ctx context.Context) (float64, error) {
				d, err := dist.Dot(ctx, v.x, v.y)
				return real(scalar.Complex(d)), err
			}), nil
		}),
		"norm 2": on(func(_ context.Context, v vectors[T]) (*job, error) {
			return v.number(1, func(ctx context.Context) (float64, error) { return dist.Norm(ctx, v.x, 2) }), nil
		}),
		"redistribute": on(func(ctx context.Context, v vectors[T]) (*job, error) {
			to, err := v.s.Like(dist.Split(1), v.c.Shape...)
			if err != nil {
				return nil, err
			}
			m, err := dist.NewRedistribution[T](v.s, to)
			if err != nil {
				return nil, err
			}
			return operatorJob[T](ctx, v.c, m, 0)
		}),
		"add_ghost_cells": on(func(ctx context.Context, v vectors[T]) (*job, error) {
			h, err := dist.NewHalo[T](v.s, []int{v.c.Length, 0}, []int{v.c.Length, 0}, false)
			if err != nil {
				return nil, err
			}
			return forwardOnly(operatorJob[T](ctx, v.c, h, 0))
		}),
	}
}

var _ linop.Operator[float64] = (*dist.Move[float64])(nil)

// forwardOnly leaves the adjoint out, which the peer does not have.
func forwardOnly(j *job, err error) (*job, error) {
	if err == nil {
		j.steps, j.bytes = j.steps[:1], j.bytes[:1]
	}
	return j, err
}

// local is an operation over n arrays that sends nothing.
func (v vectors[T]) local(arrays int, f func()) *job {
	return &job{
		steps: []step{{func(context.Context) error { f(); return nil }, marker(v.out)}},
		bytes: []int{arrays * v.s.Size() * scalar.Of[T]().Size()},
	}
}

// number is an operation over n arrays that returns one number.
func (v vectors[T]) number(arrays int, f func(ctx context.Context) (float64, error)) *job {
	var got float64
	return &job{
		steps: []step{{
			func(ctx context.Context) (err error) { got, err = f(ctx); return err },
			func(context.Context) (mark, error) {
				var m mark
				m.add(got)
				m.Norm = math.Sqrt(m.Norm)
				return m, nil
			},
		}},
		bytes: []int{arrays * v.s.Size() * scalar.Of[T]().Size()},
	}
}
