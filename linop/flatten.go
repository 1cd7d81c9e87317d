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
	to, err := s.Like(dist.Layout{}, s.Size())
	return &flatten[E]{Spaces{s, to}}, err
}

func (f *flatten[E]) Forward(_ context.Context, dst, src dist.Array[E]) error {
	if err := dist.Check("linop: flatten", "forward", &dst, f.Rng, &src, f.Dom); err != nil {
		return err
	}
	copyLine(dst, src, true)
	return nil
}

func (f *flatten[E]) Adjoint(_ context.Context, dst, src dist.Array[E]) error {
	if err := dist.Check("linop: flatten", "adjoint", &dst, f.Dom, &src, f.Rng); err != nil {
		return err
	}
	copyLine(src, dst, false)
	return nil
}

// copyLine copies between a stack and an array of one axis.
func copyLine[E scalar.Scalar](line, stack dist.Array[E], fromStack bool) {
	at := 0
	for i := range stack.NumLeaves() {
		b := stack.Leaf(i).Local()
		run := line.Local().Slice(at, at+b.Len())
		if at += b.Len(); fromStack {
			array.Copy(run, b)
		} else {
			array.Copy(b, run)
		}
	}
}
