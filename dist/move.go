package dist

import (
	"context"
	"fmt"

	"github.com/golops/golops/scalar"
)

// Move takes arrays from one layout to another of the same shape and back. Each
// element goes straight from the rank that has it to the ranks that want it;
// buffers are made once, so moving again allocates nothing.
type Move[T scalar.Scalar] struct {
	from, to    *Space
	there, back *exchange[T]
	parts       []*Move[T]
}

// NewMove plans the way between two spaces on the same ranks. It does not
// communicate: all ranks must call it with the same spaces.
func NewMove[T scalar.Scalar](from, to *Space) (*Move[T], error) {
	m := &Move[T]{from: from, to: to}
	if len(from.parts) != len(to.parts) {
		return nil, fmt.Errorf("dist: move %v to %v: stacks of %d and %d parts", from, to, len(from.parts), len(to.parts))
	}
	for i := range from.parts {
		p, err := NewMove[T](from.parts[i], to.parts[i])
		if err != nil {
			return nil, err
		}
		m.parts = append(m.parts, p)
	}
	if m.parts != nil {
		return m, nil
	}
	if from.Comm() != to.Comm() || from.Device() != to.Device() {
		return nil, fmt.Errorf("dist: move %v to %v: they are on different ranks or devices", from, to)
	}
	if from.shape != to.shape {
		return nil, fmt.Errorf("dist: move shape %v to shape %v: only the layout can change", from.shape, to.shape)
	}
	var err error
	if m.there, err = oneWay[T](from, to); err == nil {
		m.back, err = oneWay[T](to, from)
	}
	if err != nil {
		return nil, fmt.Errorf("dist: move %v to %v: %w", from, to, err)
	}
	return m, nil
}

func oneWay[T scalar.Scalar](from, to *Space) (*exchange[T], error) {
	p := boxes{
		rank: from.shape.Rank(),
		has: func(r int) (Box, bool) {
			return from.Box(r), from.isPrimary(r)
		},
		want:   to.Box,
		same:   !from.split,
		device: from.Device(),
		me:     from.rank.Rank(), all: from.rank.Size(),
	}
	p.hasB[0], p.hasB[1] = from.local, to.local
	p.hasLo[0], p.hasLo[1] = from.box.Lo, to.box.Lo
	return newExchange[T](from.Comm(), p)
}

// isPrimary reports whether the block of rank r counts in reductions.
func (s *Space) isPrimary(r int) bool {
	for g, c := range s.Coords(r) {
		if s.layout.Axes[g] == Whole && c != 0 {
			return false
		}
	}
	return true
}

// Forward sets dst, of the second space, to the elements of src, of the first.
func (m *Move[T]) Forward(ctx context.Context, dst, src Array[T]) error {
	for i, p := range m.parts {
		if err := p.Forward(ctx, dst.parts[i], src.parts[i]); err != nil {
			return err
		}
	}
	if m.parts != nil {
		return nil
	}
	return m.there.run(ctx, dst.local, src.local)
}

// Adjoint is the way back, which is also the inverse.
func (m *Move[T]) Adjoint(ctx context.Context, dst, src Array[T]) error {
	for i, p := range m.parts {
		if err := p.Adjoint(ctx, dst.parts[i], src.parts[i]); err != nil {
			return err
		}
	}
	if m.parts != nil {
		return nil
	}
	return m.back.run(ctx, dst.local, src.local)
}

// Domain returns the first space, Range the second.
func (m *Move[T]) Domain() *Space { return m.from }

// Range returns the second space.
func (m *Move[T]) Range() *Space { return m.to }

// Redistribute returns the elements of a in another space of the same shape on
// the same ranks: other axis, grid or counts. It is collective. NewMove does
// the same repeatedly.
func Redistribute[T scalar.Scalar](ctx context.Context, a Array[T], to *Space) (Array[T], error) {
	m, err := NewMove[T](a.space, to)
	var b Array[T]
	if err == nil {
		b, err = New[T](to)
	}
	if err = Agree(ctx, a.space.Comm(), "dist: redistribute", err); err != nil {
		return Array[T]{}, err
	}
	return b, m.Forward(ctx, b, a)
}
