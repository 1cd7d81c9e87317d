package prox

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// Sum returns the sum of convex functions of one space. It has a gradient if all have.
// The prox is iterative: the functions take turns, each with a correction of its own.
//
//	z = x;  then for each k: u = z + cₖ,  z = prox of fₖ at u,  cₖ = u - z
//
// It keeps one array for each function, and two more. A round sends what the functions
// send and one message. RelTol is that of the change of z in a round.
//
// H. H. Bauschke and P. L. Combettes, A Dykstra-like Algorithm for Two Monotone
// Operators, 2008.
func Sum[T scalar.Scalar](ctx context.Context, in Inner, fs ...solve.Function[T]) (Function[T], error) {
	if len(fs) == 0 {
		return nil, errors.New("prox: Sum: no functions given")
	}
	x, err := spaceOf(fs[0])
	if err != nil {
		return nil, fmt.Errorf("prox: Sum: function 0: %w", err)
	}
	err = in.Validate()
	smooth := true
	for i, f := range fs {
		s, e := spaceOf(f)
		if e == nil && !s.Equal(x) {
			why, _ := s.Difference(x)
			e = fmt.Errorf("%s: it takes %v and function 0 takes %v", why, s, x)
		}
		if e != nil {
			err = errors.Join(err, fmt.Errorf("function %d: %w", i, e))
		}
		smooth = smooth && asSmooth(f) != nil
	}
	s := &sum[T]{Inner: in, fs: fs, c: make([]dist.Array[T], len(fs)), red: dist.NewReduction(x, 2)}
	if err == nil {
		for _, a := range append([]*dist.Array[T]{&s.z, &s.old}, pointers(s.c)...) {
			var e error
			*a, e = dist.New[T](x)
			err = errors.Join(err, e)
		}
	}
	d := Definition[T]{Value: s.value, Prox: s.prox, State: stateOf(fs...)}
	if smooth {
		d.Gradient = s.gradient
	}
	return build(ctx, "Sum", x, err, d, len(fs), in)
}

func pointers[V any](a []V) (all []*V) {
	for i := range a {
		all = append(all, &a[i])
	}
	return all
}

type sum[T scalar.Scalar] struct {
	Inner
	fs     []solve.Function[T]
	c      []dist.Array[T] // corrections
	z, old dist.Array[T]
	red    *dist.Reduction
}

func (s *sum[T]) value(ctx context.Context, x dist.Array[T]) (sum float64, err error) {
	for i, f := range s.fs {
		v, err := f.Value(ctx, x)
		if err != nil {
			return math.NaN(), fmt.Errorf("function %d: %w", i, err)
		}
		sum += v
	}
	return sum, nil
}

func (s *sum[T]) prox(ctx context.Context, y dist.Array[T], tau float64, x dist.Array[T]) error {
	dist.Copy(s.z, x)
	for _, c := range s.c {
		dist.Zero(c)
	}
	for range s.MaxIter {
		dist.Copy(s.old, s.z)
		for i, f := range s.fs {
			dist.Axpby(1, s.z, 1, s.c[i]) // u, in the place of c
			if err := f.Prox(ctx, s.z, tau, s.c[i]); err != nil {
				return fmt.Errorf("function %d: %w", i, err)
			}
			dist.Axpby(-1, s.z, 1, s.c[i])
		}
		dist.Sub(s.old, s.z, s.old)
		change, size := dist.AddNorm2(s.red, s.old), dist.AddNorm2(s.red, s.z)
		if err := s.red.Do(ctx); err != nil {
			return err
		}
		if v := change.Float(); math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("the change of z is %g: %w", v, solve.ErrNotFinite)
		}
		if change.Float() <= s.RelTol*s.RelTol*size.Float() {
			break
		}
	}
	dist.Copy(y, s.z)
	return nil
}

func (s *sum[T]) gradient(ctx context.Context, g, x dist.Array[T]) error {
	dist.Zero(s.z)
	for i, f := range s.fs {
		if err := f.(solve.Smooth[T]).Gradient(ctx, s.old, x); err != nil {
			return fmt.Errorf("function %d: %w", i, err)
		}
		dist.Axpby(1, s.old, 1, s.z)
	}
	dist.Copy(g, s.z)
	return nil
}
