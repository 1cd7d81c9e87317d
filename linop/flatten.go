package linop

import (
	"context"

	"github.com/golops/golops/array"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// flat returns a with stacked spaces turned into spaces of one axis.
func flat[E scalar.Scalar](a Operator[E]) (Operator[E], error) {
	if a.Domain().Parts() != nil {
		f, err := newFlatten[E](a.Domain())
		if err != nil {
			return nil, err
		}
		if a, err = newProduct(a, H[E, E](f)); err != nil {
			return nil, err
		}
	}
	if a.Range().Parts() != nil {
		f, err := newFlatten[E](a.Range())
		if err != nil {
			return nil, err
		}
		return newProduct[E, E, E](f, a)
	}
	return a, nil
}

// flatten copies the parts of a stack, which one rank holds alone, one after
// another into a space of one axis.
type flatten[E scalar.Scalar] struct{ Spaces }

func newFlatten[E scalar.Scalar](s *dist.Space) (*flatten[E], error) {
	leaf := s
	for leaf.Parts() != nil {
		leaf = leaf.Parts()[0]
	}
	to, err := leaf.Like(dist.Layout{}, s.Size())
	return &flatten[E]{Spaces{s, to}}, err
}

func (f *flatten[E]) Forward(_ context.Context, dst, src dist.Array[E]) error {
	if err := dist.Check("linop: flatten", "forward", &dst, f.Rng, &src, f.Dom); err != nil {
		return err
	}
	copyLine(dst, src, 0, true)
	return nil
}

func (f *flatten[E]) Adjoint(_ context.Context, dst, src dist.Array[E]) error {
	if err := dist.Check("linop: flatten", "adjoint", &dst, f.Dom, &src, f.Rng); err != nil {
		return err
	}
	copyLine(src, dst, 0, false)
	return nil
}

// copyLine copies between line, from element at on, and a stack. It returns the
// element of line after the last one.
func copyLine[E scalar.Scalar](line, stack dist.Array[E], at int, fromStack bool) int {
	for i := range stack.NumParts() {
		at = copyLine(line, stack.Part(i), at, fromStack)
	}
	if stack.NumParts() > 0 {
		return at
	}
	b := stack.Local()
	run := line.Local().Slice(at, at+b.Len())
	if fromStack {
		array.Copy(run, b)
	} else {
		array.Copy(b, run)
	}
	return at + b.Len()
}
