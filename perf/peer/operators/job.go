package main

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// job is a case that is ready to run on this rank.
type job struct {
	steps []step // forward and, if there is one, adjoint
	bytes []int  // that each must move, on all ranks together
}

// step is something that is measured and what comes out of it.
type step struct {
	run  func(ctx context.Context) error
	mark func(ctx context.Context) (mark, error)
}

// build makes the job of a case.
func build(ctx context.Context, r dist.Proc, c Case) (*job, error) {
	switch c.Type {
	case "float32":
		return buildOf[float32](ctx, r, c)
	case "float64":
		return buildOf[float64](ctx, r, c)
	}
	return nil, fmt.Errorf("unknown element type %q: have float32, float64", c.Type)
}

func buildOf[T scalar.Scalar](ctx context.Context, r dist.Proc, c Case) (*job, error) {
	if b, ok := operations[T]()[c.Op]; ok {
		return b(ctx, r, c)
	}
	b, ok := operators[T]()[c.Op]
	if !ok {
		return nil, fmt.Errorf("golops has no operator %q here", c.Op)
	}
	op, matrix, err := b(ctx, r, c)
	if err != nil {
		return nil, err
	}
	return operatorJob(ctx, c, op, matrix)
}

// operatorJob applies an operator that reads a matrix of that many elements.
func operatorJob[T scalar.Scalar](ctx context.Context, c Case, op linop.Operator[T], matrix int) (*job, error) {
	x, err := filled[T](ctx, op.Domain(), 1)
	if err != nil {
		return nil, err
	}
	u, err := filled[T](ctx, op.Range(), 2)
	if err != nil {
		return nil, err
	}
	y, err := dist.New[T](op.Range())
	if err != nil {
		return nil, err
	}
	v, err := dist.New[T](op.Domain())
	if err != nil {
		return nil, err
	}
	e := scalar.Of[T]().Size()
	n := (op.Domain().Size() + op.Range().Size() + matrix) * e
	j := &job{bytes: []int{n, n}}
	switch c.Op {
	case "Restriction": // what is not taken is not read
		j.bytes[0] = 2 * op.Range().Size() * e
	case "Pad": // nor are zeros that are cut off
		j.bytes[1] = 2 * op.Domain().Size() * e
	case "Zero":
		j.bytes = []int{op.Range().Size() * e, op.Domain().Size() * e}
	}
	j.steps = []step{
		{func(ctx context.Context) error { return op.Forward(ctx, y, x) }, marker(y)},
		{func(ctx context.Context) error { return op.Adjoint(ctx, v, u) }, marker(v)},
	}
	return j, nil
}

// value is element i of array number seed, between -1/2 and 1/2. peer.py has the
// same formula.
func value(i, seed int) float64 { return float64((i*7919+seed*104729)%1009)/1009 - 0.5 }

// values returns n elements from one on.
func values[T scalar.Scalar](n, from, seed int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = scalar.From[T](complex(value(from+i, seed), 0))
	}
	return v
}

// filled returns a vector of s with the elements of array number seed; the parts
// of a stack follow each other.
func filled[T scalar.Scalar](ctx context.Context, s *dist.Space, seed int) (dist.Array[T], error) {
	if s.Parts() == nil {
		return filledFrom[T](ctx, s, 0, seed)
	}
	var parts []dist.Array[T]
	from := 0
	for _, p := range s.Parts() {
		a, err := filledFrom[T](ctx, p, from, seed)
		if err != nil {
			return dist.Array[T]{}, err
		}
		parts = append(parts, a)
		from += p.Size()
	}
	return dist.StackOf(parts...)
}

func filledFrom[T scalar.Scalar](ctx context.Context, s *dist.Space, from, seed int) (dist.Array[T], error) {
	strides := s.Shape().Strides()
	return dist.FromFunc(ctx, s, func(at []int) T {
		i := from
		for a, k := range at {
			i += k * strides[a]
		}
		return scalar.From[T](complex(value(i, seed), 0))
	})
}

// marker marks an array.
func marker[T scalar.Scalar](a dist.Array[T]) func(ctx context.Context) (mark, error) {
	return func(ctx context.Context) (mark, error) {
		parts := []dist.Array[T]{a}
		if a.NumParts() > 0 {
			parts = parts[:0]
		}
		for i := range a.NumParts() {
			parts = append(parts, a.Part(i))
		}
		var m mark
		for _, p := range parts {
			whole, err := dist.Gather(ctx, p, 0)
			if err != nil {
				return m, err
			}
			for _, v := range whole {
				m.add(real(scalar.Complex(v)))
			}
		}
		m.Norm = math.Sqrt(m.Norm)
		return m, nil
	}
}

// add counts one more element in. Norm is its own square until the end.
func (m *mark) add(v float64) {
	m.Norm += v * v
	m.Dot += v * value(m.N, 3)
	m.N++
}
