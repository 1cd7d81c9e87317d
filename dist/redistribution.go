package dist

import (
	"context"
	"fmt"

	"github.com/golops/golops/scalar"
	"github.com/golops/golops/trace"
)

// Redistribution takes arrays from one layout to another of the same shape and
// back. Each element goes straight from the rank that has it to the ranks that
// want it. Buffers are made once, so further calls allocate nothing.
type Redistribution[T scalar.Scalar] struct {
	from, to    *Space
	there, back []*Exchange[T] // of each leaf
}

// NewRedistribution plans the way between two spaces on the same ranks. It does not
// communicate: all ranks must call it with the same spaces.
func NewRedistribution[T scalar.Scalar](from, to *Space) (*Redistribution[T], error) {
	given("NewRedistribution", from)
	given("NewRedistribution", to)
	m, err := newRedistribution[T](from, to, true)
	if err != nil {
		return nil, fmt.Errorf("dist: redistribution: %w", err)
	}
	return m, nil
}

func newRedistribution[T scalar.Scalar](from, to *Space, back bool) (*Redistribution[T], error) {
	m := &Redistribution[T]{from: from, to: to}
	if why, bridged := from.Difference(to); !bridged {
		return nil, fmt.Errorf("%s: one array is of %v, the other of %v: only the layout can change", why, from, to)
	}
	for i, leaf := range from.leaves {
		other := to.leaves[i]
		e, err := NewExchange[T](NewPlan(leaf, labelMove).boxes(other.Box, other.local))
		m.there = append(m.there, e)
		if err == nil && back {
			e, err = NewExchange[T](NewPlan(other, labelBack).boxes(leaf.Box, leaf.local))
			m.back = append(m.back, e)
		}
		if err != nil {
			m.Free()
			return nil, err
		}
	}
	return m, nil
}

// sameCopy reports whether two ranks hold parts of the same copy of the array.
func (s *Space) sameCopy(q, r int) bool {
	_, a := s.blockAndCopy(q)
	_, b := s.blockAndCopy(r)
	return a == b
}

// Forward sets dst, of the second space, to the elements of src, of the first.
// It is collective.
func (m *Redistribution[T]) Forward(ctx context.Context, dst, src Array[T]) error {
	if err := Check("dist: redistribution", "forward", &dst, m.to, &src, m.from); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, "dist: redistribution", "forward").End()
	for i, e := range m.there {
		if err := e.run(ctx, *dst.block(i), *src.block(i)); err != nil {
			return err
		}
	}
	return nil
}

// Adjoint is the way back, which is also the inverse. It is collective.
func (m *Redistribution[T]) Adjoint(ctx context.Context, dst, src Array[T]) error {
	if err := Check("dist: redistribution", "adjoint", &dst, m.from, &src, m.to); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, "dist: redistribution", "adjoint").End()
	for i, e := range m.back {
		if err := e.run(ctx, *dst.block(i), *src.block(i)); err != nil {
			return err
		}
	}
	return nil
}

// Free gives the buffers back to the device. m cannot be used afterwards.
func (m *Redistribution[T]) Free() {
	if m == nil {
		return
	}
	for _, e := range m.there {
		e.Free()
	}
	for _, e := range m.back {
		e.Free()
	}
}

// Domain returns the first space, Range the second.
func (m *Redistribution[T]) Domain() *Space { return m.from }

// Range returns the second space.
func (m *Redistribution[T]) Range() *Space { return m.to }

// Redistribute returns the elements of a in another space of the same shape on
// the same ranks: other axis, grid or counts. It is collective: one message to
// agree and one for each pair of ranks that share elements. NewRedistribution is
// for repeated use.
func Redistribute[T scalar.Scalar](ctx context.Context, a Array[T], to *Space) (Array[T], error) {
	given("Redistribute", to)
	m, err := newRedistribution[T](a.given("Redistribute"), to, false)
	var b Array[T]
	if err == nil {
		b, err = New[T](to)
	}
	defer m.Free()
	if err = Agree(ctx, a.space.Comm(), "dist: redistribute", err, a.space.describe(), " to ", to.describe()); err == nil {
		err = m.Forward(ctx, b, a)
	}
	return b.orFree(err)
}
